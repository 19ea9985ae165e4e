"""The answer for a deployment: form and intervals, what would fit, what a calibration changes."""

import json

import numpy as np
import pytest
from _answers import estimated

import calc
import catalogue
from calc.answer import nearest
from calc.commands.evidence.calibrate import fit, with_fitted
from calc.evidence.calibrated import apply
from calc.evidence.classes import deviations
from calc.uncertainty import leaning
from calc.uncertainty.interval import interval
from catalogue import library
from catalogue.deployments.admission.subject import Cut

GB = 10**9
ANSWERED = {"weights_per_device", "kv_bytes_per_token", "activations_per_device",
            "free_for_kv_per_device", "max_concurrency", "tpot_floor", "throughput_ceiling", "ttft",
            "tpot", "e2e", "output_throughput"}
OWN = {"ttft", "tpot", "e2e", "output_throughput"}  # have an own error of the formulas


def run(name, *settings):
    scenario = catalogue.load_scenario(name, overrides=settings)
    return calc.evaluate(scenario.inputs(), scenario.model.attention)


class TestEstimate:
    """The answer for a scenario."""

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_form(self, name):
        scenario, found = catalogue.load_scenario(name), estimated(name)
        answer = found.as_json()
        # what needs the length of prompts is absent where only the longest context is stated
        lacking = {"ttft", "e2e"} if scenario.file.workload.output_tokens is None else set()
        lacking |= found.unasked
        assert answer["quantities"].keys() >= ANSWERED - lacking
        assert not answer["quantities"].keys() & lacking
        for quantity in answer["quantities"].values():
            assert set(quantity) - {"own_error"} == {"value", "unit", "low", "high", "kind",
                                                     "central"}
            assert quantity["low"] <= quantity["value"] <= quantity["high"]
        for name in OWN & answer["quantities"].keys():
            own = answer["quantities"][name]["own_error"]
            assert own["inside"] <= own["rows"] >= own["systems"] > 0
        assert ("tpot" in answer["parts"]) is ("tpot" in answer["quantities"])
        assert sum(found.parts["tpot"].values()) == pytest.approx(
            found.quantities["tpot"].central, rel=1e-12)
        for first, last in (("ttft", "e2e"), ("steady_ttft", "steady_e2e")):
            if found.reported.keys() >= {first, last}:
                assert found.reported[first].value <= found.reported[last].value

    @pytest.mark.parametrize(("name", "absent", "present"), [
        ("wide-rtp-prefill", "tpot", "input_throughput"),
        ("h800-profile-decode", "ttft", "output_throughput"),
        ("s2-910b1-awq", "input_throughput", "e2e")])
    def test_a_pool_tells_what_it_has_an_answer_to(self, name, absent, present):
        """One that ends with the first token has no time per token, one that decodes no first."""
        told = estimated(name).reported
        assert absent not in told
        assert present in told

    @pytest.mark.parametrize(("name", "fits"), [
        ("s0-scenario-1", False), ("s1-plan-c", False), ("s2-910b1-awq", True)])
    def test_verdicts(self, name, fits):
        """What was measured fits; what the plans print does not load."""
        assert estimated(name).fits is fits

    def test_a_document_beside_us(self):
        answer = estimated("s0-scenario-1")
        weights = [row for row in answer.documented if row.quantity == "weights_per_device"]
        assert [round(row.printed / GB, 2) for row in weights] == [167.75, 20.97]
        assert [round(row.recomputed / GB, 2) for row in weights] == [167.75, 20.97]
        assert {round(row.derived / GB, 2) for row in weights} == {169.56}

    def test_what_is_counted_has_no_interval_and_what_is_assumed_has(self):
        answer = estimated("s2-910b1-awq").quantities
        assert answer["weights_per_device"].low == answer["weights_per_device"].high
        assert answer["tpot"].low < answer["tpot"].value < answer["tpot"].high

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_intervals_hold_eighty_percent(self, name):
        """Against sampling of the ranges, but for what jumps.

        Activations are the larger of two moments; the room of a card ends at its size; a prompt
        that comes back finds the step that follows under way, or the next, which moves its first
        token and its pace, though hardly their sum.
        """
        scenario = catalogue.load_scenario(name)
        inputs = scenario.inputs()
        found = self.sampled(scenario)
        jumps = {"activations_per_device", "usable_memory", "steady_ttft", "steady_tpot"}
        names = estimated(name).quantities.keys() - jumps
        for quantity, made in interval(inputs, scenario.knobs(), scenario.model.attention,
                                       names).items():
            low, high = made.ends
            if low < high and catalogue.symbols()[quantity].unit not in ("request", "block"):
                within = (found[quantity] >= low) & (found[quantity] <= high)
                assert 0.66 <= within.mean() <= 0.9, quantity

    def test_intervals_hold_eighty_percent_of_the_median_deployment(self):
        """And miss as many below as above, though values lean."""
        inside, below = ({quantity: [] for quantity in sorted(OWN)} for _ in range(2))
        for scenario in map(catalogue.load_scenario, catalogue.deployment_names()):
            lacking = {"ttft", "e2e"} if scenario.file.workload.output_tokens is None else set()
            found = self.sampled(scenario, 500)
            for quantity, made in interval(scenario.inputs(), scenario.knobs(),
                                           scenario.model.attention, OWN - lacking).items():
                low, high = made.ends
                inside[quantity].append(np.mean((found[quantity] >= low)
                                                & (found[quantity] <= high)))
                below[quantity].append(np.mean(found[quantity] < low))
        for quantity in inside:
            assert 0.77 <= np.median(inside[quantity]) <= 0.83, quantity
            assert 0.07 <= np.median(below[quantity]) <= 0.13, quantity

    @staticmethod
    def sampled(scenario, count=2_000):
        """Every quantity, with inputs drawn from their priors."""
        return leaning.sampled(scenario.inputs(), scenario.knobs(), scenario.model.attention, count)

    def test_the_formulas_own_error_widens_what_is_estimated(self):
        scenario = catalogue.load_scenario("s2-910b1-awq")
        inputs, stated = scenario.inputs(), calc.estimate(scenario).quantities
        for name in OWN:
            own = deviations(scenario)[name]
            low, high = interval(inputs, scenario.knobs(), "mla", [name])[name].ends
            assert max(own) > 0
            assert stated[name].high / stated[name].low > high / low

    def test_kinds_units_and_names(self):
        answer = estimated("s2-910b1-awq")
        kinds = {name: quantity.kind for name, quantity in answer.quantities.items()}
        exact = {"weights_per_device", "replicated_weights_per_device", "kv_bytes_per_token",
                 "kv_per_device"}
        assert {name for name, kind in kinds.items() if kind == "exact"} == exact
        assert (kinds["tpot_floor"], kinds["throughput_ceiling"]) == ("lower_bound", "upper_bound")
        assert {kinds[name] for name in OWN} == {"estimate"}
        assert kinds.keys() >= ANSWERED | exact | {
            "kv_blocks", "usable_memory", "memory_per_device", "headroom_per_device"}
        for name, quantity in answer.quantities.items():
            assert quantity.unit == catalogue.symbols()[name].unit

    def test_bottlenecks(self):
        def binds(name, *settings):
            return calc.estimate(catalogue.load_scenario(name, overrides=settings)).bottleneck

        # 4-bit weights are widened through L2
        assert binds("s2-910b1-awq")["decode"] == "l2_bandwidth"
        assert binds("s2-910b1-awq", "workload.concurrency=1")["decode"] == "fixed_costs"
        assert binds("h20-qwen3-8b")["prefill"] == "compute"
        assert binds("s2-910b1-awq", "device.l2_bandwidth=100 TB/s",
                     "device.memory_bandwidth=100 TB/s")["decode"] == "fixed_costs"
        assert estimated("s0-scenario-1").bottleneck == {
            "prefill": "memory_capacity", "decode": "memory_capacity"}

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_parts_of_a_chunk_sum_to_its_step(self, name):
        answer = estimated(name)
        assert sum(answer.parts["prefill_chunk"].values()) == pytest.approx(
            answer.everything["prefill_step_time"], rel=1e-9)

    @pytest.mark.parametrize(("spare", "fits"), [(10_000, True), (-10_000, False)])
    def test_it_fits_exactly_when_nothing_is_short(self, spare, fits):
        inputs, found = catalogue.load_scenario("s2-910b1-awq").inputs(), run("s2-910b1-awq")
        least = (found["memory_per_device"] / inputs["memory_utilization"]
                 + inputs["system_reserve"])
        answer = calc.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
            f"device.memory_capacity={round(least + spare)} B"]))
        assert answer.fits is fits
        headroom = answer.quantities["headroom_per_device"].central
        assert headroom == pytest.approx(spare * inputs["memory_utilization"], abs=2)
        assert (answer.spare >= 0) is fits
        assert (answer.quantities["max_concurrency"].central >= inputs["concurrency"]) is fits

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_what_no_input_makes_uncertain_is_called_exact(self, name):
        for quantity in estimated(name).quantities.values():
            assert quantity.kind != "exact" or quantity.low == quantity.high

    def test_counts_are_never_negative(self):
        scenario = catalogue.load_scenario("s2-910b1-awq", overrides=[
            "workload.context_tokens=150000"])
        most = calc.estimate(scenario).quantities["max_concurrency"]
        assert 0 <= most.low <= most.value <= most.high


