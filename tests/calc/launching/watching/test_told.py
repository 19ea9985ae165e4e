"""What the page of a deployment tells a reader of what is watched, predicted and assumed."""

import json
from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _launch import ALONE, OVER_NODES, expected, pool

from calc.launching import deployment
from calc.launching.bench import Bench
from calc.launching.deployment import _assumed, _node, _predicted, _summary, readme
from calc.launching.lengths import Longest
from calc.launching.settings import Setting, Variable
from calc.launching.watching.alerts import Alert
from calc.launching.watching.monitoring import Watched
from calc.launching.watching.signals import Quantile, Rate

FEW = Alert("Few", Rate("serve", "done"), False, 330.0, "warning", "", "a|b")
LATE = Alert("TimeToFirstTokenLate", Quantile("serve", "ttft", 0.75), True, 2.0, "critical",
             "Late.", "the limit", windows=("1h", "5m"))
ROWS = {"first": "| time to first token | 500 ms (80%: 250–2,000 ms) |",
        "prompts": "| prompts | 1.75 request/s (80%: 1.25–2.25 request/s) |",
        "pace": "| time per output token | 31.3 ms (80%: 25–50 ms) |",
        "rate": "| output throughput | 700 token/s (80%: 500–900 token/s) |",
        "cache": "| share of the KV cache | 0.3 (80%: 0.2–0.6) |"}


@pytest.mark.parametrize(("name", "told"), [
    ("serve", ["first", "pace", "rate", "cache"]), ("prefill", ["first", "prompts", "cache"]),
    ("decode", ["pace", "rate", "cache"])])
def test_of_a_pool_what_it_does_itself_is_told(name, told):
    found = _predicted(Watched(pool(name=name), expected(), (FEW, LATE)))
    assert found == [
        f"`{name}`, a steady state with 40 requests in flight:", "", "| quantity | predicted |",
        "|---|---|", *(ROWS[row] for row in told), "", "| alert | fires | because |",
        "|---|---|---|", "| Few | below 330 | a\\|b |",
        "| TimeToFirstTokenLate | above 2 | the limit |", ""]


def test_a_burst_a_cache_of_which_nothing_is_known_and_a_promise_that_breaks_are_told():
    found = _predicted(Watched(pool(), expected(burst=True, occupied=None), (LATE,),
                               {"ttft": np.array([3.0])}))
    assert found[0] == "`serve`, a burst with 40 requests in flight:"
    assert ROWS["cache"] not in found
    assert found[-2:] == ["\nNot kept by the prediction: Late. Predicted: 3 s of 75% of the "
                          "requests, simulated.", ""]


def full(name="serve", layout=ALONE, drafts=0.0):
    """A pool of which a page can be written."""
    of = pool(name=name, layout=layout)
    scenario = Made(**vars(of.scenario) | {
        "devices": 16, "heading": {"en": "Mine #1"}, "model": Made(name={"en": "M_1"}),
        "device": Made(name={"en": "Card*"}), "inputs": lambda: {
            "input_tokens": 3000.4, "output_tokens": 400.0, "concurrency": 1200.0,
            "prefix_hit_share": 0.25, "draft_tokens": drafts}})
    flags, around = (Setting("--a", [1, 2], "one"),), (Setting("B", Variable("HOST", ":8"), "two"),)
    return replace(of, scenario=scenario, longest=Longest(163840, "so", 0.0125),
                   flags=(flags, ()), variables=(around, ()))


ASSUMED = [
    "- `{}`: prompts of 3,000 and answers of 400 tokens on average; at most 1,200 requests in "
    "flight.", "- `{}`: a request has at most 163,840 tokens (so); 1.25% are longer and refused.",
    "- `{}`: the prefix cache finds 25% of a prompt; more is faster."]
APART = ("- `{}`: 2 servers that share nothing: the scenario's experts are cut within a replica, "
         "and an engine cuts them over all replicas of one server.")
