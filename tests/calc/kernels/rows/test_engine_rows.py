"""Rows of matmuls, sums and exchanges that an engine's laws are fitted to, release by release."""

from __future__ import annotations

import numpy as np
import pytest

from calc.kernels import engines
from calc.kernels.before import values_alone
from calc.kernels.communication import LINKS
from calc.kernels.matmuls import DENSE, QUANTISED
from catalogue.tables.table import joined, synthetic
from tests.calc.kernels.rows.tables_by_hand import H200, PRIORS, Tables, fitted_by, table

MATMUL = {"rows": 1, "columns": 64, "depth": 128, "kernel": "k"}
SUM = {"ranks": 8, "bytes": 14336 * 3, "kernel": "own"}
LAUNCHED = 40e-6


@pytest.fixture
def fits(monkeypatch):
    return fitted_by(monkeypatch, engines)


def dense(monkeypatch, *tables, engine="vllm@0.25.0", alone=None):
    return list(engines._dense(Tables(monkeypatch, *tables), H200, PRIORS, engine, "0.25.0",
                               alone or {}))


@pytest.mark.parametrize(("rows", "taken"), [
    (1, 1), (2, 1), (3, 0), (4, 1), (5, 0), (6, 0), (8, 1), (32766, 0), (32768, 1), (32772, 0)])
def test_a_matmul_has_the_rows_of_a_graph_or_of_a_chunk(monkeypatch, fits, rows, taken):
    """One or two, or whole fours, as many as a step may have."""
    assert dense(monkeypatch, table("gemm", 100, LAUNCHED, **MATMUL),
                 table("gemm", 7, LAUNCHED, **MATMUL | {"rows": rows}))
    assert fits[0].tokens.tolist() == [1] * 100 + [rows] * 7 * taken


@pytest.mark.parametrize(("other", "taken"), [
    ({"columns": 96}, 0), ({"columns": 192}, 1), ({"depth": 192}, 0), ({"depth": 384}, 1)])
def test_a_matmul_is_of_whole_blocks(monkeypatch, fits, other, taken):
    assert dense(monkeypatch, table("gemm", 100, LAUNCHED, **MATMUL),
                 table("gemm", 7, LAUNCHED, **MATMUL | other))
    assert len(fits[0].time) == 100 + 7 * taken
    assert len(set(fits[0].kinds.tolist())) == 1 + taken


def test_every_format_that_the_card_multiplies_has_its_law(monkeypatch, fits):
    """Four bits are none that an H200 multiplies; what has too few rows leaves the next alone."""
    tables = [table("gemm", 100 + more, LAUNCHED, dtype=dtype, **MATMUL)
              for more, dtype in enumerate(("bf16", "fp8-block", "nvfp4"))]
    found = dense(monkeypatch, *tables)
    assert [(each.operator, each.cut, each.kernel, each.dtype, each.multiplied, each.gathered,
             each.experts, each.release) for each in found] == [
        ("gemm", None, "k", "bf16", "bf16", None, (), "0.25.0"),
        ("gemm", None, "k", "fp8-block", "fp8", None, (), "0.25.0")]
    for fit, count, peak, stored in zip(fits, (100, 101), (
            H200.matrix_peak.bf16, H200.matrix_peak.fp8), (2, 1), strict=True):
        assert (len(fit.time), fit.law) == (count, DENSE)
        assert fit.columns["peak"] == peak.value
        assert fit.columns["weight_bytes"] == stored
        assert fit.columns["kernel_boundary"] == PRIORS.kernel_boundary.value
    assert fits[1].alone == values_alone(DENSE, H200, PRIORS, "fp8", 1.0)
    few = table("gemm", 99, LAUNCHED, **MATMUL)
    assert [each.dtype for each in dense(monkeypatch, few, tables[1])] == ["fp8-block"]


def test_matmuls_that_were_launched_one_by_one_or_say_nothing_of_decode_are_no_law(
        monkeypatch, fits):
    for time, rows, told in ((LAUNCHED, 2, 1), (1.01 * LAUNCHED, 2, 0), (LAUNCHED, 4, 0)):
        assert len(dense(monkeypatch, table("gemm", 100, time, **MATMUL | {"rows": rows}))) == told
        with_next = dense(monkeypatch, table("gemm", 100, time, **MATMUL | {"rows": rows}),
                          table("gemm", 100, LAUNCHED, dtype="fp8-block", **MATMUL))
        assert len(with_next) == told + 1


def test_a_few_rows_over_a_hundred_that_do_not_count_tell_no_law(monkeypatch, fits):
    assert dense(monkeypatch, table("gemm", 99, LAUNCHED, **MATMUL),
                 table("gemm", 9, LAUNCHED, **MATMUL | {"rows": 3})) == []


def test_a_library_s_matmuls_have_quantised_rows_and_nothing_between(monkeypatch, fits):
    """Thirty are enough, of many rows as well."""
    for count, told in ((30, 1), (29, 0)):
        some = table("gemm", count, LAUNCHED, engine="aiter@unstated", **MATMUL | {"rows": 64})
        assert len(dense(monkeypatch, some, engine="aiter@unstated",
                         alone={"kernel_boundary": 0.0})) == told
    assert fits[0].law is QUANTISED
    assert fits[0].columns["kernel_boundary"] == 0


@pytest.mark.parametrize(("many", "kept"), [(0, 0), (59, 59), (60, 60), (61, 31), (120, 60),
                                            (121, 41)])
