"""How an error grows between rows of one system, by hand, and where a deployment stands."""

from types import SimpleNamespace

import numpy as np
import pytest

from calc.evidence import error_growth, nearness
from calc.evidence.error_growth import Steps
from calc.evidence.nearness import Nearness
from calc.evidence.pooling import Residuals
from catalogue.entries.calibrations import Covered


def rows(system, requests, errors):
    return Residuals(system, "concurrent/servers/A", "tpot", np.array(errors, float),
                     np.zeros(len(errors)), np.array(requests, float))


def test_of_every_two_rows_the_one_with_more_requests_is_held_against_the_other():
    """2 → 8, 2 → 32 and 8 → 32 are two, four and two doublings; 2 and 2 are none."""
    found, = error_growth.steps([rows("s", [8, 2, 2, 32], [0.5, 0.1, 0.2, 1.0])])
    assert found.system == "s"
    assert found.doublings.tolist() == [2, 4, 2, 4, 2]
    assert found.change == pytest.approx([0.4, 0.9, 0.3, 0.8, 0.5])


def test_a_system_counts_once_however_many_pairs_it_has():
    one, other = (Steps("a", np.array([0.3, -0.2]), np.array([1.0, 2.0])),
                  Steps("b", np.array([0.1]), np.array([1.0])))
    many = Steps("b", np.full(40, 0.1), np.full(40, 1.0))
    (few_sides, few_level), (sides, level) = (error_growth.fit([one, each])
                                              for each in (other, many))
    assert (*sides, level) == pytest.approx((*few_sides, few_level), abs=2e-3)


@pytest.mark.parametrize(("change", "inside"), [
    (0.640, 1), (0.642, 0), (-1.6657, 1), (-1.6664, 0), (0.0, 1)])
def test_a_pair_lies_inside_by_its_own_doublings_and_side(change, inside):
    """Over four doublings √(0.3² + 4 × 0.2²) = 0.5 upwards and 1.3 downwards, 1.28155 times."""
    down = 0.5 * np.sqrt(1.3**2 - 0.3**2)
    some = Steps("s", np.array([change]), np.array([4.0]))
    assert error_growth._inside(some, ((down, 0.2), 0.3)) == inside


def test_a_share_is_that_of_all_pairs():
    some = Steps("s", np.array([9.0, 0.1, -0.1, 0.0]), np.ones(4))
    assert error_growth._inside(some, ((0.1, 0.1), 0.1)) == 0.75


def test_two_systems_tell_no_growth_and_three_do():
    three = [rows("a", [1, 2, 4], [0, 0.1, 0.3]), rows("b", [1, 4], [0, 0.2]),
             rows("c", [1, 2], [0, -0.1])]
    still = rows("d", [3, 3], [0, 9.0])
    assert error_growth.grown({"tpot": [*three[:2], still], "ttft": []}) == {}
    found = error_growth.grown({"tpot": [*three, still]})["tpot"]
    assert (found.systems, found.pairs) == (3, 5)
    every = error_growth.steps(three)
    (down, up), _ = error_growth.fit(every)
    assert (found.down, found.up) == (round(down, 4), round(up, 4))
    (down, up), _ = error_growth.fit(every[1:])
    assert found.without["a"] == (round(down, 4), round(up, 4))
    others = [[one for one in every if one is not each] for each in every]
    assert found.inside == round(np.mean([error_growth._inside(each, error_growth.fit(rest))
                                          for each, rest in zip(every, others, strict=True)]), 4)


def test_growth_is_told_by_load_and_quantity(monkeypatch):
    made = [rows(name, [1, 2, 4], [0, 0.1, 0.3]) for name in "abc"]
    queued = [Residuals(each.system, "queued/servers/A", "ttft", each.error, each.explained,
                        each.requests) for each in made]
    monkeypatch.setattr(error_growth.pooling, "residuals", lambda systems: [*made, *queued])
    monkeypatch.setattr(error_growth.pooling, "estimate", lambda *given: given)
    monkeypatch.setattr(error_growth, "coverage", lambda systems: {"covered": systems})
    systems, borrowed, growth, measured = error_growth.estimate(iter("abc"), 7.0)
    assert (systems, borrowed, measured) == (["a", "b", "c"], 7.0, {"covered": ["a", "b", "c"]})
    assert {load: list(of) for load, of in growth.items()} == {
        "concurrent": ["tpot"], "queued": ["ttft"]}


# --- where a deployment stands ------------------------------------------------------------------


