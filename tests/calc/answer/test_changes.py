"""Which changes make a deployment run, each step by hand, and what a search begins with."""

from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.answer import nearest
from calc.answer.nearest import HEADROOM, TOLD, Change, Search
from calc.closed_form.evaluate import evaluate
from catalogue.deployments.admission.subject import Cut

ROOM, SHORT = {HEADROOM: 0.0}, {HEADROOM: -1.0}


def search(**given):
    """A deployment of 32 requests that is short of memory, two cuts and two precisions of it."""
    made = Search.__new__(Search)
    workload = {"input_tokens": None, "context_tokens": "stated"}
    vars(made).update({
        "problems": set(), "found": SHORT, "asked": True, "margin": 5.0, "cut": Cut(4, 1, 2, 8),
        "cuts": [Cut(8, 1, 1, 8), Cut(4, 1, 2, 8)], "subject": None, "attention": "gqa",
        "precisions": [SimpleNamespace(id="bf16"), SimpleNamespace(id="fp8")],
        "inputs": {"max_num_batched_tokens": 4096.0, "concurrency": 32.0, "context_tokens": 4000.0,
                   "block_size": 16.0, "decode_context_parallel": 2.0, "input_tokens": 900.0,
                   "output_tokens": 100.0},
        "scenario": SimpleNamespace(
            precision=SimpleNamespace(id="bf16"), variations=None, devices=8,
            node=SimpleNamespace(devices_per_node=SimpleNamespace(value=8)),
            file=SimpleNamespace(workload=SimpleNamespace(**workload), cluster=SimpleNamespace(
                nodes=SimpleNamespace(value=1), devices=None)))} | given)
    return made


def memory(headroom, capacity=((0, 0), (0, 0))):
    """Of two precisions in two cuts."""
    table = {HEADROOM: np.array(headroom, float), "max_concurrency": np.array(capacity, float)}
    return lambda: table


class TestOrder:
    def test_the_margin_decides_where_any_has_it(self):
        """5 B are what an engine may reserve besides."""
        assert search()._first(np.array([[-1, 4], [3, 5.0]])) == (1, 1)
        assert search()._first(np.array([[-1, 4], [3, 2]])) == (0, 1)
        assert search()._first(np.array([[9.0, 9], [9, 9]])) == (0, 0)
        assert search()._first(np.array([[-1, 9, 9], [9, 9, 9]])) == (0, 1)
        assert search()._first(np.array([[-1, -2], [0.0, -3]])) == (1, 0)
        assert search()._first(np.array([[-1.0, -2], [-1, -3]])) is None

    def test_what_is_set_is_what_differs(self):
        assert search()._settings(0, Cut(4, 1, 2, 8)) == {}
        assert search()._settings(1, Cut(8, 2, 1, 16)) == {
            "precision": "fp8", "parallelism.tensor_parallel": 8,
            "parallelism.pipeline_parallel": 2, "parallelism.data_parallel": 1,
            "parallelism.expert_parallel": 16}

    def test_nearest_cuts_come_first_and_those_over_a_network_last(self):
        scenario = catalogue.load_scenario("s1-plan-c")
        own = Search(scenario, evaluate(scenario.inputs(), "mla"))
        degrees, asked = [cut.degrees for cut in own.cuts], own.cut.degrees
        assert degrees[0] == asked
        widest = max(asked[0], int(scenario.node.devices_per_node.value))
        over = [each[0] > widest for each in degrees]
        assert over == sorted(over)
        moved = [sum(one != two for one, two in zip(each, asked, strict=True))
                 for each, far in zip(degrees, over, strict=True) if not far]
        assert moved == sorted(moved)
        for number in set(moved):
            factors = [sum(abs(np.log2(one / two)) for one, two in zip(each, asked, strict=True))
                       for each, count in zip(degrees, moved, strict=False) if count == number]
            assert np.all(np.diff(factors) > -1e-6)
        for each in degrees:
            assert each[0] * each[1] * each[2] == scenario.devices

    def test_what_another_change_holds_is_not_told_again(self):
        made = search()
        steps = {"_cut": {"a": 1}, "_chunk": {}, "_context": {"a": 1, "b": 2}, "_precision": {
            "a": 2}, "_more_cards": {"b": 2}}
        for name in ("_undrafted", "_cut", "_deal", "_chunk", "_requests", "_context", "_precision",
                     "_precision_and_cut", "_few_requests", "_more_cards"):
            vars(made)[name] = [steps[name]].__iter__ if name in steps else [].__iter__
        made._told = lambda settings: Change(settings, 1, {}, {})
        assert [change.settings for change in made.changes()] == [{"a": 1}, {"a": 2}, {"b": 2}]


