"""The answer for a deployment: form and intervals, verdict, parts, steady state, calibration."""

import functools
import json

import pytest
from _sampled import sampled as draws_of

import calc
import catalogue
from calc.answer.estimate import HEADROOM, kinds, part_count
from calc.answer.model_sizes import parameters_by_class
from calc.evidence.calibration import apply
from calc.evidence.systems import calibrated_system
from calc.evidence.validation import calibrated, calibrated_rows
from calc.uncertainty import EXACT, UPPER_BOUND, interval
from catalogue import library
from catalogue.reading.values import sources

GB = 10**9
AWQ, PLAN, FITTED = "s2-910b1-awq", "s0-scenario-1", "s2-910b1-awq-tpot"
MANY, CLOSED = "workload.concurrency=170", "workload.arrivals=closed-loop"
ANSWERED = {"weights_per_device", "kv_bytes_per_token", "activations_per_device",
            "free_for_kv_per_device", "max_concurrency", "tpot_floor", "throughput_ceiling", "ttft",
            "tpot", "e2e", "output_throughput"}
OWN = {"ttft", "tpot", "e2e", "output_throughput"}  # have an own error of the formulas
SAMPLE = ("h200-r1-sglang-tp8", PLAN, "s1-plan-c", "h200-r1-vllm-tp8", "h20-qwen3-8b",
          "kt-4090-v021", "h800-profile-decode", "wide-lmsys-decode", "wide-rtp-prefill",
          "wide-lmsys-prefill", "v4-flash-8xrtx-pro-6000", "r1-8x910b2-together")
UNCERTAIN = ("wide-rtp-decode", "h800-profile-decode", "wide-lmsys-decode", "kt-4090-v021")
DRAWS, NOISE = 600, 0.02  # the latter of a share of so many draws, its standard deviation


@functools.cache
def estimated(name, *settings):
    return calc.estimate(catalogue.load_scenario(name, overrides=settings))


@functools.cache
def sampled(name):
    """Every quantity, with inputs drawn from their priors."""
    scenario = catalogue.load_scenario(name)
    return draws_of(scenario.inputs(), scenario.knobs(), scenario.model.attention, DRAWS)


