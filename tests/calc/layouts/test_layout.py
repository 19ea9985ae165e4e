"""Layouts: their enumeration, and a deployment with its settings and its file."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import product

import pytest

import catalogue
from calc.layouts.layout import (
    LAYOUT_AXES,
    MOST_STAGES,
    Choice,
    Row,
    Sizes,
    card_counts,
    changed,
    contents,
    enumerate_layouts,
    iter_rows,
    of_pool,
    placement,
    scenario,
    set_line,
    text,
)
from calc.searching.goal import load_goal


def plain_loops(counts, contexts, spares):
    """Every layout whose sizes multiply to the cards, one after the other."""
    return [(devices, tp, pp, dp, ep, 0, each, context) for devices in counts
            for tp, pp, dp in product(range(1, devices + 1), repeat=3)
            if tp * pp * dp == devices and pp <= MOST_STAGES
            for ep in range(1, tp * dp + 1) if tp * dp % ep == 0 for each in spares(ep)
            for context in (contexts or range(1, tp + 1)) if tp % context == 0]


@pytest.mark.parametrize("contexts", [None, (1,), (1, 2)])
def test_layouts_are_complete_and_unique(contexts):
    def spares(ep):
        return (0, 3 * ep)

    rows, left = enumerate_layouts((6, 8, 16), Sizes(spares=spares, context=contexts))
    found = list(zip(*(rows[name].tolist() for name in LAYOUT_AXES), strict=True))
    assert sorted(found) == sorted(plain_loops((6, 8, 16), contexts, spares))
    assert len(set(found)) == len(found)
    assert left == 1 + 1 + 5  # with more than four stages: of 6, 8 and 16 cards


def test_listed_sizes_are_tried_where_they_divide():
    rows, _ = enumerate_layouts((12,), Sizes(tensor=(2, 5, 6), pipeline=(1, 3), data=(2, 6),
                                             expert=(4, 12), slices=(0, 2)))
    sizes = [(2, 1, 6, 4), (2, 1, 6, 12), (2, 3, 2, 4), (6, 1, 2, 4), (6, 1, 2, 12)]
    assert [tuple(row.values()) for row in iter_rows(rows)] == [
        (12, *size, slices, 0, 1) for size in sizes for slices in (0, 2)]


@pytest.mark.parametrize(("fewest", "most", "per_node", "tried"), [
    (1, 24, 8, [1, 2, 4, 8, 16, 24]), (2, 23, 8, [2, 4, 8, 16]), (4, 4, 8, [4]), (9, 15, 8, []),
    (1, 5, 1, [1, 2, 3, 4, 5]), (3, 12, 6, [3, 6, 12]), (16, 16, 16, [16])])
def test_card_counts_are_parts_of_a_server_then_whole_servers(fewest, most, per_node, tried):
    assert card_counts(fewest, most, per_node) == tried


@pytest.mark.parametrize(("node", "devices", "data", "expert", "slices", "expected"), [
    ("gb200-nvl72", 4, 1, 4, 0, (False, 0, False, False)),
    ("gb200-nvl72", 5, 2, 5, 0, (True, 1, True, True)),
    ("gb200-nvl72", 72, 1, 72, 2, (True, 1, False, True)),
    ("gb200-nvl72", 144, 2, 73, 0, (True, 2, True, True)),
    ("hgx-h200", 8, 1, 4, 2, (False, 0, False, True)),
    ("hgx-h200", 16, 4, 9, 1, (True, 2, True, True))])
def test_placement_on_servers_and_scale_up_domains(node, devices, data, expert, slices, expected):
    """Four cards to a server and 72 to a domain, or eight to both; attention is cut in four."""
    found = placement(catalogue.load_node(node), {
        "devices": devices, "data": data, "expert": expert, "tensor": 4, "slices": slices})
    assert found == expected


R1 = "h200-r1-vllm-tp8"
PLAIN = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
               1024)
LENGTHS = ["demand.input_tokens=3000 token", "demand.output_tokens=200 token"]
GOAL = load_goal("r1-80-users-h20", LENGTHS)
HAVE = catalogue.load_scenario(R1)


ALONE = {"workload.output_tokens": 1, "workload.context_tokens": 3001}


@pytest.mark.parametrize(("moved", "expected"), [
    ({}, {}), ({"pool": "prefill"}, ALONE),
    ({"pool": "decode"}, {"mechanisms.separate_pools": 1, "workload.stream_interval": 1}),
    ({"pool": "prefill", "expert": 16}, ALONE | {"mechanisms.exchange_normal": 1}),
    ({"pool": "prefill", "expert": 16, "slices": 1}, ALONE | {"mechanisms.exchange_normal": 1}),
    ({"pool": "prefill", "expert": 16, "slices": 2}, ALONE)])
def test_of_pool(moved, expected):
    """Only whole experts on more ranks than attention uses take the high-throughput exchange."""
    assert of_pool(replace(PLAIN, **moved), 3000) == expected


@pytest.mark.parametrize("moved", [
    {"micro_batches": 2, "drafts": 1, "expert": 16}, {"devices": 8, "tensor": 4, "chunk": 1024},
    {"pipeline": 2, "data": 1, "utilization": 85, "context": 2},
    {"spares": 8, "expert": 12, "devices": 12, "tensor": 4, "data": 3}, {"slices": 2}])
def test_written_file_loads_as_the_choice(tmp_path, moved):
    choice = replace(PLAIN, **moved)
    (tmp_path / "choice.yml").write_text(text(GOAL, choice), encoding="utf-8")
    loaded = catalogue.load_scenario(tmp_path / "choice.yml")
    inputs = loaded.inputs()
    assert inputs == scenario(GOAL, choice).inputs()
    assert (inputs["redundant_experts"], inputs["memory_utilization"], inputs["concurrency"]) == (
        choice.spares, choice.utilization / 100, 1024)
    assert (inputs["input_tokens"], inputs["output_tokens"], inputs["block_size"]) == (
        3000, 200, 64)


@pytest.mark.parametrize(("settings", "moved", "part", "expected"), [
    ("", {"device": "ascend-910b2"}, "workload.block_size", 128),
    ("space.block_size=32", {}, "workload.block_size", 32),
    ("", {"engine": "vllm@0.33.0"}, "workload.block_size", None),
    ("demand.prefix_hit_share=0.5", {}, "mechanisms", {"prefix_hit_share": 0.5}),
    ("limits.ttft=null limits.tpot=50ms", {}, "limits", {"tpot": {"mean": "0.05 s"}}),
    ("", {}, "workload.arrivals", "closed-loop"),
    ("demand.think_time=5s", {}, "workload.think_time", "5.0 s"),
    ("demand.arrivals=burst", {}, "workload.arrivals", "burst"),
    ("demand.users=null demand.arrival_rate=2request/s", {}, "workload.arrivals", "poisson"),
    ("demand.users=null demand.arrival_rate=2request/s", {}, "workload.arrival_rate",
     "2.0 request/s")])
def test_contents_of_a_file(settings, moved, part, expected):
    goal = load_goal("r1-80-users-h20", [*LENGTHS, *settings.split()])
    file, (root, _, key) = contents(goal, replace(PLAIN, **moved)), part.partition(".")
    assert (file[root].get(key) if key else file.get(root)) == expected


@pytest.mark.parametrize(("moved", "extras"), [
    ({}, 0), ({"micro_batches": 2}, 1), ({"slices": 2}, 1), ({"slices": 1}, 0),
    ({"pipeline": 2}, 2),
    ({"drafts": 3, "spares": 1}, 2), ({"context": 2}, 2), ({"expert": 2}, 1), ({"expert": 1}, 0),
    ({"tensor": 4, "data": 4, "expert": 16}, 1), ({"tensor": 1, "data": 16, "expert": 16}, 0)])
def test_extras_count_mechanisms_of_all_pools(moved, extras):
    row = Row(replace(PLAIN, **moved), {})
    assert (row.extras, Row(PLAIN, {}, prefill=row.choice).extras) == (extras, extras + 2)


def test_changed_settings_keep_their_source_and_equal_overrides():
    settings = {"parallelism.tensor_parallel": 4, "parallelism.data_parallel": "2",
                "workload.max_num_batched_tokens": 512, "precision": "bf16",
                "parallelism.balancing": "periodic", "cluster.devices": 8}
    moved, before = changed(HAVE, settings), HAVE.file.parallelism.tensor_parallel
    size = moved.file.parallelism.tensor_parallel
    assert (size.value, size.low, size.high, size.written) == (4, 4, 4, "4")
    assert (size.note, size.others, size.source) == (None, (), before.source)
    assert moved.inputs() == catalogue.load_scenario(R1, overrides=[
        f"{key}={value}" for key, value in settings.items()]).inputs()
    assert (before.value, changed(HAVE, {})) == (8, HAVE)
    assert changed(HAVE, {"mechanisms.kernel_boundary": 0}).inputs()["kernel_boundary"] == 0
    line = set_line({"a.b": 3, "device": "my card; x.yml"})
    assert shlex.split(line) == ["--set", "a.b=3", "--set", "device=my card; x.yml"]