class TestSteps:
    """Each alone: what it yields, and where it yields nothing."""

    def test_drafts_are_left_out_only_where_they_alone_are_in_the_way(self):
        drafts = {"problems": {"drafts"}, "found": ROOM}
        assert list(search(**drafts)._undrafted()) == [{"workload.draft_tokens": 0}]
        assert not list(search(**drafts | {"found": SHORT})._undrafted())
        assert not list(search(**drafts | {"problems": {"drafts", "x"}})._undrafted())

    def test_another_cut_is_of_the_precision_asked_for(self):
        fits = {"_all": memory([[9, -1], [9, 9]])}
        assert list(search(**fits)._cut()) == [
            {"parallelism.tensor_parallel": 8, "parallelism.data_parallel": 1}]
        assert not list(search(_all=memory([[-1, -1], [9, 9]]))._cut())
        assert not list(search(**fits, asked=False)._cut())
        assert not list(search(**fits, cuts=[])._cut())

    def test_another_precision_is_cut_as_asked(self):
        fits = {"_all": memory([[9, -1], [9, 9]])}
        assert list(search(**fits)._precision()) == [{"precision": "fp8"}]
        assert not list(search(_all=memory([[9, -1], [9, -1]]))._precision())
        assert not list(search(**fits, cut=Cut(2))._precision())
        assert not list(search(**fits, precisions=[])._precision())
        assert list(search(_all=memory([[-1, -1], [9, -1]]))._precision_and_cut()) == [
            {"precision": "fp8", "parallelism.tensor_parallel": 8, "parallelism.data_parallel": 1}]
        for given in ({"cuts": []}, {"precisions": []}):
            assert not list(search(**fits, **given)._precision_and_cut())

    @pytest.mark.parametrize(("most", "found"), [
        (4096, 2048), (2047, 1024), (1024, 1024), (512, 512), (511, None)])
    def test_chunks_are_halved_down_to_five_hundred_tokens(self, most, found):
        def has(max_num_batched_tokens):
            return ROOM if max_num_batched_tokens <= most else SHORT

        assert list(search(_workload=has)._chunk()) == (
            [] if found is None else [{"workload.max_num_batched_tokens": found}])
        assert not list(search(_workload=has, found=ROOM)._chunk())
        assert not list(search(_workload=has, problems={"x"})._chunk())

    @pytest.mark.parametrize(("most", "told"), [
        (31.9, 31), (16.0, 16), (15.9, None), (32.0, None), (40.0, None), (0.0, None)])
    def test_at_least_half_of_the_requests_are_to_remain(self, most, told):
        short = {"found": SHORT | {"max_concurrency": most}}
        assert list(search(**short)._requests()) == (
            [] if told is None else [{"workload.concurrency": told}])
        assert not list(search(**short, problems={"x"})._requests())

    @pytest.mark.parametrize(("blocks", "prompts", "told"), [
        # blocks of 32 tokens; four requests to a rank, each with two blocks of its state
        (503, None, 123 * 32), (504, None, None), (260, None, 63 * 32), (256, None, 62 * 32),
        (255, None, None), (136, 900, 32 * 32), (135, 900, None), (9, 900, None)])
    def test_a_context_is_shortened_to_its_half_or_to_what_a_request_needs(
            self, blocks, prompts, told):
        """Of 3,968 tokens; where prompts and answers are known, they have 1,024."""
        found = SHORT | {"kv_blocks": blocks, "requests_per_rank": 4, "state_blocks_per_request": 2}
        made = search(found=found)
        made.inputs |= {"context_tokens": 3968.0, "output_tokens": 124.0}
        made.scenario.file.workload.input_tokens = prompts
        assert list(made._context()) == ([] if told is None else [
            {"workload.context_tokens": told}])

    def test_requests_that_are_listed_need_their_context(self):
        found = SHORT | {"kv_blocks": 260, "requests_per_rank": 4, "state_blocks_per_request": 2}
        made = search(found=found)
        assert list(made._context()) == [{"workload.context_tokens": 63 * 32}]
        made.problems = {"x"}
        assert not list(made._context())
        made.problems, made.scenario.variations = set(), (0.0, 0.0)
        assert not list(made._context())
        made.scenario.variations, made.scenario.file.workload.context_tokens = None, None
        assert not list(made._context())

    def test_a_cache_is_dealt_over_the_fewest_ranks(self, monkeypatch):
        asked = []

        def admitted(subject, rows, kinds):
            asked.append({name: values.tolist() for name, values in rows.items()})
            return np.array([rows["context"][0] != 2])

        monkeypatch.setattr(nearest, "admitted", admitted)
        made = search(cut=Cut(8, 1, 2, 16, 3, context=1), _cut=lambda: iter(()), _workload=(
            lambda decode_context_parallel: ROOM if decode_context_parallel >= 2 else SHORT))
        assert list(made._deal()) == [{"parallelism.decode_context_parallel": 4}]
        assert asked == [{"tensor": [8], "expert": [16], "data": [2], "slices": [3],
                          "context": [size]} for size in (2, 4)]
        made.cut = Cut(8, 1, 2, 16, 3, context=4)
        assert list(made._deal()) == [{"parallelism.decode_context_parallel": 8}]
        made.found = ROOM
        assert not list(made._deal())
        made.found, made._cut = SHORT, lambda: iter(({"a": 1},))
        assert not list(made._deal())

    @pytest.mark.parametrize(("headroom", "capacity", "told"), [
        ([[-1, -1], [-1, -1]], [[3, 4], [8, 7]], (1, 4)),  # half of eight
        ([[-1, -1], [-1, -1]], [[3, 3], [8, 7]], "fp8"),
        ([[-1, -1], [-1, -1]], [[0, 1], [1, 0]], (1, 1)), ([[-1, -1], [-1, -1]], [[0, 0], [0, 0]],
                                                           None),
        ([[-1, -1], [-1, 0]], [[3, 4], [8, 7]], None)])
    def test_where_all_are_too_many_those_that_half_of_the_best_holds(
            self, headroom, capacity, told):
        found = list(search(_all=memory(headroom, capacity))._few_requests())
        if told is None:
            assert found == []
        elif told == "fp8":
            assert found == [{"precision": "fp8", "parallelism.tensor_parallel": 8,
                              "parallelism.data_parallel": 1, "workload.concurrency": 8}]
        else:  # the second cut is that asked for
            assert found == [{"workload.concurrency": told[1]}]

    def test_without_a_cut_or_a_precision_there_are_no_fewer_requests(self):
        some = {"_all": memory([[-1, -1]] * 2, [[3, 4]] * 2)}
        for given in ({"cuts": []}, {"precisions": []}):
            assert not list(search(**some, **given)._few_requests())