class TestForm:
    @pytest.mark.parametrize("name", SAMPLE)
    def test_quantities_and_parts(self, name):
        """What needs the length of prompts is absent where only the longest context is stated."""
        found, scenario = estimated(name), catalogue.load_scenario(name)
        answer = json.loads(json.dumps(found.as_json(), allow_nan=False))
        lacking = {"ttft", "e2e"} if scenario.file.workload.output_tokens is None else set()
        lacking |= found.unasked
        quantities = answer["quantities"]
        assert quantities.keys() >= ANSWERED - lacking
        assert not quantities.keys() & lacking
        for key, quantity in quantities.items():
            assert quantity["low"] <= quantity["value"] <= quantity["high"]
            assert quantity["unit"] == catalogue.symbols()[key].unit
            assert quantity["kind"] != "exact" or quantity["low"] == quantity["high"]
            assert (quantity["kind"] == "estimate") or key not in OWN
        for key in OWN & quantities.keys():
            own = quantities[key]["own_error"]
            assert own["inside"] <= own["rows"] >= own["systems"] > 0
        assert ("tpot" in answer["parts"]) is ("tpot" in quantities)
        assert sum(found.parts["tpot"].values()) == pytest.approx(
            found.quantities["tpot"].value, rel=1e-12)
        assert sum(found.parts["prefill_chunk"].values()) == pytest.approx(
            found.everything["prefill_step_time"], rel=1e-9)
        for first, last in (("ttft", "e2e"), ("steady_ttft", "steady_e2e")):
            if found.reported.keys() >= {first, last}:
                assert found.reported[first].value <= found.reported[last].value
        assert ({"reasons", "nearest", "alternatives"} <= answer.keys()) is not found.fits
        assert (found.nearest is None) is found.fits is (name not in (PLAN, "s1-plan-c"))

    @pytest.mark.parametrize(("name", "absent", "present"), [
        ("wide-rtp-prefill", "tpot", "input_throughput"), (AWQ, "input_throughput", "e2e"),
        ("h800-profile-decode", "ttft", "output_throughput")])
    def test_pool_reports_what_it_has_an_answer_to(self, name, absent, present):
        """One that ends with the first token has no time per token, one that decodes no first."""
        reported = estimated(name).reported
        assert absent not in reported
        assert present in reported

    @pytest.mark.parametrize(("changed", "token", "device"), [
        ({}, UPPER_BOUND, "estimate"), ({"full_attention_layers": 36}, EXACT, EXACT),
        ({"context_tokens": 128}, EXACT, EXACT), ({"window_blocks_freed": 0.0}, EXACT, EXACT),
        ({"context_tokens": 129}, UPPER_BOUND, "estimate"),
        ({"full_attention_layers": 36, "page_groups": 1.0}, EXACT, "estimate")])
    def test_cache_is_exact_unless_windows_free_blocks_or_a_state_has_some(
            self, changed, token, device):
        inputs = catalogue.model_inputs(catalogue.load_model("gpt-oss-120b"))
        found = kinds(inputs | {"context_tokens": 4096, "window_blocks_freed": 1.0,
                                **dict.fromkeys(("page_groups", "window_share", "state_share"),
                                                0.0)} | changed)
        assert (found["kv_bytes_per_token"], found["kv_per_device"]) == (token, device)

    def test_parameters_by_class(self):
        """Llama 3.1 8B, dense, and V3, of whose 61 layers 58 have experts."""
        found = parameters_by_class(catalogue.load_model("llama-3.1-8b"))
        assert {name: count for name, count in found.items() if count} == {
            "embedding": 128_256 * 4096, "head": 128_256 * 4096,
            "attention_divided": 32 * 2 * 4096**2, "attention_kv": 32 * 2 * 4096 * 1024,
            "norm": (2 * 32 + 1) * 4096, "dense_mlp": 32 * 3 * 4096 * 14_336}
        assert parameters_by_class(catalogue.load_model("deepseek-v3")).items() >= {
            "dense_mlp": 3 * 3 * 7168 * 18_432, "routed_expert": 58 * 256 * 3 * 7168 * 2048,
            "shared_expert": 58 * 3 * 7168 * 2048, "router": 58 * 256 * (7168 + 1)}.items()

    def test_documented_beside_derived(self):
        rows = [row for row in estimated(PLAN).documented
                if row.quantity == "weights_per_device"]
        assert [round(row.printed / GB, 2) for row in rows] == [167.75, 20.97]
        assert [round(row.recomputed / GB, 2) for row in rows] == [167.75, 20.97]
        assert {round(row.derived / GB, 2) for row in rows} == {169.56}
        parts = ("deployment", "replica", "device", "layer")
        assert [part_count(catalogue.load_scenario("s1-plan-c"), part) for part in parts] == [
            1, 4, 32, 61]


class TestVerdict:
    @pytest.mark.parametrize(("spare", "fits"), [(10_000, True), (-10_000, False)])
    def test_fits_exactly_when_nothing_is_short(self, spare, fits):
        scenario = catalogue.load_scenario(AWQ)
        inputs = scenario.inputs()
        found = calc.evaluate(inputs, "mla")
        least = found["memory_per_device"] / inputs["memory_utilization"] + inputs["system_reserve"]
        answer = estimated(AWQ, f"device.memory_capacity={round(least + spare)} B")
        assert answer.fits is fits
        assert answer.quantities[HEADROOM].value == pytest.approx(
            spare * inputs["memory_utilization"], abs=2)
        assert (answer.spare >= 0) is fits
        assert (answer.quantities["max_concurrency"].value >= inputs["concurrency"]) is fits

    def test_reasons_are_a_shortfall_or_a_format_that_the_engine_refuses(self):
        short, = estimated(PLAN).as_json()["reasons"]
        assert short["kind"] == "memory_capacity"
        assert short["short"] == pytest.approx(130.23 * GB, rel=1e-3)
        answer = estimated(AWQ, "precision=fp8-block", "device.memory_capacity=200 GB")
        lacks, = answer.reasons
        assert lacks.kind == "kernel"
        assert all(source in sources() for source in lacks.numbers["sources"])
        assert "memory_capacity" not in answer.bottleneck.values()

    @pytest.mark.parametrize(("name", "settings", "phase", "bound"), [
        (AWQ, (), "decode", "l2_bandwidth"),  # 4-bit weights are widened through L2
        (AWQ, ("workload.concurrency=1",), "decode", "fixed_costs"),
        ("h20-qwen3-8b", (), "prefill", "compute"),
        (PLAN, (), "decode", "memory_capacity"), (PLAN, (), "prefill", "memory_capacity")])
    def test_bottleneck(self, name, settings, phase, bound):
        assert estimated(name, *settings).bottleneck[phase] == bound

    @pytest.mark.parametrize(("settings", "suffices"), [
        ((), False), ((MANY,), False), ((MANY, CLOSED), True),
        ((MANY, "workload.length_distribution=exponential"), False),
        ((MANY, "workload.length_distribution=lognormal", "workload.length_variation=0.5"), True),
        (("workload.concurrency=600", CLOSED), False),
        ((MANY, CLOSED, "precision=fp8-block"), False)])
    def test_cache_may_suffice_on_average(self, settings, suffices):
        """Where requests differ or come one by one, and together take less than there is."""
        answer = estimated(AWQ, *settings)
        assert (answer.suffices_steadily, answer.fits) == (suffices, not settings)


