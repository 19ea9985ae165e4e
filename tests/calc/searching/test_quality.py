"""What a format costs in quality, and whether an engine runs it, beside each answer."""

import pytest

from calc.layouts.choice import unrun
from calc.searching.load_goal import load_goal, search
from calc.searching.result import Answer
from catalogue import ParamsError
from catalogue.kernels import quality

SMALL = ("space.tensor=8", "space.pipeline=1", "space.decode_context=4", "space.chunks=4096",
         "space.drafts=0", "space.pools=one")


def asked(*settings: str) -> Answer:
    return search("r1-64-users-8xh20", [*SMALL, *settings])


def test_published_weights_alone():
    answer = asked("limits.quality=published")
    assert {base.precision for base in answer.result.bases} == {"fp8-block"}
    assert answer.result.funnel.counts["quality"]
    assert "w4afp8" in answer.left_out
    assert answer.best
    assert answer.quality(answer.best)[0].is_published


def test_formats_of_pairs_are_not_left_out_where_one_pool_is():
    answer = search("v3-16xh200", ["space.pools=two", "space.chunks=2048", "space.drafts=0",
                                   "space.spares=none", "space.tensor=8"])
    assert "one pool" in answer.left_out
    assert "w4afp8" in answer.left_out
    assert "fp8-block" not in answer.left_out


def test_a_wider_bound_lets_no_less_in():
    tried = [{base.precision for base in asked(f"limits.quality={points}").result.bases}
             for points in ("0", "1 point", "5 points")]
    assert tried[0] <= tried[1] <= tried[2]
    for bound, names in zip((0, 1, 5), tried, strict=True):
        model = asked().result.space.model
        assert all(quality(model, name).within(bound) for name in names)


@pytest.mark.parametrize("bad", ["good", "-1 point", "1 GB"])
def test_a_bound_that_is_none(bad):
    with pytest.raises(ParamsError, match="no bound on quality, expected points"):
        load_goal("r1-64-users-8xh20", [f"limits.quality={bad}"])


def test_only_what_no_engine_runs_is_marked():
    usual = asked("precisions=fp8-block")
    assert usual.best
    assert not unrun(usual.result.wishes.goal, usual.best)
    assert all(usual.best.kernels(usual.result.space.model))
    lifted = asked("precisions=w4a8-int8", "space.any_engine=true")
    assert lifted.best
    assert unrun(lifted.result.wishes.goal, lifted.best)
    assert not any(lifted.best.kernels(lifted.result.space.model))