class TestMoreCards:
    """Eight cards to a server; the deployment has one of them."""

    def more(self, fits, nodes=1, devices=None, **given):
        """Twelve, sixteen and more cards are tried; it fits on some."""
        made = search(**{"_all": memory([[-1, -1], [9, 9]])} | given)
        made.scenario.file.cluster = SimpleNamespace(
            nodes=SimpleNamespace(value=nodes), devices=devices)
        made._by_distance = lambda count: [] if count == 16 else [Cut(4, 1, 2, 8), Cut(4, 1, 3, 8)]
        made._grid = lambda tried, precisions: self.grids.append(precisions) or {
            HEADROOM: np.array([[-1.0, 9.0 if self.counts[len(self.grids) - 1] in fits else -1]])}
        return list(made._more_cards())

    @pytest.fixture(autouse=True)
    def counted(self, monkeypatch):
        self.grids, self.counts = [], (12, 24, 128)

        def card_counts(first, last, per_node):
            assert (first, last, per_node) == (9, 128 * 8, 8)
            return (12, 16, 24, 128)

        monkeypatch.setattr(nearest, "card_counts", card_counts)

    def test_the_fewest_on_which_it_fits_in_the_precision_asked_for(self):
        assert self.more({12, 24}) == [
            {"cluster.nodes": 2, "cluster.devices": 12, "parallelism.data_parallel": 3}]
        assert [[each.id for each in tried] for tried in self.grids] == [["bf16"]]
        self.grids.clear()
        assert self.more({24}) == [{"cluster.nodes": 3, "parallelism.data_parallel": 3}]
        self.grids.clear()
        assert self.more(set()) == []

    def test_what_is_stated_of_the_cluster_is_changed_where_it_differs(self):
        assert self.more({24}, nodes=3, devices="stated") == [
            {"cluster.devices": 24, "parallelism.data_parallel": 3}]

    def test_it_is_not_for_what_fits_or_what_another_cut_mends(self):
        assert self.more({12}, found=ROOM) == []
        assert self.more({12}, precisions=[]) == []
        assert self.more({12}, _all=memory([[-1, 9], [-1, -1]])) == []
        assert self.more({12}, cuts=[]) != []


