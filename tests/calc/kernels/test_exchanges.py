"""Exchanges there and back: what a law made is found again, and no server speaks for a network."""

from dataclasses import replace

import numpy as np
import pytest

import catalogue
from calc.kernels import engines
from calc.kernels.communication import exchange_law, exchange_time
from calc.kernels.exchanges import ACROSS, FROM_HOST, LEAST_ROWS, MODES, card_values, exchanges
from calc.kernels.writing import text
from catalogue.tables import Table
from catalogue.tables.table import joined

H100 = catalogue.load_device("nvidia-h100-sxm")
PRIORS = catalogue.load("mechanisms", str(H100.mechanisms))
TOKENS = [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
TRUE = {"exchange_alpha": 2e-5, "exchange_efficiency": 0.6, "exchange_expert_time": 2e-8,
        "exchange_token_time": 1e-8, "exchange_network_alpha": 3e-5,
        "exchange_network_efficiency": 0.8}
WIDTH = {"dispatch": 1 + 4 / 128, "combine": 2.0}  # bytes of an element, in FP8 with scales of 128
LINK = catalogue.load_link(catalogue.load_node(str(H100.node)).device_link)
KNOWN = {"full_mesh": 0.0, "pair_bandwidth": LINK.device_bandwidth.value,
         "device_link_bandwidth": LINK.device_bandwidth.value, "switch_adds": 1.0,
         "network_bandwidth": 50e9}


def table(operator, mode, nodes, kernel="deepep"):
    """Rows as the law itself times them, of models with 128 to 512 experts."""
    shapes = [(count, tokens, hidden, experts) for count in nodes for tokens in TOKENS
              for hidden in (3072, 7168) for experts in (128, 256, 512)]
    count, tokens, hidden, experts = (np.array(column) for column in zip(*shapes, strict=True))
    columns = {"nodes": count, "ranks": 8 * count, "tokens": tokens, "hidden_size": hidden,
               "n_routed_experts": experts, "num_experts_per_tok": np.full(len(shapes), 8)}
    time = exchange_time(
        {**{name: column.astype(float) for name, column in columns.items()}, **KNOWN,
         "token_bytes": hidden * WIDTH[operator], "exchange_normal": float(mode == "normal")}, TRUE)
    words = {"card": H100.id, "engine": "sglang@0.5.12", "kernel": kernel, "mode": mode,
             "skew": "uniform", "dtype": {"dispatch": "fp8", "combine": "bf16"}[operator]}
    return Table(operator, columns | {"time": time, "multiprocessors": np.zeros(len(shapes), int)}
                 | {name: np.full(len(shapes), word, object) for name, word in words.items()},
                 ("mine.csv",), np.zeros(len(shapes), int), np.arange(len(shapes)))


def found(mode, nodes, **others):
    return list(exchanges(table("dispatch", mode, nodes, **others),
                          table("combine", mode, nodes, **others), H100, PRIORS, "0.5.12"))


@pytest.mark.parametrize("mode", MODES)
def test_a_law_gives_its_values_back(mode):
    (one,) = found(mode, (1, 4))
    assert one.exchange == mode
    assert set(one.fit.values) == set(TRUE)
    for name, value in one.fit.values.items():
        assert value == pytest.approx(TRUE[name], rel=0.02), name
    assert one.fit.errors.most < 0.01 < one.fit.before.most
    assert one.fit.errors.rows == one.fit.before.rows


@pytest.mark.parametrize("mode", MODES)
def test_a_table_of_one_server_moves_no_network(mode):
    (one,) = found(mode, (1,))
    assert not set(ACROSS) & set(one.fit.values)
    inside, both = one.fit.values, found(mode, (1, 4))[0].fit.values
    assert {name: both[name] for name in inside} == inside  # nor a network a server


def test_normal_mode_over_other_servers_is_judged_and_not_fitted():
    fitted, two, eight = found("normal", (1, 2, 4, 8))
    assert fitted.fit.values == found("normal", (1, 4))[0].fit.values
    for each in (two, eight):
        assert (each.fit.values, each.fit.fitted) == ({}, 0)
        assert each.fit.errors.most < 0.01
    assert [each.kernel for each in (two, eight)] == ["deepep, 2 servers", "deepep, 8 servers"]


def test_calls_timed_from_the_host_are_judged_with_the_cards_values():
    (one,) = found("low_latency", (1,), kernel=FROM_HOST[0])
    assert not one.fit.values
    assert one.fit.errors.rows >= LEAST_ROWS
    written = text("sglang", "nvidia-hopper", {"en": "a", "zh": "甲"}, "of", "source", "2026-10",
                   [one])
    assert "mechanisms:" not in written
    assert "exchange: low_latency" in written


@pytest.mark.parametrize(("name", "less"), [
    ("n_routed_experts", 64), ("num_experts_per_tok", 2), ("hidden_size", 1024)])
def test_exchanges_of_models_with_less_of_anything_are_not_judged(monkeypatch, name, less):
    """As many rows again that have less of one thing alone: none of them is counted."""
    def read(_, operator, *others):
        of_many = table(operator, "low_latency", (1,), kernel=FROM_HOST[0])
        return joined(operator, [of_many, replace(of_many, columns={
            **of_many.columns, name: np.full(len(of_many), less)})])

    monkeypatch.setattr(engines, "read", read)
    (one,) = engines._exchanges(None, H100, PRIORS, "sglang@0.5.12", "0.5.12")
    assert one.fit.errors.rows == len(table("dispatch", "low_latency", (1,)))


def test_what_a_law_does_not_tell_is_held():
    law = exchange_law({"exchange_alpha"})
    one = {"ranks": 8.0, "nodes": 1.0, "tokens": 64.0, "num_experts_per_tok": 8.0,
           "n_routed_experts": 256.0, "exchange_normal": 0.0, "token_bytes": 7392.0,
           "back_bytes": 14336.0}
    columns = {name: np.array([value]) for name, value in one.items()} | KNOWN | TRUE
    there, back = (exchange_time({**columns, "token_bytes": np.array([size])}, TRUE)
                   for size in (7392.0, 14336.0))
    np.testing.assert_allclose(law.time(columns, {"exchange_alpha": 2e-5}), there + back)


@pytest.mark.parametrize("mode", MODES)
def test_a_card_has_every_value(mode):
    values = card_values(H100, PRIORS, mode)
    assert set(values) == set(TRUE)
    assert all(value > 0 for value in values.values())
    assert values["exchange_alpha"] == getattr(PRIORS.all_to_all, mode).node.alpha.value
