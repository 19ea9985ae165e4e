"""Which numbers of requests are tried, how cells are taken in pieces, and which are kept."""

from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import BASE, cells

from calc.searching import candidates
from calc.searching.candidates import (
    MOST_IN_FLIGHT,
    NEAR,
    CandidateCells,
    as_asked,
    batches,
    best_layouts,
    best_of_runs,
    candidate_cells,
    filled,
    least_of_each,
    site_draws,
    slabs,
)
from catalogue import ParamsError
from catalogue.planning.goals import Demand


def demand(**asked):
    return Demand.model_construct(input_tokens=3000, output_tokens=100, **asked)


class Held(CandidateCells):
    """Cells that hold so many requests, of which each may be so long."""

    most, length = 37, 5000

    def spare(self, cells, longest=None):
        return self.most - cells["concurrency"] if longest is None else self.length - longest


@pytest.mark.parametrize(("most", "tried"), [
    (0, []), (1, [1]), (2, [1, 2]), (13, [*range(1, 14)]), (14, [*range(1, 14)]),
    (16, [*range(1, 14), 15, 16]), (32, [*range(1, 14), 15, 16, 17, 19, 21, 23, 25, 27, 29, 32])])
def test_batches_are_eight_in_each_doubling(most, tried):
    """The nearest whole numbers to 2 to the power of k / 8, none twice and none above the most."""
    assert batches(most, None).tolist() == tried


def test_batches_of_a_goal_are_tried_as_listed_whatever_is_held():
    assert batches(4, [9, 2, 9]).tolist() == [2, 9]


@pytest.mark.parametrize(("counts", "most", "ends"), [
    ([3, 5], 8, [2]), ([3, 5], 7, [1, 2]), ([3, 4, 5, 20, 1], 8, [2, 3, 4, 5]), ([9], 1, [1]),
    ([2, 2, 2, 2], 4, [2, 4]), ([], 5, [])])
def test_pieces_hold_as_many_as_fit_and_one_row_at_least(counts, most, ends):
    found = list(slabs(np.array(counts, int), most))
    assert [piece.stop for piece in found] == ends
    assert [piece.start for piece in found] == [0, *ends][:len(ends)]


@pytest.mark.parametrize("slab", [100, 3])
def test_each_cell_is_tried_with_every_number_of_requests_that_it_holds(slab):
    """Three ranks of 2 hold 7 requests, so 3 of a rank and none of 9 are tried."""
    some = {"data": np.array([1, 2, 3]), "chunk": np.array([5, 7, 11])}
    parts = list(filled(some, np.array([3, 7, 2]), [1, 3, 9], slab))
    joined = {name: np.concatenate([part[name] for part in parts]).tolist() for name in parts[0]}
    assert joined["concurrency"] == [1, 3, 2, 6]
    assert joined["chunk"] == [5, 5, 7, 7]
    assert [part["row"].tolist() for part in parts] == (
        [[0, 0, 1, 1]] if slab == 100 else [[0, 0], [0, 0]])


def test_the_first_of_equal_ones_has_the_least_of_its_kind():
    assert least_of_each(np.array([1, 1, 1, 4, 4]), np.array([3.0, 2.0, 2.0, 7.0, 8.0])
                         ).tolist() == [1, 3]
    assert least_of_each(np.array([0, 3]), np.array([9.0, 9.0])).tolist() == [0, 1]
    assert least_of_each(np.array([], int), np.array([])).tolist() == []


RUNS = {"tensor": [2, 2, 2, 8, 8, 2], "data": [8, 8, 8, 2, 2, 8], "rate": [5., 7., 7., 7., 7., 1.],
        "pace": [1., 3., 2., 4., 4., 9.]}


def test_of_each_run_of_a_layout_the_best_is_the_first_by_one_objective_after_another():
    """A layout that comes again later is a run of its own."""
    rows = cells(**RUNS)
    assert best_of_runs(rows, {"rate": 1, "pace": -1}).tolist() == [2, 3, 5]
    assert best_of_runs(rows, {"pace": -1, "rate": 1}).tolist() == [0, 3, 5]
    assert best_of_runs(rows, {"rate": 1}).tolist() == [1, 3, 5]
    for axis in ("pipeline", "expert", "slices", "context"):
        assert best_of_runs(cells(**{axis: [1, 1, 2]}, rate=[1., 2., 1.]), {"rate": 1}
                            ).tolist() == [1, 2]
    assert best_of_runs({name: column[:0] for name, column in rows.items()}, {"rate": 1}
                        ).tolist() == []


