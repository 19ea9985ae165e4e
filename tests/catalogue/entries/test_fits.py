"""What a file of fits says of a law that misses: a switch has a place and a factor."""

import pytest
from pydantic import ValidationError

from catalogue.entries.profiles import Measured, Missed

JUDGED = {"rows": 4, "leaning": 0, "median": 0.1, "most": 0.3}
MEASURED = {"operator": "gemm", "kernel": "k", "dtype": "bf16", "fitted": 4, "judged": JUDGED,
            "regions": {}, "parameters": [], "covariance": []}
SWITCH = {"column": "rows", "first": 64, "factor": 1.4}


def test_a_table_need_not_say_why_it_is_missed():
    assert Measured.model_validate(MEASURED).missed is None


def test_switches_and_a_rest_are_read():
    missed = Measured.model_validate(MEASURED | {"missed": {
        "switches": [SWITCH | {"where": {"column": "depth", "last": 512}}],
        "rest": {"how": "trend", "column": "depth", "first": 1.5, "last": 8, "factor": 0.8}}}
        ).missed
    assert (missed.switches[0].first, missed.switches[0].last) == (64, None)
    assert missed.switches[0].where.last == 512
    assert (missed.rest.how, missed.rest.first) == ("trend", 1.5)


@pytest.mark.parametrize("wrong", [
    {"switches": [SWITCH | {"last": 32}]}, {"switches": [SWITCH | {"factor": 0}]},
    {"switches": [SWITCH | {"factor": float("nan")}]}, {"switches": [SWITCH | {"first": -1}]},
    {"switches": [SWITCH | {"where": {"column": "depth", "first": 2, "last": 1}}]},
    {"switches": [{"column": "rows", "first": 64}]}, {"switches": [SWITCH | {"how": "trend"}]},
    {"rest": SWITCH}, {"rest": SWITCH | {"how": "chance"}}, {"because": "of a kernel"}])
def test_what_names_no_place_or_no_factor_is_refused(wrong):
    with pytest.raises(ValidationError):
        Missed.model_validate(wrong)