class TestIntervals:
    @pytest.mark.parametrize("name", SAMPLE)
    def test_intervals_hold_eighty_percent_of_the_draws(self, name):
        """Against sampling of the ranges, but for what jumps.

        Activations are the larger of two moments; the room of a card ends at its size; a prompt
        that comes back finds the step that follows under way, or the next.
        """
        scenario, found = catalogue.load_scenario(name), sampled(name)
        jumps = {"activations_per_device", "usable_memory", "steady_ttft", "steady_tpot"}
        bounds = interval(scenario.inputs(), scenario.knobs(), scenario.model.attention,
                          estimated(name).quantities.keys() - jumps)
        for quantity, made in bounds.items():
            low, high = made.ends
            whole = catalogue.symbols()[quantity].unit in ("request", "block", "token")
            if low < high and not whole:
                within = (found[quantity] >= low) & (found[quantity] <= high)
                assert 0.66 - NOISE <= within.mean() <= 0.9 + NOISE, quantity

    @pytest.mark.parametrize("name", UNCERTAIN)
    def test_share_of_draws_that_fit(self, name):
        answer = estimated(name)
        headroom = answer.quantities[HEADROOM]
        assert headroom.low < 0 <= headroom.high
        assert answer.fits_in == pytest.approx(
            float((sampled(name)[HEADROOM] >= 0).mean()), abs=0.1)
        assert estimated(SAMPLE[0]).fits_in is estimated(PLAN).fits_in is None  # both are sure


class TestCalibrated:
    """What was fitted takes the place of the priors."""

    def estimate(self, *settings):
        scenario = catalogue.load_scenario(AWQ, overrides=settings)
        return calc.estimate(scenario, apply(scenario, FITTED))

    def test_inside_its_rows_it_is_as_sharp_as_its_noise(self):
        answer, plain = self.estimate(), estimated(AWQ).quantities
        tpot, e2e = answer.quantities["tpot"], answer.quantities["e2e"]
        assert answer.as_json()["calibration"]["outside"] == []
        assert tpot.value == pytest.approx(81.1e-3, rel=0.05)  # measured
        assert tpot.high / tpot.low < 1.15 < plain["tpot"].high / plain["tpot"].low
        assert e2e.low < e2e.value < e2e.high < 1.1 * e2e.value
        assert answer.quantities["weights_per_device"] == plain["weights_per_device"]
        assert all(each.low <= each.value <= each.high for each in answer.quantities.values())

    def test_estimate_equals_what_validation_predicts(self):
        chosen = library.load("calibrations", FITTED)
        system = calibrated_system(chosen.id)
        rows = calibrated_rows(system, chosen)
        row = rows[7:8]
        _, *points = calibrated(system, "tpot", chosen.mechanisms, 0.0, rows, row)
        answer = self.estimate(*(
            f"workload.{name}={int(system.rows[name][row[0]])}"
            for name in ("concurrency", "input_tokens", "output_tokens")))
        assert answer.quantities["tpot"].points == pytest.approx(
            [float(each[0]) for each in points], rel=1e-4)