def test_of_many_rows_as_many_are_fitted_as_of_few(many, kept):
    """Of those from 2^n to 2^(n+1) every second from 61 on, every third from 121 on."""
    rows = np.array([16.0] * 5 + [31.0] * 4 + [32.0] * 3 + [4096.0] * many + [5000.0] * 200)
    chosen = np.array([True] * 12 + [True] * many + [False] * 200)
    found = engines._alike(rows, chosen)
    assert found[:12].all()
    assert found[12:].sum() == kept
    assert not found[~chosen].any()
    if many > kept:
        assert found[12:15].tolist() == [True, False, many <= 120]


def sums(monkeypatch, *tables, device=H200):
    return list(engines._sums(Tables(monkeypatch, *tables), device, PRIORS, "vllm@0.25.0", "r"))


def test_sums_are_those_of_graphs_where_there_are_any(monkeypatch, fits):
    """Of buffers in tokens of DeepSeek-V3, 7168 elements in 16 bits."""
    graph, eager = (table("all_reduce", 60, 1e-5, **SUM | {"kernel": kernel})
                    for kernel in ("own", "own_eager"))
    (found,) = sums(monkeypatch, graph, eager, table("all_reduce", 3, 1e-5, **SUM | {
        "kernel": "nccl", "ranks": 4}))
    (fit,) = fits
    assert len(fit.time) == 63
    assert fit.tokens.tolist() == [3] * 63
    assert sorted(set(fit.kinds.tolist())) == [0, 1]
    assert (found.kernel, found.operator, found.dtype, found.multiplied, found.release, found.cut,
            found.gathered, found.experts) == (
        "nccl, own", "all_reduce", "bf16", "bf16", "r", None, None, ())
    assert {name: fit.columns[name] for name in LINKS}["devices_per_node"] == 8
    assert fit.alone == values_alone(engines.ALL_REDUCE, H200, PRIORS, "bf16", 2.0)
    (alone,) = sums(monkeypatch, eager)
    assert alone.kernel == "own_eager"


def test_sums_need_sixty_rows_and_a_server(monkeypatch, fits):
    assert sums(monkeypatch, table("all_reduce", 59, 1e-5, **SUM)) == []
    lone = H200.model_copy(update={"node": None})
    assert sums(monkeypatch, table("all_reduce", 60, 1e-5, **SUM), device=lone) == []


def test_exchanges_are_of_models_with_as_many_experts_as_ours_at_least(monkeypatch):
    """Of 128 experts, four a token, 2048 wide; without either way, or a server, nothing is told."""
    def way(operator, **others):
        edge = {"n_routed_experts": 128, "num_experts_per_tok": 4, "hidden_size": 2048}
        return joined(operator, [synthetic(
            operator, mode="normal", ranks=8, tokens=list(range(1, 61)), time=1e-4,
            **{"card": H200.id, "engine": "vllm@1", **edge, **changed}) for changed in (
                {}, *({name: value - 1} for name, value in edge.items()))])

    asked = []
    monkeypatch.setattr(engines, "exchanges", lambda *given: asked.append(given) or iter("x"))
    both = {"dispatch": way("dispatch"), "combine": way("combine")}
    shelf = Tables(monkeypatch, *both.values())
    assert list(engines._exchanges(shelf, H200, PRIORS, "vllm@1", "1")) == ["x"]
    there, back, *others = asked[0]
    assert [(each.operator, len(each)) for each in (there, back)] == [("dispatch", 60),
                                                                     ("combine", 60)]
    assert others == [H200, PRIORS, "1"]
    for lost in both:
        one = Tables(monkeypatch, *(each for name, each in both.items() if name != lost))
        assert list(engines._exchanges(one, H200, PRIORS, "vllm@1", "1")) == []
    lone = H200.model_copy(update={"node": None})
    assert list(engines._exchanges(shelf, lone, PRIORS, "vllm@1", "1")) == []


def test_releases_are_fitted_from_the_oldest_and_blocks_after_what_they_need(monkeypatch):
    """What a release of that name is not, as a commit, is left out; a library has one table."""
    asked = []

    def fitted(name, *told):
        def each(tables, device, priors, *given):
            asked.append((name, device.id, *given))
            return iter(told)
        return each

    for name, told in (("_dense", ("a",)), ("experts", ()), ("cores", ("b", "c")),
                       ("_sums", ()), ("_exchanges", ("e",))):
        monkeypatch.setattr(engines, name, fitted(name, *told))
    monkeypatch.setattr(engines, "blocks", lambda *given: iter(["d" + "".join(given[-1][-3:])]))

    class Shelf:
        def engines(self, card):
            assert card == "nvidia-h200-sxm"
            return ["vllm@0.10.0", "vllm@0.9.1", "vllm@main", "sglang@0.5.0", "aiter@unstated"]

    assert list(engines.fitted(Shelf(), "nvidia-h200-sxm", "vllm")) == ["a", "b", "c", "dabc",
                                                                       "e"] * 2
    assert [given for given in asked if given[0] in ("_dense", "cores")] == [
        ("_dense", "nvidia-h200-sxm", "vllm@0.9.1", "0.9.1", {}),
        ("cores", "nvidia-h200-sxm", "vllm@0.9.1", "0.9.1"),
        ("_dense", "nvidia-h200-sxm", "vllm@0.10.0", "0.10.0", {}),
        ("cores", "nvidia-h200-sxm", "vllm@0.10.0", "0.10.0")]
    asked.clear()
    assert len(list(engines.fitted(Shelf(), "nvidia-h200-sxm", "aiter"))) == 5
    assert asked[0] == ("_dense", "nvidia-h200-sxm", "aiter@unstated", "unstated",
                        {"kernel_boundary": 0.0})
