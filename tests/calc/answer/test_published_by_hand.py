"""Shapes beside what is published, on made-up models: counts, files, caches, digits."""

from types import SimpleNamespace

import pytest

from calc.answer import published
from calc.answer.published import Beside, allocated, stored_bytes, stored_parameters


def value(number):
    return SimpleNamespace(value=number)


def beside(ours, theirs, written=None, quantity="bytes"):
    return Beside(quantity, "one", ours, None if theirs is None else SimpleNamespace(
        value=theirs, written=written or str(theirs)))


class TestBeside:
    @pytest.mark.parametrize(("quantity", "bar"), [
        ("parameters", 1e-3), ("bytes", 1e-2), ("token", 1e-3), ("request", 2e-2)])
    def test_beyond_its_bar_above_and_below(self, quantity, bar):
        for side in (-1, 1):
            far, near = (beside(1e6 * (1 + side * bar * share), 1e6, quantity=quantity)
                         for share in (1.01, 0.99))
            assert (far.beyond, near.beyond) == (True, False)
            assert far.difference == pytest.approx(side * bar * 1.01)

    def test_beside_nothing_it_differs_in_nothing(self):
        alone = beside(5.0, None)
        assert (alone.difference, alone.beyond, alone.rounded) == (0.0, False, False)

    @pytest.mark.parametrize(("written", "half"), [
        ("671e9", 0.5e9), ("36.7e9", 0.05e9), ("65.2 GB", 0.05e9), ("160 GB", 0.5e9),
        ("7", 0.5), ("0.25", 0.005), ("1.25e3 GB", 5e9), ("2E-2", 0.005)])
    def test_half_of_the_last_digit_that_is_written(self, written, half):
        for side in (-1, 1):
            assert beside(100e9 + side * 0.99 * half, 100e9, written).rounded
            assert not beside(100e9 + side * 1.01 * half, 100e9, written).rounded


COUNTED = SimpleNamespace(
    total_parameters=1000.0, mtp_layer_parameters=500.0, embedding_parameters=7.0,
    head_parameters=11.0, attention_divided_parameters=20.0, attention_kv_parameters=3.0,
    attention_replicated_parameters=5.0, compressor_parameters=13.0, hyper_parameters=17.0,
    router_parameters=19.0, shared_expert_parameters=23.0, routed_expert_parameters=29.0)


def model(layers=2, copies=True, uncounted=5, experts=4):
    return SimpleNamespace(
        attention="gqa", n_routed_experts=experts and value(experts),
        num_nextn_predict_layers=layers and value(layers), num_hidden_layers=value(10),
        published=None if copies is None else SimpleNamespace(
            copies=copies, uncounted=uncounted and value(uncounted)))


class TestStored:
    @pytest.fixture(autouse=True)
    def counted(self, monkeypatch):
        """Embedding and head have 4 B a parameter, attention 2 B, and every class its own."""
        widths = {"attention": 2.0, "embedding": 4.0, "head": 6.0, "norm": 8.0, "router": 0.5,
                  "compressor": 1.5, "hyper": 2.5, "shared_expert": 3.5, "routed_expert": 0.25,
                  "dense_mlp": 1.0}
        monkeypatch.setattr(published, "_counted", lambda model: COUNTED)
        monkeypatch.setattr(published.library, "load", lambda kind, name: (kind, name))
        monkeypatch.setattr(published, "precision_inputs", lambda precision: {
            f"{name}_weight_bytes": width for name, width in widths.items()} | {"kv_bytes": 1.0})
        monkeypatch.setattr(published, "parameters_by_class", lambda model: {
            "attention_kv": 10, "attention_divided": 100, "norm": 1, "routed_expert": 1000})

    @pytest.mark.parametrize(("given", "count"), [
        ({}, 1000 + 2 * (500 + 7 + 11) + 5), ({"copies": False}, 1000 + 2 * 500 + 5),
        ({"copies": None}, 1000 + 2 * 518), ({"uncounted": None}, 1000 + 2 * 518),
        ({"layers": None}, 1005), ({"layers": 1}, 1000 + 518 + 5)])
    def test_numbers_in_the_files(self, given, count):
        assert stored_parameters(model(**given)) == count

    @pytest.mark.parametrize(("given", "copies", "experts"), [
        ({}, 7 * 4 + 11 * 6, 4), ({"copies": False}, 0, 4), ({"experts": None}, 7 * 4 + 11 * 6, 0)])
    def test_bytes_of_a_layer_that_drafts_by_class(self, given, copies, experts):
        """What is of no class is as wide as a norm."""
        main = 110 * 2 + 1 * 8 + 1000 * 0.25
        classes = (28 * 2 + 13 * 1.5 + 17 * 2.5 + 19 * 0.5 + 23 * 3.5 + 29 * experts * 0.25)
        rest = 500 - (28 + 13 + 17 + 19 + 23 + 29 * experts)
        layer = classes + rest * 8 + copies
        with_drafts, without = (stored_bytes(model(**given), SimpleNamespace(drafts=drafts), "fp8")
                                for drafts in (True, False))
        assert without == main
        assert with_drafts == pytest.approx(main + 2 * layer)