DRAFTED = ("- `{}`: 2 tokens drafted per step. The bench sends random tokens, and predicts what "
           "is accepted of those.")
QUIET = "- `{}`: nothing is said of how full its cache is."


def test_what_is_assumed_of_each_pool_is_told():
    unknown = expected(occupied=None)
    assert _assumed([Watched(full(drafts=2.0), expected(), ())]) == [
        line.format("serve") for line in (*ASSUMED, DRAFTED, APART)]
    assert _assumed([Watched(full(name, OVER_NODES), unknown, ())
                     for name in ("prefill", "decode")]) == [
        *(line.format(name) for name in ("prefill", "decode") for line in ASSUMED),
        *(QUIET.format(name) for name in ("decode", "prefill"))]


def test_a_node_is_told_with_its_servers_and_their_ports():
    assert [_node(full(layout=OVER_NODES), node) for node in (0, 1)] == [
        "| a | `nodes/serve-0.sh` | server 0, rank 0, port 8000 |",
        "| b | `nodes/serve-1.sh` | server 0, rank 1, port 8000 |"]
    assert _node(full(), 1) == "| b | `nodes/serve-1.sh` | server 1, port 8003 |"


@pytest.mark.parametrize("routed", [False, True])
def test_the_page_has_the_cards_of_all_pools_their_nodes_and_the_runs(routed):
    of = [Watched(full(name), expected(), ()) for name in ("prefill", "decode")]
    runs = [Bench("one", "a|b", 1234, 3000, 400, 16)]
    text = readme(of, runs, routed)
    lines = text.splitlines()
    assert lines[0] == "# Mine \\#1"
    assert lines[2].startswith("M\\_1 on 32 × Card\\*, vllm@0.33.0. Written by ")
    nodes = [line for line in lines if line.startswith(("| a |", "| b |"))]
    assert nodes == [_node(each.pool, node) for each in of for node in (0, 1)]
    assert ("3. Run `router/router.sh`; requests go to its port 8080." in lines) == routed
    assert text.count("router/router.sh") == 2 * routed
    assert text.endswith("\n| one | 1,234 | 3,000 | 400 | a\\|b |\n")
    assert [line for line in lines if line.startswith("## ")] == [
        "## Start", "## What is where", "## What is predicted, with 80% intervals",
        "## What is assumed", "## What to measure"]
    for each in of:
        assert "\n".join(_predicted(each)) in text
    assert "\n".join(_assumed(of)) in text


def test_pools_on_cards_of_two_kinds_are_told_apart():
    first, second = full("prefill"), full("decode")
    vars(second.scenario).update(device=Made(name={"en": "Other"}), devices=8)
    lines = readme([Watched(each, expected(), ()) for each in (first, second, first)], [],
                   False).splitlines()
    assert lines[2].startswith("M\\_1 on 32 × Card\\* and 8 × Other, vllm@0.33.0. ")


def test_programs_read_settings_with_their_reasons_variables_first():
    of = Watched(full(), expected(), (FEW,))
    found = _summary([of], {"engine": "x"}, {"serve": Made(fits=False)})
    assert found == {"engine": "x", "pools": {"serve": {
        "nodes": ["a", "b"], "servers": ["a:8000", "b:8003"], "fits": False,
        "settings": [{"name": "B", "value": "$HOST:8", "why": "two"},
                     {"name": "--a", "value": [1, 2], "why": "one"}],
        "predicted": expected().as_json(),
        "alerts": {"Few": {"above": False, "threshold": 330.0, "because": "a|b"}}}}}
    assert json.loads(json.dumps(found)) == found


def test_the_example_of_a_release_is_the_newest_that_is_no_candidate():
    assert deployment._example("vllm") == "vllm@0.33.0"
    assert deployment._example("vllm-ascend") == "vllm-ascend@0.23.0.post1"
    assert deployment._example("sglang") == "sglang@0.5.23"
