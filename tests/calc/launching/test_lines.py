"""Whole command lines and environments, flag by flag, on the first and the last node of a pool.

They stand in ``lines.yml``, read through beside what the engines' documentation says of each flag:
sizes, ranks and ports follow from the layout (rank times cards of a node, 256 requests on each of
72 ranks), the others from the deployment's own settings.
"""

from pathlib import Path

import pytest
import yaml
from _launch import CASES

from calc.launching.layout import Layout, Part, layout
from calc.launching.lengths import Longest
from calc.launching.scripts import pool_of
from calc.launching.settings import Variable, release_of
from calc.launching.vllm import ray
from catalogue import ParamsError, load_pools, load_scenario

LINES = yaml.safe_load(Path(__file__).with_name("lines.yml").read_text("utf-8"))


def written(case):
    """Role -> node -> its line, variables of the environment first."""
    name, overrides, engine = CASES[case]
    settings = [*overrides, *([f"engine={engine}"] if engine else [])]
    both = load_pools(name, overrides=settings)
    named = (dict(zip(("prefill", "decode"), both, strict=True)) if both
             else {"serve": load_scenario(name, overrides=settings)})
    lie = {role: layout(scenario) for role, scenario in named.items()}
    found = {}
    for role, scenario in named.items():
        pool = pool_of(role, scenario, release_of(*str(scenario.engine).split("@")),
                       [f"h{node}" for node in range(lie[role].nodes)],
                       Longest(4096, "of the test", 0.0), pools=lie if both else None)
        last = len(pool.flags) - 1
        found[role] = {"answers": ", ".join(pool.addresses)} | {at: " ".join([
            *(f"{each.name}={valued(each.value)}" for each in pool.variables[at]),
            *(word for each in pool.flags[at] for word in each.words)]) for at in {0, last}}
    return found


def valued(value):
    return f"${value.name}{value.after}" if isinstance(value, Variable) else value


@pytest.mark.parametrize("case", CASES)
def test_each_node_of_a_case_is_started_with_these_words(case):
    assert written(case) == LINES[case]


@pytest.mark.parametrize(("name", "why"), [
    ("h200-v32-sglang-dp8", "125 of each of 8 replicas"),
    ("h200-r1-sglang-tp8", "1000 requests, replicas: 1")])
def test_a_server_takes_the_requests_of_all_its_replicas(name, why):
    """Eight replicas that share experts are one server; both are asked a thousand at once."""
    scenario = load_scenario(name, overrides=["workload.concurrency=1000 request"])
    pool = pool_of("serve", scenario, release_of("sglang", "0.5.23"), ["h0"],
                   Longest(4096, "of the test", 0.0))
    (limit,) = (each for each in pool.flags[0] if each.name == "--max-running-requests")
    assert (limit.value, limit.why) == (1000, why)


def lies(tp, pp, joined=1, span=2):
    """A server over nodes of eight cards."""
    parts = tuple(Part(0, rank, rank, 0, 8, 8000) for rank in range(span))
    return Layout(tp, pp, joined, joined * tp, 1, 1, span, span, parts)


def test_only_a_replica_over_nodes_meets_in_ray_and_only_before_releases_span_nodes():
    """Replicas that each fill a node find each other without it."""
    old, new = release_of("vllm", "0.11.0"), release_of("vllm", "0.13.0")
    assert not ray(lies(8, 1, joined=2), old)
    assert not ray(lies(4, 2, joined=2), old)
    assert not ray(lies(8, 1, span=1), old)
    assert ray(lies(8, 2), old)
    assert ray(lies(9, 1), old)
    assert not ray(lies(8, 2), new)
    with pytest.raises(ParamsError, match="replicas of 16 cards that span nodes and share experts"):
        ray(lies(8, 2, joined=2, span=4), old)