class TestAllocated:
    """40 B a token, 8 B of them of each of the layers of one kind; a state of 700 B."""

    def kept(self, monkeypatch, attention="gqa", state=0.0, blocks=None, window=0):
        given = []
        monkeypatch.setattr(published.library, "load", lambda kind, name: (kind, name))
        monkeypatch.setattr(published, "precision_inputs", lambda precision: {"kv_bytes": 1.0})
        monkeypatch.setattr(published, "model_inputs", lambda model: {
            "sliding_window": window, "full_attention_layers": 3})
        monkeypatch.setattr(published, "running", lambda *args, **named: given.append(
            (*args, named)) or SimpleNamespace(
                mechanisms={published.USUAL_WAY: {"state_blocks": value(blocks)} if blocks else {}},
                workload={"block_size": value(16)}))
        monkeypatch.setattr(published, "cache", lambda attention, shapes: given.append(
            shapes) or SimpleNamespace(kv_bytes_per_token=40, state_bytes_per_request=state,
                                       kv_layer_bytes_per_token=8))
        some = model()
        some.attention = attention
        found = allocated(some, SimpleNamespace(precision="fp8", engine="vllm", device="h200"))
        assert given[0] == ("vllm", ("devices", "h200"), some, False,
                            {"precision": ("precisions", "fp8")})
        assert (given[1].tensor_parallel, given[1].block_size, given[1].state_blocks) == (1, 1, 0)
        return found

    def test_of_a_token_and_of_a_state(self, monkeypatch):
        assert self.kept(monkeypatch) == (40, 0)
        assert self.kept(monkeypatch, state=700.0) == (40, 700)

    def test_a_state_in_blocks_takes_whole_ones(self, monkeypatch):
        assert self.kept(monkeypatch, state=700.0, blocks=3) == (40, 3 * 16 * 40)
        assert self.kept(monkeypatch, state=0.0, blocks=3) == (40, 0)

    def test_layers_with_a_window_keep_that_alone(self, monkeypatch):
        """Three of ten attend to all."""
        assert self.kept(monkeypatch, window=128) == (24, 7 * 8 * 128)
        assert self.kept(monkeypatch, "mla", window=128) == (40, 0)


def test_everything_published_is_held_and_nothing_else(monkeypatch):
    one, none = beside(1.0, 1.0), beside(1.0, None)
    monkeypatch.setattr(published, "counts", lambda model: iter([none, one]))
    monkeypatch.setattr(published, "files", lambda model: iter([("file", one)]))
    monkeypatch.setattr(published, "caches", lambda model: iter([
        ("cache", one, None), ("cache", one, none), ("cache", one, one)]))
    assert list(published.all_of(None)) == [one] * 6


def test_a_request_is_held_where_either_has_something(monkeypatch):
    given = {"engine": "vllm", "token": value(40)}
    kept = iter([(40.0, 0.0), (40.0, 7.0), (40.0, 0.0)])
    monkeypatch.setattr(published, "allocated", lambda model, cache: next(kept))
    some = model()
    some.published.caches = [SimpleNamespace(**given, request=request)
                             for request in (None, None, value(9))]
    tokens, requests = zip(*((token, request) for _, token, request in published.caches(some)),
                           strict=True)
    assert tokens == (Beside("token", "vllm", 40.0, given["token"]),) * 3
    assert requests[0] is None
    assert [(each.quantity, each.name, each.ours) for each in requests[1:]] == [
        ("request", "vllm", 7.0), ("request", "vllm", 0.0)]
    assert list(published.caches(model(copies=None))) == []
