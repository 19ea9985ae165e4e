"""What a query asks: the data of symptoms, and what the browser makes of a query with it."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from py_mini_racer import MiniRacer

from _ext.finding import symptoms
from _ext.finding.documents import Document
from catalogue.reading import shared

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "book" / "assets" / "finding" / "asking.js"
LABEL = re.compile(r"^\(([a-z0-9-]+)\)=\s*\n#", re.MULTILINE)
LANGUAGES = ("en", "zh")


def plain(path: Path) -> Any:
    """Return what a file says."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)


SAID = shared.symptoms()
DEVICES = {path.stem: plain(path) for path in sorted((ROOT / "params" / "devices").glob("*.yml"))}


def labels() -> set[str]:
    """The pages and sections that there are, by the sources of the book."""
    sources = [*(ROOT / "notebooks").glob("*.md"), *(ROOT / "book").glob("*.md")]
    found = {label for path in sources for label in LABEL.findall(path.read_text(encoding="utf-8"))}
    found |= {path.stem for path in sources}  # a page is also called by its file
    return found | {path.stem for folder in ("scenarios", "devices", "models", "documents")
                    for path in (ROOT / "params" / folder).glob("*.yml")}


def variants() -> list[tuple[str, list[str | int]]]:
    """Every variant as pieces, with the name of its symptom."""
    same = symptoms.synonyms(SAID["same"].values())
    return [(name, symptoms.pieces(variant, same, SAID["ignored"]["filler"]))
            for name, symptom in SAID["symptoms"].items()
            for lang in LANGUAGES for variant in symptom[lang]]


def test_what_answers_is_there() -> None:
    there = {*labels(), symptoms.CARD}
    assert {name: missing for name, symptom in SAID["symptoms"].items()
            if (missing := set(symptom["at"]) - there)} == {}


def test_no_variant_stands_for_two_symptoms() -> None:
    owners: dict[tuple[str, ...], set[str]] = {}
    for name, pieces in variants():
        owners.setdefault(tuple(sorted(map(str, pieces))), set()).add(name)
    assert {words: names for words, names in owners.items() if len(names) > 1} == {}


def test_no_variant_is_empty_or_a_common_word_alone() -> None:
    """A list of synonyms alone describes a symptom only where it is one."""
    alone = {name for name, pieces in variants() if len(pieces) < 2 and isinstance(pieces[0], int)}
    assert alone == {"out-of-memory", "preempted", "hang", "queueing", "exchange-slow",
                     "network-slow", "cards-needed", "spares", "ranks-wait", "conversation",
                     "gibberish", "repetition", "collective-timeout", "other-rank-lost",
                     "communicator-memory", "ranks-disagree", "throttled", "lossy-network"}


def test_no_word_means_two_things() -> None:
    for words in (SAID["same"].values(), SAID["ignored"].values()):
        seen = Counter(word.lower() for word in itertools.chain(*words))
        assert {word for word, times in seen.items() if times > 1} == set()


@pytest.mark.parametrize(("title", "names"), [
    ("NVIDIA GeForce RTX 4090 D", ["4090 D", "4090D", "4090"]), ("Intel Gaudi 3", ["Gaudi 3"]),
    ("NVIDIA H20 141 GB", ["H20 141 GB", "H20 141GB", "H20141GB", "H20"]),
    ("昇腾 910C（双 die 封装）", ["910C"]), ("Ascend 910B4-1", ["910B4-1"])])
def test_a_card_is_called_by_its_number(title: str, names: list[str]) -> None:
    assert symptoms.card_names(title) == names


@pytest.fixture(scope="module")
def asking() -> MiniRacer:
    """The script of the site, with an index that holds a document for every label."""
    devices = sorted(DEVICES)
    others = sorted({label for symptom in SAID["symptoms"].values() for label in symptom["at"]}
                    - {symptoms.CARD, *devices} | {symptoms.COMPARED})
    found = [Document("device", f"{name}.html", 1, DEVICES[name]["name"]["en"], "", [], "")
             for name in devices]
    found += [Document("chapter", f"{label}.html", 1, label, "", [], "") for label in others]
    engine = MiniRacer()
    engine.eval(SCRIPT.read_text(encoding="utf-8"))
    data = json.dumps(symptoms.of_index(found, SAID, DEVICES))
    engine.eval(f"const labels = {json.dumps([*devices, *others])};"
                f"const asking = bookAsking.make({data});")
    return engine


def asked(asking: MiniRacer, query: str) -> dict[str, Any]:
    """Ask; answers and cards as labels."""
    return json.loads(str(asking.eval(
        f"(found => JSON.stringify({{...found, answers: found.answers.map(at => labels[at]),"
        f"named: found.named.map(at => labels[at])}}))(asking.of({json.dumps(query)}))")))


@pytest.mark.parametrize(("query", "first"), [
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "run-memory"),
    ("npu out of memory 怎么办", "run-memory"), ("启动 OOM", "run-memory"),
    ("gpu_memory_utilization", "memory-choice"), ("专家负载不均衡", "experts"),
    ("吞吐上不去", "run-slow"), ("R1 on 8xH20", "matrix-r1"), ("五万 token", "s1-plan-c"),
    ("AWQ 和 W8A8 选哪个", "precision-decision"),
    ("which prometheus metric shows KV cache pressure", "engines-metrics")])
def test_a_symptom_leads_to_its_section(asking: MiniRacer, query: str, first: str) -> None:
    assert asked(asking, query)["answers"][0] == first


@pytest.mark.parametrize(("query", "first"), [
    ("910B 跑 R1 W8A8 启动报 HCCL timeout", "run-hang"),
    ("sglang deepseek v3 cuda graph capture OOM", "run-memory"),
    ("双机 h20 r1 起来后一发请求就 hang", "run-hang"),
    ("decode throughput drops when one expert rank is slow", "experts")])
def test_a_fault_that_is_named_counts_more_than_where_it_happens(asking: MiniRacer, query: str,
                                                                 first: str) -> None:
    assert asked(asking, query)["answers"][0] == first


@pytest.mark.parametrize(("query", "cards"), [
    ("910C vs H20", ["ascend-910c-die", "nvidia-h20"]), ("H20 141GB 对比 4090D", [
        "nvidia-h20-141gb", "nvidia-rtx-4090d"]),
    ("8xH200 or MI300X", ["nvidia-h200-sxm", "amd-mi300x"]), ("910B 和 H20 哪个好", [
        "ascend-910b1", "nvidia-h20"])])
def test_two_cards_stand_side_by_side_and_then_each(asking: MiniRacer, query: str,
                                                    cards: list[str]) -> None:
    found = asked(asking, query)
    assert found["several"]
    assert found["answers"][:3] == [symptoms.COMPARED, *cards]
    assert found["long"] or " " in query


@pytest.mark.parametrize("query", ["KV cache", "H20", "显存", "TPOT", "70,272", "plan C"])
def test_a_name_describes_no_symptom(asking: MiniRacer, query: str) -> None:
    assert asked(asking, query)["answers"] == []


@pytest.mark.parametrize(("query", "long", "meaning", "rest"), [
    ("what is MoE", True, True, "MoE"), ("为什么首 token 这么慢", True, False, "首 token 这么慢"),
    ("MoE", False, False, "MoE"), ("专家并行怎么选", True, False, "专家并行")])
def test_words_that_say_nothing_are_left_out(asking: MiniRacer, query: str, long: bool,
                                             meaning: bool, rest: str) -> None:
    found = asked(asking, query)
    assert (found["long"], found["meaning"], found["rest"].strip()) == (long, meaning, rest)
