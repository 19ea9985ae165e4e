"""A search for DeepSeek-V4: answers start, hits shorten prompts, states of requests take room."""

from functools import cache

import pytest

import calc
from calc.commands.deciding.missing import why_none
from calc.launching.starting import search
from catalogue import load_scenario

IN = {"ascend-910b2": "w8a8-int8-index8", "nvidia-h20": "fp8-mxfp4-w4a16"}
GOAL = """
title: {en: "V4-Flash, long contexts", zh: "V4-Flash，长上下文"}
model: deepseek-v4-flash
devices: [CARD]
precisions: [PRECISION]
cards: {fewest: 8, most: 8}
demand:
  input_tokens: 32000 token
  output_tokens: 512 token
  users: 24
  think_time: 20 s
  prefix_hit_share: 0.9
limits: {tpot: 150 ms, ttft: 1.5 s}
objectives: [cards, tpot]
space:
  {tensor: [8], pipeline: [1], expert: [8], spares: [none], drafts: [0], chunks: [8192],
   pools: [one]}
"""


@cache
def found(card, folder, *settings):
    file = folder / f"{card}.yml"
    file.write_text(GOAL.replace("CARD", card).replace("PRECISION", IN[card]), encoding="utf-8")
    return search(file, settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("goals")


@pytest.mark.parametrize(("card", "engines"), [
    ("ascend-910b2", {"vllm-ascend"}), ("nvidia-h20", {"vllm", "sglang"})])
def test_answers_start(card, engines, folder):
    answer = found(card, folder)
    assert answer.met
    assert answer.start(answer.best).engine.partition("@")[0] in engines


def test_without_hits_nothing_keeps_up(folder):
    assert not found("nvidia-h20", folder, "demand.prefix_hit_share=0").met


@pytest.mark.parametrize("name", ["v4-flash-8xh20", "v4-flash-8xh200", "v4-flash-8x910b2",
                                  "v4-flash-16x910c"])
def test_the_state_of_a_request_takes_room_beside_its_tokens(name):
    answer = calc.estimate(load_scenario(name))
    state = answer.everything["state_blocks_per_request"]
    assert state >= 14
    assert answer.everything["request_blocks"] > state


def test_where_all_layouts_fall_behind_that_is_what_is_said(folder):
    answer = found("nvidia-h20", folder, "demand.users=2000", "demand.think_time=1 s")
    assert not answer.met
    assert "cannot keep up" in why_none(answer)