def test_of_each_layout_the_best_is_kept_and_the_best_layouts_first():
    """Of parts that are put together; one on other cards is another layout."""
    first, then = cells(**RUNS), cells(**RUNS | {"rate": [2., 2., 2., 9., 2., 2.]}, devices=32)
    kept = best_layouts([{}, first, then], {"rate": 1, "pace": -1})
    assert kept["rate"].tolist() == [9, 7, 7, 2]
    assert kept["pace"].tolist() == [4, 2, 4, 1]
    assert kept["devices"].tolist() == [32, 16, 16, 32]
    many = cells(tensor=list(range(1, NEAR + 8)), rate=[float(n) for n in range(1, NEAR + 8)])
    assert best_layouts([many], {"rate": -1})["rate"].tolist() == [*range(1, NEAR + 1)]


def test_numbers_that_differ_in_their_last_twelve_bits_are_equal():
    """Of 52 bits 40 are compared, the last one rounded: half of it goes up."""
    bit = 2.0 ** -52
    given = np.array([1.0, 1 + 2047 * bit, 1 + 2048 * bit, 1 + 6143 * bit, 1 + 6144 * bit, -3.0])
    assert candidates._rounded(given).tolist() == [
        1, 1, 1 + 2.0 ** -40, 1 + 2.0 ** -40, 1 + 2.0 ** -39, -3]


def test_of_what_has_room_for_more_only_what_is_asked_is_served():
    """3 a second of 100 tokens; 60 who think 7 s ask every 12 s, those who do not, every 5 s."""
    seen = {"e2e": np.array([5.0, 8.0]), "throughput": np.array([9e3, 9e3])}
    for asked, served in ((demand(arrival_rate=3.0), [300, 300]),
                          (demand(users=60, think_time=7.0), [500, 400]),
                          (demand(users=60), [1200, 750]),
                          (demand(), [9e3, 9e3])):
        found = as_asked(asked, seen)
        assert found["throughput"].tolist() == pytest.approx(served)
        assert found["e2e"].tolist() == [5, 8]


def test_inputs_of_cells_are_their_settings_and_those_of_their_kind():
    """What is one number of all of them is one number, but for the requests in flight."""
    tried = CandidateCells({"hidden": 7, "gap": np.array([10.0, 20.0, 30.0])}, "mla", demand())
    found = tried.columns(cells(kind=[2, 0, 2], tensor=[8, 4, 8], chunk=[1, 2, 2], concurrency=64))
    assert found["gap"].tolist() == [30, 10, 30]
    assert (found["hidden"], found["data_parallel"], found["memory_utilization"]) == (7, 2, 0.9)
    assert found["tensor_parallel"].tolist() == [8, 4, 8]
    assert found["max_num_batched_tokens"].tolist() == [1, 2, 2]
    assert found["concurrency"].tolist() == [64, 64, 64]
    alone = tried.columns(cells(kind=[1, 1], utilization=[85, 95], concurrency=64))
    assert alone["gap"] == 20
    assert alone["memory_utilization"].tolist() == [0.85, 0.95]
    none = tried.columns(cells(kind=[0], concurrency=64) | {"kind": np.array([], int)})
    assert none["gap"].tolist() == []


def test_what_a_cell_holds_is_found_by_halves_where_one_division_says_too_much(monkeypatch):
    """Equal numbers on all ranks: of 2 at most 36 of 37 requests, of 5 at most 35."""
    def told(most):
        monkeypatch.setattr(candidates, "sweep", lambda *_, **__: {
            "max_concurrency": np.array(most)})
        return Held({}, "mla", demand()).holds(cells(data=[1, 2, 5, 40]))

    assert told([1000.0, 36.9, 41.0, 0.0]).tolist() == [37, 36, 35, 0]
    assert told([11.0, 11.0, 11.0, 11.0]).tolist() == [11, 10, 10, 0]
    monkeypatch.setattr(Held, "most", 10 * MOST_IN_FLIGHT)
    assert told([1e9] * 4).tolist()[:2] == [MOST_IN_FLIGHT] * 2


def test_the_longest_request_is_the_last_that_fits_up_to_what_the_model_is_made_for():
    held = Held({}, "mla", demand())
    two = cells(data=[1, 2])
    assert held.longest(two, 4999).tolist() == [4999, 4999]
    assert held.longest(two, 5001).tolist() == [5000, 5000]
    assert held.longest(two, 1 << 20).dtype == float


SENT = {"stream_interval": 4, "output_tokens": 11, "first_token_held": .5, "separate_pools": 0}


@pytest.mark.parametrize(("changed", "share"), [
    ({}, .85), ({"output_tokens": 1}, 1), ({"output_tokens": 2}, .5), ({"separate_pools": 1}, 1),
    ({"stream_interval": np.array([2, 4, 3])}, .85)])
