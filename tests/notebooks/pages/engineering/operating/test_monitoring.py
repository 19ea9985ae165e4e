"""What metrics tell: each cause leaves its mark, and an alert fires just where it is said to."""

import pytest

from notebooks.pages.engineering.operating import monitoring
from notebooks.pages.engineering.operating.monitoring import CAUSES, LIVELY, ONCE


def test_without_a_cause_the_metrics_lie_in_what_is_predicted() -> None:
    """They are of the central inputs; what is predicted is the middle of all that may be."""
    of, found = monitoring.forecast(), monitoring.metrics(monitoring.inputs(), {})
    for sign, each in (("ttft", of.ttft), ("tpot", of.tpot), ("rate", of.throughput)):
        assert each.low < float(found[sign]) < each.high


@pytest.mark.parametrize("name", [name for name in CAUSES if name not in ONCE])
def test_a_cause_of_no_severity_moves_nothing(name: str) -> None:
    usual = monitoring.metrics(monitoring.inputs(), {})
    for sign, value in monitoring.signs(name, 1.0).items():
        assert float(value) == pytest.approx(float(usual[sign]), rel=1e-12)


def test_no_two_causes_look_the_same() -> None:
    seen = [tuple(round(ratio, 2) for ratio in signs.values())
            for signs in monitoring.ratios().values()]
    assert len(set(seen)) == len(seen)
    for name, signs in monitoring.ratios().items():
        assert any(max(ratio, 1 / ratio) >= LIVELY for ratio in signs.values()), name


def test_what_a_cause_is_told_by() -> None:
    found = monitoring.ratios()
    assert found["links"]["ttft"] > found["links"]["tpot"]
    assert found["memory"]["tpot"] > found["memory"]["ttft"]
    assert found["host"]["alone"] > found["host"]["tpot"]
    assert found["cache"]["occupied"] > 1
    assert {found["cache"][sign] for sign in ("ttft", "tpot", "alone", "rate")} == {1.0}


@pytest.mark.parametrize("name", ["memory", "links", "clock", "users"])
@pytest.mark.parametrize("own", [False, True])
def test_an_alert_fires_just_where_its_metric_reaches_the_threshold(name: str, own: bool) -> None:
    at = monitoring.caught(name, own)
    assert at is not None
    severity, sign = at
    limit, worse = monitoring.threshold(sign, own), -1 if sign == "rate" else 1
    less, more = (worse * (float(monitoring.signs(name, severity * by)[sign]) / limit - 1)
                  for by in (1 - 1e-7, 1 + 1e-7))  # of users, a metric may jump there
    assert less <= 1e-6
    assert more >= -1e-6


@pytest.mark.parametrize("name", [name for name in CAUSES if name not in ONCE])
def test_after_a_bench_less_is_seen(name: str) -> None:
    prior, bench = monitoring.caught(name, False), monitoring.caught(name, True)
    assert prior is None or (bench is not None and bench[0] < prior[0])
