"""Diagrams of what goes between cards: lanes and bars have the lengths of the numbers."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from notebooks.pages.derivations.diagrams.flows import absorbing, balance, handover
from notebooks.show.drawing import WIDTH, Drawing, width_of

SVG = "{http://www.w3.org/2000/svg}"
TIMES = {"prefill_time": 0.8, "kv_transfer_time": 0.15, "decode_step_time": 0.05,
         "prompt_chunks": 2, "input_tokens": 8192, "concurrency": 32}
BEFORE, AFTER = (2.5, 1.0, 0.5, 0.0), (1.2, 1.0, 1.0, 0.8)


def handed(lang: str) -> Drawing:
    return handover.draw(TIMES, ("Card", "卡"), lang)


def balanced(lang: str) -> Drawing:
    return balance.draw(BEFORE, AFTER, 4, lang)


def parts(drawn: Drawing, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn.svg()).iter(f"{SVG}{tag}"))


def widths(drawn: Drawing, y: float) -> list[float]:
    return [float(bar.get("width", 0)) + 0.8 for bar in parts(drawn, "rect")
            if bar.get("y") == f"{y:g}" and "stroke" not in bar.attrib]


def test_prefill_transfer_and_steps_are_as_long_as_they_take():
    drawn = handed("en")
    (first, second), (sent,), steps = (widths(drawn, handover.TOP + handover.LANE * lane)
                                       for lane in range(3))
    assert first == pytest.approx(second, rel=0.01)
    assert sent / (first + second) == pytest.approx(0.15 / 0.8, rel=0.01)
    assert steps[0] / sent == pytest.approx(0.05 / 0.15, rel=0.05)
    assert len(steps) == handover.AFTER


def test_bars_stand_for_the_loads_and_the_fullest_of_each_panel_is_marked():
    bars = parts(balanced("en"), "rect")
    heights = [float(bar.get("height", 0)) for bar in bars]
    assert [each / heights[0] for each in heights] == pytest.approx(
        [load / BEFORE[0] for load in (*BEFORE, *AFTER)], abs=0.01)
    assert [bar.get("fill") == bars[0].get("fill") for bar in bars] == [
        place == 0 for _ in (BEFORE, AFTER) for place in range(4)]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("draw", [handed, balanced])
def test_words_stay_in_the_frame(draw, lang):
    for text in parts(draw(lang), "text"):
        length = width_of(text.text or "", float(text.get("font-size", 13)))
        x = float(text.get("x", 0))
        start = {"end": x - length, "middle": x - length / 2}.get(text.get("text-anchor", ""), x)
        assert start >= -1
        assert start + length <= WIDTH + 1


SIZES = {"num_attention_heads": 4, "qk_nope_head_dim": 8, "qk_rope_head_dim": 2, "v_head_dim": 8,
         "kv_lora_rank": 16}


def test_absorbing_reads_the_latent_and_expanding_all_heads():
    told = absorbing.orders(SIZES)
    assert (told["absorbed"].read, told["expanded"].read) == (18, 72)
    assert told["absorbed"].score - told["expanded"].score == 2 * 4 * (2 * 16 - 8 - 8)
    assert (told["absorbed"].expand, told["expanded"].expand) == (0, 2 * 4 * 16 * 16)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_orders_are_drawn_with_their_shapes(lang):
    drawn = absorbing.draw(SIZES, ("BF16", 2), lang)
    assert len(parts(drawn, "rect")) == 8
    text = "".join(drawn.svg())
    assert "16 + 2" in text
    for order in absorbing.orders(SIZES).values():
        assert f"{2 * order.read} B" in text
        assert f"{order.score} FLOP" in text