def test_a_token_is_seen_sooner_by_what_the_first_one_is_held(changed, share):
    """Half of three tokens of four that are sent together, of ten: the least of all kinds."""
    assert CandidateCells(SENT | changed, "mla", demand())._after_first == pytest.approx(share)


def test_a_burst_is_told_its_own_times_and_what_goes_on_those_of_a_steady_state(monkeypatch):
    asked = []

    def told(self, cells, names):
        asked.append(tuple(names))
        return {name: np.array([2.0]) for name in names}

    monkeypatch.setattr(CandidateCells, "_of_steps", told)
    monkeypatch.setattr(CandidateCells, "packing", lambda *_: {})
    for arrivals, names in (("burst", ("ttft", "tpot", "e2e", "output_throughput")),
                            (None, tuple(f"steady_{name}" for name in (
                                "ttft", "tpot", "e2e", "throughput")))):
        found = CandidateCells(SENT, "mla", demand(arrivals=arrivals)).served(
            cells(data=[1], concurrency=4), ("more",))
        assert asked[-1] == (*names, "more")
        assert list(found) == ["ttft", "tpot", "e2e", "throughput", "more"]


def test_what_a_site_draws_is_asked_of_the_batches_and_chunks_of_a_step(monkeypatch):
    """7 requests on 2 replicas of 3 stages are 2 in a stage; 3000 tokens, of which a fifth is
    known, are 2400 to compute, three chunks of 1000."""
    told, deployed = {}, Made(device=Made(id="nvidia-h20"))
    monkeypatch.setattr(candidates, "cards_power", lambda *given: told.update(given[1]) or given[2])
    monkeypatch.setattr(candidates, "prices_of", lambda device: f"prices of {device}")
    monkeypatch.setattr(candidates, "around", lambda of, prices: (
        50.0 if (of, prices) == (deployed, "prices of nvidia-h20") else None))
    monkeypatch.setattr(candidates, "full_power", lambda _: Made(value=700.0))
    monkeypatch.setattr(candidates, "own_cards", lambda _: 12)
    monkeypatch.setattr(candidates, "site_power", lambda drawn, own, rest: drawn + own * rest)
    inputs = {"concurrency": np.array([7.0]), "data_parallel": 2.0, "pipeline_parallel": 3.0,
              "input_tokens": 3000.0, "prefix_hit_share": 0.2, "max_num_batched_tokens": 1000.0}
    drawn = site_draws(inputs, {"tokens_per_step": 1.5}, deployed, np.array([40.0]), {})
    assert drawn.tolist() == [640]
    assert told["decode_batch"].tolist() == [2]
    assert (told["prompt_chunks"], told["tokens_per_step"]) == (3, 1.5)
    site_draws(inputs | {"prefix_hit_share": 1.0}, {}, deployed, np.array([40.0]), {})
    assert told["prompt_chunks"] == 1  # of the last token at least
    for name in ("around", "full_power"):
        with monkeypatch.context() as alone:
            alone.setattr(candidates, name, lambda *_: None)
            with pytest.raises(ParamsError, match="nobody says what 'nvidia-h20' draws"):
                site_draws(inputs, {}, deployed, np.array([40.0]), {})


def test_cells_of_a_base_know_which_share_their_steps_and_their_waves():
    """Decode steps hang on all but the chunk and the memory, prompts on the chunk besides."""
    kinds = [cells(chunk=[1, 2, 1], utilization=[80, 80, 90], drafts=0),
             cells(chunk=[1, 1], tensor=[8, 4], drafts=1)]
    space = Made(cells=lambda _: kinds, inputs=lambda base, given, pool: (
        Made(model=Made(attention="gqa")), {"kinds": len(given), "pool": pool}))
    tried, first, found = candidate_cells(space, BASE, demand(), threads=3)
    assert (tried.attention, tried.threads, first.model.attention) == ("gqa", 3, "gqa")
    assert found["kind"].tolist() == [0, 0, 0, 1, 1]
    assert len(set(found["steps"][:3].tolist())) == 1
    assert len(set(found["steps"].tolist())) == 3
    waves = found["waves"].tolist()
    assert waves[0] == waves[2] != waves[1]
    assert len(set(waves)) == 4
    plain, _, alone = candidate_cells(space, BASE, demand(), "prefill")
    assert (plain.inputs, len(alone["data"])) == ({"kinds": 1, "pool": "prefill"}, 3)
    drafting = Made(cells=lambda _: kinds[1:])
    assert candidate_cells(drafting, BASE, demand(), "prefill") is None