class TestShorter:
    """A context longer than the model knows, of which nothing else is asked first."""

    def shorter(self, monkeypatch, why, positions=4096, inputs=None, context="stated"):
        made = search()
        made.problems = {nearest.CONTEXT}
        made.scenario.model = SimpleNamespace(
            max_position_embeddings=positions and SimpleNamespace(value=positions))
        made.scenario.file.workload.input_tokens = inputs
        made.scenario.file.workload.context_tokens = context
        made._told = lambda settings: settings
        monkeypatch.setattr(nearest, "changed", lambda scenario, settings: SimpleNamespace(
            inputs=dict))
        monkeypatch.setattr(nearest, "evaluate", lambda inputs, attention: {})
        monkeypatch.setattr(nearest, "reasons", lambda scenario, found: why)
        monkeypatch.setattr(nearest, "Search", lambda other, found: SimpleNamespace(
            changes=lambda: [SimpleNamespace(settings={"precision": "fp8"})]))
        return made.changes()

    def test_it_is_cut_to_what_the_model_knows_and_what_that_needs_besides(self, monkeypatch):
        fewer = {"workload.context_tokens": 4096}
        assert self.shorter(monkeypatch, ()) == [fewer]
        assert self.shorter(monkeypatch, ("memory",)) == [fewer | {"precision": "fp8"}]
        assert self.shorter(monkeypatch, (), positions=1000, inputs=900) != []

    @pytest.mark.parametrize("given", [
        {"positions": None}, {"context": None}, {"positions": 999, "inputs": 900}])
    def test_requests_that_need_more_have_none(self, monkeypatch, given):
        assert self.shorter(monkeypatch, (), **given) == []


class TestWords:
    QUANTITIES = {HEADROOM: 1.5e9, "ttft": 2.0, "tpot": 0.03}  # noqa: RUF012

    @pytest.fixture(autouse=True)
    def on_eight_cards(self, monkeypatch):
        monkeypatch.setattr(nearest, "cut_of", lambda scenario: Cut(8, 1, 1, 8))

    def sentence(self, settings, cards=8, name="s2-910b1-awq"):
        asked = catalogue.load_scenario(name)
        changed = SimpleNamespace(devices=cards, file=asked.file)
        return nearest._sentence(asked, changed, settings, self.QUANTITIES)

    def test_what_is_changed_and_what_comes_out(self):
        told = self.sentence({"precision": "w8a8-int8", "workload.concurrency": 1600})
        assert told["en"] == (
            "It runs on the same cards with precision w8a8-int8, 1,600 requests at once: 1.5 GB "
            "per device to spare, first token after 2 s, then one every 30 ms, at central values.")
        assert told["zh"].startswith("同样的卡，改为精度 w8a8-int8，同时 1,600 个请求，即可运行：")
        told = self.sentence({"parallelism.expert_parallel": 8, "workload.context_tokens": 4096,
                              "workload.max_num_batched_tokens": 2048,
                              "workload.draft_tokens": 0}, 16)
        assert told["en"].startswith(
            "It runs with 16 cards, TP8/EP8, prompt chunks of 2,048 tokens, 0 drafted tokens, "
            "a context of 4,096 tokens: 1.5 GB")
        assert told["zh"].startswith("改为 16 ")

    def test_without_lengths_of_answers_there_is_no_first_token(self):
        told = self.sentence({"precision": "bf16"}, 16, "s0-scenario-1")
        assert "per device to spare, a token every 30 ms" in told["en"]
        assert "首 token" not in told["zh"]


