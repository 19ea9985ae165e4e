"""What a goal allows: offers and formats, servers, counts of cards, and what else is chosen."""

import itertools
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import BASE, PLAIN, cells

from calc.layouts import space as module
from calc.layouts.space import CHUNKS, DRAFTS, KINDS, Space, choice_at, node_of
from calc.searching.load_goal import load_goal
from catalogue import ParamsError, load_device, load_node
from catalogue.planning.goals import MOST_CARDS, Offer


def space(*settings):
    return Space(load_goal("r1-80-users-h20", ["devices=nvidia-h20", *settings]))


@pytest.mark.parametrize(("ranks", "tried"), [
    (48, [0, 5, 32, 80]), (64, [0, 5, 64]), (1, [0]), (256, [0, 5, 256]), (100, [0, 5, 44, 144])])
def test_redundant_experts_fill_the_ranks_or_add_one_to_each(ranks, tried):
    """256 experts on 48 ranks are 6 each with 32 to spare, or 7 with 80."""
    goal = load_goal("r1-80-users-h20", ["space.spares=none,fewest,per-rank,5"])
    assert module._spares(goal, {"n_routed_experts": 256}, ranks) == tried
    assert module._spares(goal, {"n_routed_experts": 0}, ranks) == [0]


@pytest.mark.parametrize(("settings", "asked", "most"), [
    ((), None, 64), (("cards.most=24",), None, 24),
    (("limits.rent=60 USD/h",), ("rent",), 20), (("limits.budget=5000000 USD",), ("capital",), 20),
    (("limits.power=9 kW",), None, 64), (("limits.power=9 kW", "cards.most=null"), ("power",), 20),
    (("limits.rent=60 USD/h", "cards.most=16"), ("rent",), 16)])
def test_cards_are_as_many_as_are_said_bought_rented_or_fed(settings, asked, most, monkeypatch):
    """A power says how many only where nobody else does."""
    given = {}

    def within(device, node, **limits):
        given.update(limits, device=device, node=node)
        return Made(cards=20)

    monkeypatch.setattr(module, "cards_within", within)
    assert space(*settings).most(BASE) == most
    assert given.keys() == (set() if asked is None else {
        "rent", "capital", "power", "ownership", "price", "device", "node"})
    monkeypatch.setattr(module, "cards_within", lambda *_, **__: Made(cards=10 * MOST_CARDS))
    fed = space("limits.power=9 kW", "cards.most=null")
    assert fed.most(BASE) == MOST_CARDS
    assert tuple(name for name in ("rent", "capital", "power") if given.get(name) is not None) == (
        asked or ())
    if asked is not None:
        assert (given["device"], given["node"]) == ("nvidia-h20", "hgx-h20")


def test_what_is_not_said_is_tried_in_the_usual_sizes():
    usual = space()
    assert (usual.chunks(), usual.drafts(), usual.slices()) == (list(CHUNKS), list(DRAFTS), [0])
    said = space("space.chunks=512,99", "space.drafts=0,2", "space.expert_slices=1,4")
    assert (said.chunks(), said.drafts(), said.slices()) == ([512, 99], [0, 2], [1, 4])
    for layers, drafts in ((None, [0]), (Made(value=0), [0]), (Made(value=1), list(DRAFTS))):
        other = space("space.expert_slices=1,4")
        other.model = Made(num_nextn_predict_layers=layers)
        other.shapes = {"n_routed_experts": 0}
        assert other.drafts() == drafts
        assert other.slices() == [0]
    assert space()._axes() == (list(CHUNKS), [1], list(DRAFTS), [90]) or space()._axes()[3] == [90]
    assert space("space.memory_utilization=0.8,0.95")._axes()[3] == [80, 95]


def test_a_request_is_at_its_longest_with_its_answer_unless_a_context_is_stated():
    one = space("demand.input_tokens=3000", "demand.output_tokens=200").subject(BASE)
    assert (one.context, one.engines_own, one.staged_groups) == (3200, True, False)
    assert space("demand.context_tokens=9000").subject(BASE).context == 9000
    assert space("space.any_engine=true").subject(BASE).engines_own is False
    for pool in ("prefill", "decode"):
        assert space().subject(BASE, pool).staged_groups is True
    assert space("space.staged_groups=true").subject(BASE).staged_groups is True
    assert (one.device.id, one.node.id, one.precision.id) == (BASE.device, BASE.node, "fp8-block")


def test_engines_that_do_not_run_on_a_card_are_left_out_and_unknown_ones_refused():
    engines = "engines=vllm@0.33.0,vllm-ascend,sglang"
    assert [base.engine for base in space(engines, "precisions=fp8-block").bases()] == [
        "vllm@0.33.0", "sglang"]
    assert [base.engine for base in space("precisions=fp8-block").bases()] == [None]
    with pytest.raises(ParamsError):
        space("engines=vllm@0.0.99").bases()


def test_offers_of_any_card_are_those_that_a_server_holds():
    names = {offer.device for offer in Space(load_goal("million-tokens")).offers}
    assert {"nvidia-h200-sxm", "ascend-910b2", "ascend-910c-die"} <= names
    for name in names:
        device = load_device(name)
        assert device.node
        assert not device.dies
        assert device.type != "host"
    assert not {"ascend-910c-package", "kunpeng-920"} & names
    assert [offer.device for offer in space().offers] == ["nvidia-h20"]


