"""A card of a maker of which nothing was measured, or that names no mechanisms: said, and wider."""

import json
from pathlib import Path

import pytest

import catalogue
from calc.evidence.classes import applied_error, discrepancy, own_errors, stand_ins
from catalogue import ROOT

PLAN = "h200-r1-vllm-tp8"


def own_card(tmp_path, **changes):
    """A reader's own file of a card."""
    text = (ROOT / "devices" / "nvidia-h100-sxm.yml").read_text("utf-8")
    for name, value in changes.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{name}:")]
        text = "\n".join([*lines, *([f"{name}: {value}"] if value else [])]) + "\n"
    path = Path(tmp_path) / "my-card.yml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("metric", ["tpot", "ttft", "output_throughput"])
@pytest.mark.parametrize("kind", ["concurrent/servers", "queued/servers", "queued/sparse"])
def test_a_maker_that_was_not_measured_gets_a_wider_interval_than_its_kind(kind, metric):
    classes = discrepancy().classes
    at, _, wide = applied_error(classes, f"{kind}/Nobody", metric)
    same = classes[kind][metric].down, classes[kind][metric].up
    assert at == kind
    assert all(other >= one for other, one in zip(wide, same, strict=True))
    assert max(wide) > max(same)


def test_a_kind_that_was_not_measured_under_a_load_is_as_much_wider_as_kinds_differ():
    classes = discrepancy().classes
    at, _, wide = applied_error(classes, "concurrent/sparse/NVIDIA", "tpot")
    assert at == "concurrent"
    assert max(wide) > max(classes[at]["tpot"].down, classes[at]["tpot"].up)


def test_experts_on_hosts_are_as_they_were():
    classes = discrepancy().classes
    own = classes["concurrent/hosts"]["tpot"]
    assert applied_error(classes, "concurrent/hosts/Nobody", "tpot")[2] == (own.down, own.up)


def test_a_shipped_card_that_was_measured_says_nothing():
    assert stand_ins(catalogue.load_scenario(PLAN)) is None


def test_a_card_without_mechanisms_says_whose_it_borrows(tmp_path, cli):
    card = own_card(tmp_path, mechanisms=None)
    scenario = catalogue.load_scenario(PLAN, overrides=[f"device={card}"])
    en, zh = stand_ins(scenario)
    assert "'nvidia-hopper'" in en
    assert "'nvidia-hopper'" in zh
    assert "measured" not in en
    code, out, _ = cli("estimate", PLAN, "--set", f"device={card}")
    assert code == 0
    assert en in " ".join(out.split())
    told = json.loads(cli("estimate", PLAN, "--set", f"device={card}", "--json")[1])
    assert told["stand_ins"] == en


def test_a_card_of_another_maker_says_so_and_is_wider(tmp_path):
    card = own_card(tmp_path, vendor="Somebody")
    scenario = catalogue.load_scenario(PLAN, overrides=[f"device={card}"])
    assert "Somebody" in stand_ins(scenario)[0]
    found = own_errors(scenario)["tpot"]
    assert found.of == "concurrent/servers"
    assert max(found.of_class) > discrepancy().classes[found.of]["tpot"].up
    assert found.distance >= 1


def test_a_search_says_it_of_what_it_tells(tmp_path, cli):
    card = own_card(tmp_path, mechanisms=None)
    keys = ("precisions=fp8-block", "space.tensor=16", "cards.fewest=16", "cards.most=16",
            "space.pipeline=1", "space.chunks=4096", "space.pools=one", "space.drafts=0",
            f"devices={card}")
    arguments = ["search", "r1-64-users-8xh20", *(word for key in keys for word in ("--set", key))]
    code, out, _ = cli(*arguments)
    assert code == 0
    assert "names no mechanisms" in out
    first = json.loads(cli(*arguments, "--json")[1])["front"][0][0]
    assert "names no mechanisms" in first["stand_ins"]


def test_drafts_of_a_model_without_a_layer_that_drafts_are_refused(cli):
    code, out, _ = cli("estimate", PLAN, "--set", "model=kimi-k2", "--set",
                       "workload.draft_tokens=1")
    assert "no layer that drafts is published with 'kimi-k2'" in " ".join(out.split()) + str(code)


def test_fp16_says_where_it_is_offered_that_it_overflows():
    from calc.launching.starting import search

    told = search("r1-64-users-8xh20", [
        "devices=nvidia-h200-sxm", "cards.fewest=16", "cards.most=16", "precisions=fp16",
        "space.pipeline=1", "space.chunks=4096", "space.pools=one", "space.drafts=0"]).as_json()
    runs, = told["front"][0][0]["runs"]
    assert "overflow FP16" in runs
    assert "sglang-quantization" in runs
