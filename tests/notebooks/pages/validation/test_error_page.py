"""The tables of the page on errors say of results what the results say."""

from types import SimpleNamespace

import numpy as np
import pytest

from notebooks.pages.validation import error_page, error_tables

VALUE = SimpleNamespace(value=2e-6, low=1e-6, high=4e-6)


@pytest.fixture
def tables(monkeypatch):
    shown = []
    monkeypatch.setattr(error_page, "table",
                        lambda rows, columns, **options: shown.append(list(rows)))
    return shown


def result(covered, of=5):
    """Results of which so many rows lie in their interval, which spans a factor of four."""
    measured = np.where(np.arange(of) < covered, 1.0, 3.0)
    errors = SimpleNamespace(row=np.arange(of), measured=measured, predicted=np.ones(of),
                             low=np.full(of, 0.5), high=np.full(of, 2.0))
    return SimpleNamespace(system="s", metric="tpot", left_out=(), predictions=errors,
                           protocol=error_tables.UNCALIBRATED,
                           of=("concurrent/servers/A/vllm",) * of)


@pytest.mark.parametrize("covered", range(6))
def test_coverage_is_the_share_of_rows_inside(tables, covered):
    error = SimpleNamespace(down=0.1, up=0.2, within=0.1)
    own = SimpleNamespace(classes={"concurrent/servers/A": {"tpot": error}})
    error_page.coverage([result(covered)], own, lambda name: (name, name),
                        lambda low, high, measured: 1.0)
    (row,), _ = tables
    assert row["covered"] == f"{20 * covered}%"
    assert row["rows"] == 5
    assert row["width"] == "4.00"


def test_a_row_counts_under_its_own_load_alone(tables):
    error = SimpleNamespace(down=0.1, up=0.2, within=0.1)
    both = [f"{load}/servers/A" for load in ("concurrent", "queued")]
    own = SimpleNamespace(classes={name: {"tpot": error} for name in both})
    mixed = result(3)
    mixed.of = (*both[:1] * 2, *both[1:] * 3)
    error_page.coverage([mixed], own, lambda name: (name, name), lambda low, high, measured: 1.0)
    assert [(row["rows"], row["covered"]) for row in tables[0]] == [(2, "100%"), (3, "33%")]


@pytest.mark.parametrize(("fitted", "inside"), [
    (1e-6, True), (4e-6, True), (0.99e-6, False), (4.01e-6, False)])
def test_a_fit_outside_of_its_range_is_called_so(tables, fitted, inside):
    calibration = SimpleNamespace(knobs=[SimpleNamespace(name="kernel_boundary", value=VALUE)])
    error_page.fitted(calibration, [(fitted / 2, fitted, 2 * fitted)])
    assert tables[0][0]["inside"] == error_page.INSIDE[inside]


def test_a_deployment_goes_by_its_title_and_a_variant_by_that_of_its_family_too():
    assert error_page.link("h20-qwen3-8b") == (
        "[1×H20, Qwen3-8B in FP8](scenarios/h20-qwen3-8b.ipynb)",
        "[1×H20，Qwen3-8B（FP8）](scenarios/h20-qwen3-8b.ipynb)")
    english, chinese = error_page.link("wide-vllm-decode-ep32")
    assert english.endswith("](scenarios/wide-vllm.ipynb)")
    assert "vLLM" in english
    assert "vLLM" in chinese


def test_rows_inside_are_counted_by_class_and_metric(tables):
    found = SimpleNamespace(systems=2, rows=9, inside=7)
    own = SimpleNamespace(classes={"queued/servers": {"tpot": found},
                                   "queued/servers/A": {"tpot": found}})
    error_page.interval_coverage(own, lambda name: (name, name))
    ((row,),) = tables
    assert row["tpot"] == ("7 of 9", "7 / 9")
    assert row["ttft"] == ("–", "–")


def test_doubts_are_gathered_by_their_reason_and_numbered_from_one(tables):
    reason, other = {"en": "a", "zh": "甲"}, {"en": "b", "zh": "乙"}
    system = SimpleNamespace(suspect={4: reason, 0: reason, 2: other})
    error_page.doubts({"h20-qwen3-8b": system})
    assert [(row["rows"], row["why"]) for row in tables[0]] == [("1, 5", ("a", "甲")),
                                                                ("3", ("b", "乙"))]
