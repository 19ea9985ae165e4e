"""The laws of steady states hold for every deployment of the catalogue as well, random or not."""

import functools

import numpy as np
import pytest

from laws import test_continuous, test_whole
from laws.deployments import shipped

WHOLE = (
    "users_are_rate_times_the_time_from_a_question_to_the_next",
    "a_stay_is_its_first_token_and_the_others",
    "users_get_no_more_tokens_than_decode_steps_alone_would_bring",
    "users_bring_no_more_prompts_than_full_chunks_without_a_pause",
    "users_are_no_faster_than_the_front_end_lets_them_in")
every = functools.cache(shipped)


def breaking(holds, **arguments):
    """Those that break a law."""
    return [fleet.model for fleet in every() if not np.ma.filled(
                holds(fleet, **arguments), True).all()]


@pytest.mark.parametrize("law", WHOLE)
def test_it_is_conserved(law):
    assert breaking(getattr(test_whole, f"test_{law}").__wrapped__) == []


@pytest.mark.parametrize("name", [*test_continuous.COUNTED, *test_continuous.CONTINUOUS])
def test_a_little_more_moves_nothing_by_much(name):
    law = test_continuous.test_a_little_more_moves_nothing_by_much.__wrapped__
    assert breaking(law, name=name) == []