def test_formats_that_cannot_be_multiplied_are_counted_as_dropped():
    tried = space("precisions=fp8-block,nvfp4,bf16")
    assert [base.precision for base in tried.bases()] == ["fp8-block", "bf16"]
    assert sum(tried.dropped.values()) == 1
    assert tried.bases() is tried.bases()
    assert {(base.device, base.node) for base in tried.bases()} == {("nvidia-h20", "hgx-h20")}


@pytest.mark.parametrize(("offer", "said"), [
    ({"device": "kunpeng-920"}, "'kunpeng-920' is a host processor, expected an accelerator."),
    ({"device": "ascend-910c-package"}, "software sees as 2 devices, expected 'ascend-910c-die'."),
    ({"device": "nvidia-l20"}, "no server of the catalogue holds 'nvidia-l20', name one: "
     "{device: nvidia-l20, node: NAME}.")])
def test_a_card_without_a_server_is_refused(offer, said):
    with pytest.raises(ParamsError) as told:
        node_of(Offer.model_construct(node=None, **offer), load_device(offer["device"]))
    assert str(told.value).startswith("devices: ")
    assert str(told.value).endswith(said)


def test_the_server_is_the_offer_s_own_or_that_of_the_card():
    card = load_device("nvidia-h20")
    assert node_of(Offer.model_construct(device="nvidia-h20", node=None), card).id == "hgx-h20"
    other = Offer.model_construct(device="nvidia-h20", node="hgx-h200")
    assert node_of(other, card).id == "hgx-h200"


def test_a_kind_is_told_by_what_the_inputs_hang_on_besides_numbers():
    some = cells(devices=[8, 16, 16], data=[1, 2, 1], tensor=8, expert=[8, 16, 8], slices=[0, 0, 2],
                 spares=[0, 32, 0], drafts=[0, 0, 3])
    columns = module._kinds(load_node("hgx-h20"), some)
    assert len(columns) == len(KINDS)
    assert [column.astype(int).tolist() for column in columns] == [
        [0, 1, 1], [0, 2, 0], [0, 1, 0], [0, 1, columns[3].astype(int)[2]], [0, 1, 0], [0, 0, 1],
        [0, 0, 1]]


def test_every_layout_has_every_value_of_the_other_axes_and_micro_batches_where_they_hide_one():
    """Two micro-batches are tried where experts are exchanged beyond a replica."""
    tried = space("precisions=fp8-block", "space.chunks=1024,8192", "space.drafts=0,1",
                  "space.micro_batches=1,2", "space.tensor=8", "space.pipeline=1",
                  "space.spares=none", "cards.fewest=16", "cards.most=16",
                  "space.decode_context=1")
    base, = tried.bases()
    kinds = tried.cells(base)
    whole = {name: np.concatenate([part[name] for part in kinds]) for name in kinds[0]}
    shared = whole["expert"] > whole["tensor"]
    assert set(whole["micro_batches"][shared].tolist()) == {1, 2}
    assert set(whole["micro_batches"][~shared].tolist()) == {1}
    one = {name: column[whole["expert"] == 16] for name, column in whole.items()}
    assert len(set(zip(*(one[name].tolist() for name in ("chunk", "drafts", "micro_batches")),
                       strict=True))) == len(one["data"]) == 8
    assert tried.size(base) == len(tried.layouts(base)["data"]) * 8
    for part in kinds:
        codes = np.stack([np.broadcast_to(column, len(part["data"])).astype(int)
                          for column in module._kinds(load_node(base.node), part)])
        assert (codes == codes[:, :1]).all()


def test_a_deployment_out_of_cells_has_the_settings_of_its_row():
    table = cells(tensor=[4, 8], chunk=[1, 8192], data=[4, 2])
    assert choice_at(BASE, table, 1, 1024) == PLAIN
    other = choice_at(BASE, table, 0, 7)
    assert (other.tensor, other.data, other.chunk, other.concurrency, other.pool) == (
        4, 4, 1, 7, None)


def test_inputs_that_differ_by_kind_are_arrays_and_are_made_once():
    tried = space()
    made = []

    class First:
        def __init__(self, number):
            self.number = number

        def inputs(self):
            return {"gap": self.number, "hidden": 7168}

    tried.first = lambda base, part, pool: made.append(pool) or First(part["number"])
    first, inputs = tried.inputs(BASE, [{"number": 3}, {"number": 4}, {"number": 3}], "decode")
    assert (first.number, inputs["hidden"], inputs["gap"].tolist()) == (3, 7168, [3, 4, 3])
    assert tried.inputs(BASE, [], "decode")[0] is first
    assert made == ["decode"] * 3
    same = tried.inputs(BASE, [{"number": 5}, {"number": 5}])[1]
    assert same == {"gap": 5, "hidden": 7168}
    resolved = Space(tried.goal, resolve=lambda choice: choice)
    assert resolved.first(BASE, cells(data=[2, 4]), "prefill").pool == "prefill"
    assert resolved.first(BASE, cells(data=[2, 4])).data == 2


def test_of_the_chunks_that_are_tried_each_is_twice_the_one_before():
    assert [then / one for one, then in itertools.pairwise(CHUNKS)] == [2] * (len(CHUNKS) - 1)
    assert CHUNKS[0] == 2**10