def real(name="s2-910b1-awq", *settings):
    scenario = catalogue.load_scenario(name, overrides=settings)
    return Search(scenario, evaluate(scenario.inputs(), scenario.model.attention)), scenario


class TestBegins:
    def test_the_precision_asked_for_comes_first_and_none_twice(self):
        made, scenario = real()
        names = [each.id for each in made.precisions]
        assert made.asked
        assert made.precisions[0] is scenario.precision
        assert len(set(names)) == len(names) > 1

    def test_what_was_changed_in_it_holds(self):
        made, scenario = real("s2-910b1-awq", "precision.logit=fp16")
        assert made.precisions[0] is scenario.precision
        assert [each.id for each in made.precisions].count(scenario.precision.id) == 1

    def test_one_that_the_card_lacks_is_not_tried(self):
        made, scenario = real("s2-910b1-awq", "precision=fp8-block")
        assert not made.asked
        assert scenario.precision.id not in [each.id for each in made.precisions]

    def test_what_an_engine_may_reserve_at_most_is_left(self):
        made, scenario = real()
        reserve = scenario.device.runtime_reserve
        assert made.margin == float(reserve.high - reserve.value) > 0

    def test_stages_of_ranks_that_share_experts_are_tried_where_they_are_there(self):
        plain, _ = real()
        apart, _ = real("wide-lmsys-decode")
        assert not plain.subject.staged_groups
        assert apart.subject.staged_groups

    def test_cuts_keep_what_is_not_cut(self):
        made, scenario = real("wide-lmsys-decode")
        for cut in made.cuts:
            assert (cut.slices, cut.spares, cut.context, cut.shared_ranks, cut.drafts) == (
                made.cut.slices, made.cut.spares, made.cut.context, made.cut.shared_ranks,
                made.cut.drafts)
            assert cut.tensor * cut.pipeline * cut.data == scenario.devices
        assert made.cut in made.cuts


class TestGrid:
    CUTS = (Cut(8, 1, 1, 8), Cut(4, 1, 2, 8), Cut(2, 1, 4, 8))

    def test_of_each_cut_in_each_precision(self):
        made, scenario = real()
        tried = made.precisions[:2]
        found = made._grid(self.CUTS, tried)
        assert found[HEADROOM].shape == (2, 3)
        for row, precision in enumerate(tried):
            for column, cut in enumerate(self.CUTS):
                alone = evaluate(scenario.in_precision(precision).inputs() | {
                    "tensor_parallel": cut.tensor, "pipeline_parallel": cut.pipeline,
                    "data_parallel": cut.data, "expert_parallel": cut.expert}, "mla")
                for name in (HEADROOM, "max_concurrency"):
                    loads = found[HEADROOM][row, column] > -np.inf
                    expected = float(alone[name]) if loads else (
                        -np.inf if name == HEADROOM else 0)
                    assert found[name][row, column] == pytest.approx(expected, rel=1e-9)

    def test_what_no_engine_loads_has_none(self):
        made, _ = real("h200-r1-vllm-tp8")
        fp8 = [each for each in made.precisions if each.id == "fp8-block"]
        found = made._grid([Cut(16, 1, 2), Cut(32)], fp8)
        assert found[HEADROOM][0, 0] > -np.inf == found[HEADROOM][0, 1]
        assert found["max_concurrency"][0, 1] == 0

    def test_it_is_computed_once(self):
        made, _ = real()
        first = made._all()
        assert made._all() is first
        assert first[HEADROOM].shape == (len(made.precisions), len(made.cuts))


def test_a_change_is_told_with_what_the_runtime_gives_for_it():
    made, _ = real()
    settings = {"workload.concurrency": 7, "parallelism.tensor_parallel": 4,
                "parallelism.data_parallel": 2}
    told = made._told(settings)
    other = catalogue.load_scenario("s2-910b1-awq", overrides=[
        f"{key}={value}" for key, value in settings.items()])
    found = evaluate(other.inputs(), "mla")
    assert (told.settings, told.devices) == (settings, other.devices)
    assert told.quantities == {name: pytest.approx(float(found[name])) for name in TOLD}
    assert "7 requests at once" in told.text["en"]
    assert told.as_json()["quantities"] == told.quantities
