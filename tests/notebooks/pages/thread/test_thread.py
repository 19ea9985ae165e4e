"""One request through all derivations: the same in each; the parts of its bill sum to it."""

from __future__ import annotations

import re

import pytest

from calc.costing.power import cards_power, full_power, powers_of, shares_of
from calc.physics.breakdown import token_parts
from notebooks.pages.calculators import others
from notebooks.pages.thread import bill, request, strip, timeline
from notebooks.show.display import LANGUAGES


def test_the_request_is_that_of_the_standard_question():
    inputs, asked = request.scenario().inputs(), request.asked()
    assert inputs["concurrency"] == asked.users == 1
    assert inputs["input_tokens"] == asked.demand.input_tokens
    assert inputs["output_tokens"] == asked.demand.output_tokens
    assert inputs["draft_tokens"] == 0
    assert inputs["prompt_variation"] == inputs["answer_variation"] == 0


def test_prompt_and_answer_sum_to_the_request():
    whole, found = request.whole(), request.told().quantities
    for name in request.NAMES:
        assert getattr(whole, name) == pytest.approx(
            sum(getattr(of, name) for of in request.bill().values()))
    assert whole.time == pytest.approx(found["e2e"].value)
    answer = request.bill()["answer"]
    assert answer.time == pytest.approx(request.steps()["answer"] * found["tpot"].value, rel=0.01)


def test_the_parts_of_a_step_sum_to_it():
    parts, found = request.step_parts(), request.values()
    assert sum(parts.values()) == pytest.approx(float(found["decode_step_time"]))
    of_token = token_parts(request.scenario().inputs(), request.told().everything)
    assert parts == pytest.approx({name: part for name, part in of_token.items() if part})


def test_reading_takes_no_less_than_the_floor():
    """Each step moves at least what the floor of a token's time reads."""
    found = request.values()
    least = sum(float(found[f"decode_{name}_bytes"]) for name in ("dense", "expert", "kv"))
    assert least <= request.moved("decode") <= 1.1 * least


@pytest.mark.parametrize("chapter", strip.CHAPTERS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_strip_names_the_request_and_marks_its_chapter(chapter, lang):
    place = LANGUAGES.index(lang)
    text = strip._html(chapter, place)
    assert "2,048" in text
    assert "512" in text
    assert text.count('aria-current="step"') == 1
    assert text.count("<li>") == len(strip.CHAPTERS)
    assert 2 < len(strip.lines(chapter)) <= 5
    assert "calculators.html#card=nvidia-h200-sxm" in text


@pytest.mark.parametrize("chapter", strip.CHAPTERS)
def test_no_amount_of_a_strip_rounds_to_nothing(chapter):
    told = [amount if isinstance(amount, str) else amount[0] for amount, _ in strip.lines(chapter)]
    assert all(re.search(r"[1-9]", amount) for amount in told), told


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_picture_of_the_bill_is_drawn(lang):
    assert "<svg" in bill.to_scale(lang).svg()


def test_the_energy_is_that_of_the_cards_at_this_rate():
    """Apart from the token of the prompt, which needs no step of its own."""
    deployed, found = request.scenario(), request.values()
    full = full_power(deployed.device)
    assert full is not None
    shares = {name: value.value for name, value in shares_of(powers_of(deployed.device.id)).items()}
    rate = float(found["output_tokens"]) / request.whole().time
    power = cards_power(deployed.inputs(), request.told().everything, rate, shares, full.value)
    assert request.whole().joules == pytest.approx(power * request.whole().time, rel=0.005)


def test_the_layers_of_a_step_and_what_it_has_once_sum_to_it():
    told, found = timeline.step(), request.values()
    assert told.whole == pytest.approx(float(found["decode_step_time"]))
    assert sum(told.layers) == found["num_hidden_layers"]
    names = {name for of in (told.dense, told.experts) for name, _ in of} | told.once.keys()
    assert names - {"embedding"} == request.step_parts().keys()
    assert list(told.once) == [name for name, _, _ in timeline.ONCE]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_timeline_has_a_bar_for_each_layer_and_each_part_of_two(lang):
    told, drawn = timeline.step(), timeline.drawn(lang)
    bars = sum(told.layers) + len(told.once) + len(told.dense) + len(told.experts)
    in_legend = len(dict(told.dense) | dict(told.experts) | told.once)
    assert drawn.svg().count("<rect ") == bars + in_legend
    assert len(drawn.numbers.splitlines()) == 1 + len(told.dense + told.experts) + len(told.once)


def test_calculators_of_others_stand_beside_the_time_of_the_same_request():
    scenario, answer = others.one_request()
    assert scenario.engine == request.engine()
    assert answer.quantities["tpot"].text == request.told().quantities["tpot"].text
