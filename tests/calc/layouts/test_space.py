"""What a search tries: drafts in pipeline stages only where the engine's release drafts there."""

import numpy as np
import pytest

from calc.layouts.space import AXES, Space
from calc.searching.load_goal import load_goal
from calc.searching.search import search

SMALL = ("space.chunks=2048,8192", "space.drafts=0,1", "space.spares=none,per-rank")


@pytest.mark.parametrize(("settings", "staged"), [
    ([], False), (["space.staged_drafts=true"], True), (["engines=vllm@0.29.0"], False),
    (["engines=vllm@0.33.0"], True), (["engines=sglang"], False),
    (["engines=vllm@0.33.0", "space.staged_drafts=false"], False)])
def test_drafts_in_pipeline_stages_are_tried_where_the_release_drafts_there(settings, staged):
    space = Space(load_goal("r1-80-users-h20", [
        "devices=nvidia-h20", "cards.most=16", "precisions=w8a8-int8", *SMALL, *settings]))
    base, = space.bases()
    cells = {name: np.concatenate([part[name] for part in space.cells(base)]) for name in AXES}
    across = (cells["pipeline"] > 1) & (cells["drafts"] > 0)
    assert across.any() == staged
    assert (cells["drafts"] > 0).any()
    assert (space.left_out(base)["drafts"] > 0) != staged
    without = (cells["pipeline"] > 1) & (cells["drafts"] == 0)
    assert without.any()


def test_what_drafts_in_no_stages_is_counted_and_said(cli):
    code, out, _ = cli("search", "r1-64-users-8xh20")
    assert code == 0
    assert "not every engine drafts there; --set space.staged_drafts=true tries them" in out
    found = search(load_goal("r1-64-users-8xh20"))
    assert f"({found.funnel.counts['drafts']:,} layouts)" in out


def test_quality_leaves_in_what_is_published_to_lose_so_little():
    """Scores published of R1 in NVFP4 and W8A8 are no lower; BF16 holds every FP8 number."""
    def tried(*settings):
        space = Space(load_goal("r1-64-users-8xh20", settings))
        return {base.precision for base in space.bases()}, space.dropped["quality"]

    every, none = tried()
    assert none == 0
    for asked, kept in (("published", {"fp8-block"}), ("0 points", {
            "fp8-block", "bf16", "nvfp4-w4a16", "w8a8-int8"})):
        found, left_out = tried(f"limits.quality={asked}")
        assert found == kept < every
        assert left_out == len(every - kept)