SHORT = [
    ("s0-scenario-1", ()), ("s1-plan-c", ()), ("s0-scenario-1", ("precision=fp8-block",)),
    ("s2-910b1-awq", ("precision=fp8-block",)), ("s2-910b1-awq", ("workload.concurrency=300",)),
    ("s2-910b1-awq", ("workload.concurrency=3000",)), ("h200-r1-vllm-tp8", ("precision=bf16",)),
    ("s2-910b1-awq", ("workload.context_tokens=200000",)),
    ("h20-qwen3-8b", ("precision=mxfp4-w4a4", "model=deepseek-v3")),
]


class TestAdvice:
    """What does not run as asked is an answer, with what would run."""

    @pytest.mark.parametrize(("name", "settings"), SHORT)
    def test_every_change_runs_when_it_is_set(self, name, settings):
        scenario = catalogue.load_scenario(name, overrides=settings)
        answer = calc.estimate(scenario)
        assert answer.fits is False
        assert answer.nearest is not None
        for change in answer.changes:
            again = catalogue.load_scenario(name, overrides=[
                *settings, *(f"{key}={value}" for key, value in change.settings.items())])
            found = calc.estimate(again)
            assert found.fits, change.text["en"]
            assert again.devices == change.devices
            for quantity, value in change.quantities.items():
                assert found.everything[quantity] == pytest.approx(value, rel=1e-12)

    def test_what_fits_has_no_reasons_and_none_is_searched(self):
        answer = estimated("s2-910b1-awq")
        assert (answer.fits, answer.reasons, answer.changes) == (True, (), ())
        assert not {"reasons", "nearest", "alternatives"} & answer.as_json().keys()

    def test_by_how_much_it_is_short(self):
        answer = estimated("s0-scenario-1").as_json()
        (reason,) = answer["reasons"]
        assert reason["kind"] == "memory_capacity"
        assert reason["short"] == pytest.approx(126.75 * GB, rel=1e-3)
        assert reason["memory_per_device"] - reason["usable_memory"] == pytest.approx(
            reason["short"])
        assert "127 GB" in reason["text"]["en"]
        assert "127 GB" in reason["text"]["zh"]

    def test_a_dtype_that_the_card_lacks_is_an_answer(self):
        scenario = catalogue.load_scenario("s2-910b1-awq", overrides=["precision=fp8-block"])
        kinds = {reason.kind: reason for reason in calc.estimate(scenario).reasons}
        assert kinds["dtype"].numbers["classes"] == {
            "fp8": ["attention", "dense_mlp", "shared_expert", "routed_expert"]}
        assert "FP8" in kinds["dtype"].text["zh"]

    def test_with_enough_memory_only_the_precision_changes(self):
        """FP8 on a card without FP8, but with room: the nearest is INT8, cut as asked."""
        answer = calc.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
            "precision=fp8-block", "device.memory_capacity=200 GB"]))
        assert [reason.kind for reason in answer.reasons] == ["dtype"]
        assert answer.nearest.settings == {"precision": "w8a8-int8"}
        assert "memory_capacity" not in answer.bottleneck.values()

    def test_a_cut_comes_before_a_precision(self):
        """S1's plan leaves the routed experts whole on every replica; spread over all they fit."""
        answer = estimated("s1-plan-c")
        assert answer.nearest.settings == {"parallelism.expert_parallel": 32}
        assert answer.nearest.text["en"].endswith(", at central values.")  # a table has medians
        assert answer.nearest.text["zh"].endswith("（按中心值）。")

    def test_no_fewer_cards_do(self):
        """BF16 needs 32 of these cards: none of the cuts of 16 and 24 has room."""
        answer = estimated("s0-scenario-1")
        more = next(change for change in answer.changes if change.devices > 16)
        assert (more.devices, "precision" in more.settings) == (32, False)
        scenario = catalogue.load_scenario("s0-scenario-1")
        inputs = scenario.inputs()
        for devices in (16, 24):
            for cut in nearest.Search(scenario, calc.evaluate(inputs, "mla"))._by_distance(devices):
                degrees = dict(zip(nearest.DEGREES, cut.degrees, strict=True))
                assert calc.evaluate(inputs | degrees, "mla", decode=False)[
                    "headroom_per_device"] < 0

    def test_a_cut_is_what_a_scenario_accepts(self):
        scenario = catalogue.load_scenario("s0-scenario-1")
        for cut in nearest.Search(scenario, calc.evaluate(scenario.inputs(), "mla")).cuts:
            settings = [f"parallelism.{name}={size}"
                        for name, size in zip(nearest.DEGREES, cut.degrees, strict=True)]
            catalogue.load_scenario("s0-scenario-1", overrides=settings)

    def test_a_cut_through_a_block_is_never_advised(self):
        scenario = catalogue.load_scenario("h200-r1-vllm-tp8")
        search = nearest.Search(scenario, calc.evaluate(scenario.inputs(), "mla"))
        fp8, bf16 = (catalogue.load_precision(name) for name in ("fp8-block", "bf16"))
        room = search._grid([Cut(16, 1, 2), Cut(32)], [fp8, bf16])["headroom_per_device"]
        assert list((room > -np.inf).ravel()) == [True, False, True, True]

    def test_the_answer_is_the_same_every_time(self):
        scenario = catalogue.load_scenario("s0-scenario-1")
        assert calc.estimate(scenario).as_json() == calc.estimate(scenario).as_json()


