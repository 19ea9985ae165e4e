"""Measured results: columns that agree with each other, and predictions beside them."""

import math

import pytest

import catalogue

METRICS = {"ttft", "tpot", "tpot_printed", "itl", "e2e", "output_throughput", "total_throughput",
           "prefill_rate", "prefill_throughput"}
WORKLOAD = ("input_tokens", "output_tokens", "concurrency")
EVERY = catalogue.names("measurements")
BURSTS = [name for name in EVERY if name.startswith("h200-")]


def table(name):
    """Rows of a file as dictionaries, in SI units."""
    entry = catalogue.load_measurements(name)
    columns = [entry.column(column) for column in entry.columns]
    return [dict(zip(entry.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def half(step):
    """Largest error of a number printed in steps."""
    return step / 2 * (1 + 1e-9)


@pytest.mark.parametrize("name", EVERY[::4])
def test_measured_rows_have_workload_and_metric(name):
    entry, rows = catalogue.load_measurements(name), table(name)
    assert set(entry.columns) == set(entry.definitions) <= METRICS | {*WORKLOAD, "requests"}
    for row in rows:
        assert not any(math.isnan(row[column]) for column in WORKLOAD)
        assert any(not math.isnan(row[column]) for column in METRICS & set(row))
        assert row["concurrency"] <= row.get("requests", math.inf)
    if name != "kt-4090-v021-6experts":
        scenario = catalogue.load_scenario(name)
        workload = scenario.file.workload
        assert scenario.file.measured == name
        assert any(abs(row["input_tokens"] - workload.input_tokens.value) <= 0.5 + 1e-9
                   and abs(row["output_tokens"] - workload.output_tokens.value) <= 1
                   and row["concurrency"] == workload.concurrency.value for row in rows)
        assert (workload.requests is not None) == (name in BURSTS)


@pytest.mark.parametrize("name", BURSTS)
def test_bursts_on_h200(name):
    """Both throughputs are of one run; Little's law bounds the requests in flight."""
    for row in table(name):
        ratio = (row["input_tokens"] + row["output_tokens"]) / row["output_tokens"]
        slack = half(0.01) / row["output_throughput"] + 1e-5
        assert row["total_throughput"] / row["output_throughput"] == pytest.approx(ratio, rel=slack)
        if not math.isnan(row.get("ttft", math.nan)):
            tpot = min(row["tpot"], row.get("itl", math.inf))
            latency = row["ttft"] + (row["output_tokens"] - 1) * tpot
            at_once = latency * row["output_throughput"] / row["output_tokens"]
            assert at_once <= 1.02 * row["requests"]


@pytest.mark.parametrize(("name", "row", "per_card"), [
    ("wide-lmsys-prefill", 3, (6979.4, 4846.25, 7960.25)),
    ("wide-ant-ep32", 2, (614.61, 443.64, 694.94)),
    ("wide-rtp-decode", 1, (1836.6, 1215.2, 2022.8)),
    ("wide-vllm-decode-ep96", 1, (3012.6, 1940.5, 3326.3)),
    ("wide-cloudmatrix-decode", 2, (120.085, 94.255, 156.93))])
def test_blind_predictions_are_those_that_were_written_down(name, row, per_card):
    """Per card and second, as at the commit that the table names."""
    made = next(one for one in catalogue.load_measurements(name).blind.predictions
                if one.row == row)
    inputs = catalogue.load_scenario(name).inputs()
    cards = inputs["data_parallel"] * inputs["tensor_parallel"]
    assert [value / cards for value in (made.value, made.low, made.high)] == pytest.approx(
        per_card, rel=1e-4)
