"""What the sections on deciding say is where the two sides of a decision change places."""

import re
from pathlib import Path

import pytest

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices import (
    communication,
    documents,
    fabrics,
    memory,
    serving,
)
from notebooks.pages.derivations.choices.layouts import A2, H20, H200, H800, Layout
from notebooks.pages.derivations.throughput import quantities

NOTEBOOKS = Path(__file__).resolve().parents[4] / "notebooks"


@pytest.fixture(scope="module")
def derivation():
    """All formulas as stored: of no chapter's own."""
    return Derivation("none")


@pytest.mark.parametrize("layout", [*serving.LAYOUTS.values(), *memory.LAYOUTS.values()])
def test_a_layout_has_all_cards_of_its_servers_and_prefill_among_decode(layout):
    inputs = layout.inputs(2048, 512)
    assert inputs["tensor_parallel"] * inputs["data_parallel"] == layout.cards
    assert inputs["separate_pools"] == 0
    shared = inputs["expert_parallel"] * max(1, inputs["expert_tensor_parallel"])
    assert shared == (1 if layout.tensor == layout.cards else layout.cards)


@pytest.mark.parametrize("layout", [Layout(H200, 1, 8), Layout(A2, 2, 8)])
def test_one_request_more_than_are_kept_breaks_the_promise(derivation, layout):
    system = serving.Chunks(derivation, layout)
    kept = system.capacity_with(1024)
    assert kept == system.at(1024, kept.requests)
    assert system.at(1024, kept.requests + 1) is None


def test_the_longest_chunk_keeps_the_gap_and_the_next_does_not(derivation):
    system = serving.Chunks(derivation, Layout(A2, 2, 8))
    users = 12
    chunk = system.longest(serving.GAP, users)

    def gap(size):
        found = quantities(derivation, system.inputs, concurrency=users,
                           max_num_batched_tokens=size)
        return found["prefill_step_time"] + found["riding_time"]

    assert gap(chunk) <= serving.GAP < gap(chunk + serving.MULTIPLE)


def test_the_turn_is_where_half_of_the_cards_become_faster(derivation):
    whole, half = (Layout(H200, 1, tensor).inputs(2048, 512) for tensor in (8, 4))
    turn = communication.turn(derivation, whole, half)
    assert 1 < turn < communication.MOST
    assert communication.faster(derivation, whole, half, turn)
    assert not communication.faster(derivation, whole, half, turn - 1)


@pytest.mark.parametrize("servers", [1, 2])
def test_every_cut_divides_the_cards(servers):
    for tensor, _ in communication.cuts(servers):
        assert servers * 8 % tensor == 0


@pytest.mark.parametrize("key", memory.LAYOUTS)
def test_a_larger_share_and_a_narrower_cache_hold_more(derivation, key):
    inputs = memory.LAYOUTS[key].inputs(memory.PROMPT, memory.ANSWER, memory.CONTEXT)
    narrow = catalogue.load_format(memory.NARROW[key]).bytes_per_element
    assert narrow < inputs["kv_cache_element_bytes"]
    wide = [quantities(derivation, inputs, memory_utilization=share)["max_concurrency"]
            for share in memory.SHARES]
    assert wide == sorted(set(wide))
    assert quantities(derivation, inputs, memory_utilization=memory.SHARES[0],
                      kv_cache_element_bytes=narrow)["max_concurrency"] > wide[0]


def test_what_weights_leave_less_of_gains_more_by_the_same_share(derivation):
    """A share more is as many bytes on a full card as on an empty one."""
    gains = {}
    for card in (A2, H20):
        inputs = Layout(card, 2, 4, whole=True).inputs(2048, 512)
        low, high = (quantities(derivation, inputs, memory_utilization=share)[
            "free_for_kv_per_device"] for share in (0.85, 0.95))
        visible = inputs["memory_capacity"] - inputs["system_reserve"]
        assert high - low == pytest.approx(0.1 * visible)
        gains[card] = high / low
    assert gains[A2] > gains[H20]


def test_blocks_are_those_that_profiles_state():
    found = memory.block_sizes()
    assert list(found) == sorted(found)
    assert "vllm" in found[memory.SMALL]
    assert "vllm-ascend" in found[memory.LARGE]


def test_every_claim_that_a_chapter_names_is_one(monkeypatch):
    said = []
    monkeypatch.setattr(documents, "show", lambda en, zh: said.append((en, zh)))
    listed = (NOTEBOOKS.parent / "params" / "claims").glob("*.yml")
    known = set(re.findall(r"\bid: (S\d-C?\d+)",
                           "".join(path.read_text("utf-8") for path in listed)))
    for chapter in ("memory", "serving", "communication"):
        text = (NOTEBOOKS / f"{chapter}.md").read_text("utf-8")
        (names,) = re.findall(r'documents\.claims\("([^"]+)"\)', text)
        assert set(names.split()) <= known
        documents.claims(names)
        for name in names.split():
            assert all(f"documents/{name[:2].lower()}.html#{name}" in one for one in said[-1])


@pytest.mark.parametrize("document", catalogue.names("documents"))
def test_places_in_a_document_are_named_in_the_language_of_the_page(document):
    file = catalogue.load("documents", document)
    for each in (*file.measures, *file.probes):
        english, chinese = documents.place(document, each)
        assert not re.search("[\u4e00-\u9fff]", english)
        assert english.startswith(document.upper())
        assert chinese.startswith(document.upper())


@pytest.mark.parametrize("requests", fabrics.PER_CARD)
def test_a_step_over_roce_is_longer_by_the_latency_of_every_exchange(derivation, requests):
    """Two exchanges, there and back, in each layer that has experts: the bandwidth is the same."""
    model = catalogue.model_inputs(catalogue.load_model("deepseek-v3"))
    exchanges = 2 * (model["num_hidden_layers"] - model["first_k_dense_replace"])
    steps, latencies = [], []
    for node in fabrics.NODES.values():
        layout = Layout(H800, fabrics.SERVERS, 1, whole=True, node=node)
        inputs = layout.inputs(2048, 512) | fabrics.POOL
        found = quantities(derivation, inputs, concurrency=requests * layout.cards)
        steps.append(found[fabrics.STEP])
        latencies.append(inputs[fabrics.LATENCY])
    assert steps[1] - steps[0] == pytest.approx(exchanges * (latencies[1] - latencies[0]))