def deployed(separate=0):
    return SimpleNamespace(
        devices=16, precision=SimpleNamespace(id="fp8"), device=SimpleNamespace(id="card"),
        inputs=lambda: {"concurrency": 48.0, "tensor_parallel": 8.0, "pipeline_parallel": 2.0,
                        "expert_parallel": 4.0, "draft_tokens": 3.0, "separate_pools": separate})


AT = {"requests": 3.0, "tensor": 8, "pipeline": 2, "expert": 4, "drafts": 3, "pools": 1,
      "precision": "fp8", "device": "card"}


def test_a_deployment_stands_where_its_ranks_and_its_requests_on_a_card_are():
    assert nearness.place(deployed()) == AT
    assert nearness.place(deployed(1), 8) == AT | {"requests": 0.5, "pools": 2}


def test_rows_cover_the_fewest_and_the_most_requests_on_a_card():
    found = nearness.covered(deployed(1), "servers/A", (1.0, 100.0))
    assert found.requests == (0.0625, 6.25)
    assert nearness.covered(deployed(), "servers/A", (1 / 3, 1.0)).requests == (0.0208, 0.0625)
    assert (found.of, found.device, found.precision, found.pools) == ("servers/A", "card", "fp8", 2)
    assert (found.tensor, found.pipeline, found.expert, found.drafts) == (8, 2, 4, 3)


def covers(of="servers/A/x", requests=(1.0, 4.0), **changes):
    return Covered(**{"of": of, "device": "card", "precision": "fp8", "requests": requests,
                      "tensor": 8, "pipeline": 1, "expert": 1, "drafts": 0, "pools": 1} | changes)


def test_each_axis_counts_the_doublings_beyond_what_all_of_a_class_cover():
    """6 of 1 to 4 is log₂ 1.5; 2 ranks of 8 to 16 are two; 3 drafts check 4 tokens, twice 2."""
    measured = {"one": covers(), "two": covers(tensor=16, drafts=1, precision="bf16"),
                "other": covers("servers/B/x", device="else")}
    at = AT | {"requests": 6.0, "tensor": 2, "pipeline": 1, "expert": 1, "device": "else"}
    found = nearness.nearness(at, "servers/A/x", ["servers/A/x", "servers/A", "all"], measured)
    beyond = {axis.name: axis.beyond for axis in found.axes}
    assert beyond == pytest.approx({
        "requests": np.log2(1.5), "tensor": 2, "pipeline": 0, "expert": 0, "drafts": 1,
        "precision": 0, "device": 1, "pools": 0})
    assert found.distance == pytest.approx(np.log2(1.5) + 4)
    assert [axis.name for axis in found.outside] == ["requests", "tensor", "drafts", "device"]
    assert next(axis.covered for axis in found.axes if axis.name == "precision") == ("bf16", "fp8")
    # of the first: also 2 of 8 ranks, 4 of 1 checked, another card
    assert (found.of, found.nearest) == ("servers/A/x", "one")
    assert found.between == pytest.approx(np.log2(1.5) + 2 + 2 + 1)


def test_many_loads_at_once_are_each_told_and_below_what_was_measured_too():
    at = AT | {"requests": np.array([0.25, 1.0, 2.0, 4.0, 8.0]), "pipeline": 1, "expert": 1,
               "drafts": 0}
    found = nearness.nearness(at, "servers/A/x", ["servers/A/x"], {"b": covers(), "a": covers()})
    assert found.distance.tolist() == [2, 0, 0, 0, 1]
    assert (found.nearest, found.between) == ("a", 0.6)  # of equal ones the first by name


@pytest.mark.parametrize(("steps", "of", "names"), [
    (["servers/A/x", "servers/A", "servers"], "servers/A/x", {"ax"}),
    (["servers/A/z", "servers/A", "servers"], "servers/A", {"ax", "ay"}),
    (["hosts/A", "hosts", "all"], "all", {"ax", "ay", "bx", "ab"}), (["hosts"], "", set())])
def test_a_class_without_systems_is_held_against_the_next_wider_one(steps, of, names):
    measured = {"ax": covers("servers/A/x"), "ay": covers("servers/A/y"),
                "bx": covers("servers/B/x"), "ab": covers("servers/AB/x")}
    found, some = nearness.within(steps, measured)
    assert (found, set(some)) == (of, names)


def test_where_nothing_was_measured_nothing_is_near():
    assert nearness.nearness(AT, "hosts", ["hosts"], {}) == Nearness("hosts", (), None, 0.0)
    assert nearness.nearness(AT, "hosts", ["hosts"], {}).distance == 0