@pytest.fixture(scope="module")
def calibrations(tmp_path_factory):
    """Every calibration of the repository, fitted afresh: name -> file."""
    folder, found = tmp_path_factory.mktemp("calibrations"), {}
    for name in ("s2-910b1-awq-tpot", "s2-other-engine-tpot"):
        source = library.locate("calibrations", name)
        fitted, _ = fit(library.load("calibrations", name))
        found[name] = folder / f"{name}.yml"
        found[name].write_text(with_fitted(source.read_text("utf-8"), fitted), encoding="utf-8")
    return found


class TestCalibrated:
    """What was fitted takes the place of the priors, inside and outside of its rows."""

    def estimate(self, path, *settings):
        scenario = catalogue.load_scenario("s2-910b1-awq", overrides=settings)
        return calc.estimate(scenario, apply(scenario, path))

    def test_inside_its_rows_it_is_as_sharp_as_its_noise(self, calibrations):
        answer = self.estimate(calibrations["s2-910b1-awq-tpot"])
        plain = estimated("s2-910b1-awq")
        tpot = answer.quantities["tpot"]
        assert answer.as_json()["calibration"]["outside"] == []
        assert tpot.value == pytest.approx(81.1e-3, rel=0.05)  # measured
        assert tpot.high / tpot.low < 1.15
        assert tpot.high / tpot.low < plain.quantities["tpot"].high / plain.quantities["tpot"].low
        e2e = answer.quantities["e2e"]
        assert e2e.low < e2e.value < e2e.high < 1.1 * e2e.value
        assert answer.quantities["weights_per_device"] == plain.quantities["weights_per_device"]
        assert all(each.low <= each.value <= each.high for each in answer.quantities.values())

    def test_it_is_what_validation_predicts(self, calibrations):
        """A row of the measured table, through the estimate and through the validation."""
        from calc.evidence.protocols import calibrate, predicted
        from calc.evidence.validation import calibrated_rows, calibrated_system

        chosen = library.load("calibrations", "s2-910b1-awq-tpot")
        system = calibrated_system(chosen.id)
        rows = calibrated_rows(system, chosen)
        made = calibrate(system, "tpot", chosen.mechanisms, rows)
        row = rows[7:8]
        centre, low, high = predicted(system.predict, "tpot", made, row)
        answer = self.estimate(calibrations[chosen.id], *(
            f"workload.{name}={int(system.rows[name][row[0]])}"
            for name in ("concurrency", "input_tokens", "output_tokens")))
        tpot = answer.quantities["tpot"]
        assert (tpot.value, tpot.low, tpot.high) == pytest.approx(
            (centre[0], low[0], high[0]), rel=1e-4)

    def test_outside_it_says_so_and_widens(self, calibrations):
        path = calibrations["s2-910b1-awq-tpot"]
        near = self.estimate(path, "workload.output_tokens=512", "workload.concurrency=8")
        far = self.estimate(path, "workload.output_tokens=16384", "workload.concurrency=8")
        outside = far.as_json()["calibration"]["outside"]
        assert outside == [{"quantity": "output_tokens", "value": 16384.0,
                            "fitted_range": [512.0, 512.0]}]

        def width(answer):
            return answer.quantities["tpot"].high / answer.quantities["tpot"].low

        assert near.applied.outside == ()
        assert width(far) > width(near)
        json.dumps(far.as_json(), allow_nan=False)

    def test_another_cut_or_model_is_outside(self, calibrations):
        path = calibrations["s2-910b1-awq-tpot"]
        cut = self.estimate(path, "parallelism.expert_parallel=8")
        assert [item.quantity for item in cut.applied.outside] == ["expert_parallel"]
        other = self.estimate(path, "model=kimi-k2")
        assert [item.quantity for item in other.applied.outside] == ["total_parameters"]

    @pytest.mark.parametrize(("settings", "says"), [
        (["device=ascend-910b2"], "of the device 'ascend-910b1'"),
        (["precision=w8a8-int8"], "of the precision 'w4a16-awq'"),
        (["precision.kv_cache=fp8"], "not of a changed one"),
    ])
    def test_another_device_or_precision_is_refused(self, calibrations, settings, says):
        scenario = catalogue.load_scenario("s2-910b1-awq", overrides=settings)
        with pytest.raises(catalogue.ParamsError, match=says):
            apply(scenario, calibrations["s2-910b1-awq-tpot"])

    def test_one_of_a_mechanism_that_is_not_there_is_refused(self):
        """Cards of the same kind that hold all experts: no host multiplies any."""
        scenario = catalogue.load_scenario("s3-eight-cards", overrides=[
            "device=ascend-910b4-1", "precision=w8a8-int4-cpu"])
        with pytest.raises(catalogue.ParamsError, match=r"^calibration 's3-hybrid-910b4-tpot': "
                           r"'s3-eight-cards' has no mechanism 'host_stream_efficiency'\.$"):
            apply(scenario, "s3-hybrid-910b4-tpot")

    def test_one_of_other_ranges_is_stale(self, calibrations, tmp_path):
        path = tmp_path / "stale.yml"
        text = calibrations["s2-910b1-awq-tpot"].read_text(encoding="utf-8")
        path.write_text(text.replace("values: {dequantisation_traffic: ",
                                     "values: {dequantisation_traffic: 1"), encoding="utf-8")
        with pytest.raises(catalogue.ParamsError, match="has changed since"):
            apply(catalogue.load_scenario("s2-910b1-awq"), path)

    @pytest.mark.parametrize("name", catalogue.names("calibrations"))
    def test_what_is_stored_is_what_is_fitted(self, name):
        chosen = library.load("calibrations", name)
        if chosen.fitted is not None:
            fitted, _ = fit(chosen)
            assert list(fitted.values.values()) == pytest.approx(
                list(chosen.fitted.values.values()), rel=1e-3)
            assert fitted.noise == pytest.approx(chosen.fitted.noise, rel=1e-3)

    def test_fitting_twice_gives_the_same_file(self, calibrations):
        for path in calibrations.values():
            fitted, _ = fit(library.load("calibrations", path))
            text = path.read_text(encoding="utf-8")
            assert with_fitted(text, fitted) == text
