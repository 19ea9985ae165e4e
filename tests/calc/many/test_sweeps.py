"""Many deployments at once: equal to one at a time, slopes, intervals, streams."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import calc
import catalogue
from calc.closed_form.latencies import DECODE_NAMES, FAST, SERVED_NAMES, STEADY_NAMES
from calc.many.fronts import Best
from calc.many.streams import Histogram, grid, sampled, stream
from calc.many.sweeps import CHUNK, JointRange, _middle
from calc.uncertainty.gradient import slopes, traced
from calc.uncertainty.interval import interval

SCENARIOS = catalogue.deployment_names()
PRECISE = 1e-12
CARDS = (
    ("ascend-910b2", "atlas-800i-a2", "bf16"), ("nvidia-h200-sxm", "hgx-h200", "fp8-block"),
    ("nvidia-a100-sxm-80gb", "hgx-a100", "w4a16-awq"))


@cache
def cards():
    return [catalogue.load_scenario("s0-scenario-1", overrides=[
        f"device={device}", f"cluster.node={node}", f"precision={precision}"]).inputs()
        for device, node, precision in CARDS]


def mixed(rng, count):
    """Deployments whose card, precision, cut, mechanisms and workload differ."""
    card = rng.integers(0, len(CARDS), count)
    tensor, data = 2 ** rng.integers(0, 5, count), 2 ** rng.integers(0, 7, count)
    return {name: np.array([inputs[name] for inputs in cards()])[card] for name in cards()[0]} | {
        "tensor_parallel": tensor, "data_parallel": data,
        "pipeline_parallel": 2 ** rng.integers(0, 4, count),
        "expert_parallel": np.where(rng.random(count) < 0.5, 1, tensor * data),
        "concurrency": rng.integers(1, 4096, count),
        "input_tokens": rng.integers(1, 32_768, count),
        "output_tokens": rng.integers(1, 4096, count),
        "max_num_batched_tokens": 2 ** rng.integers(9, 16, count),
        "routing_skew": rng.choice([0.0, 0.5, 2.0], count),
        "balanced_placement": rng.integers(0, 2, count), "even_routing": rng.integers(0, 2, count),
        "draft_tokens": rng.integers(0, 3, count), "mtp_acceptance": rng.choice([0.7, 1.0], count),
        "acceptance_decay": rng.choice([0.8, 1.0], count),
        "micro_batches": rng.integers(1, 3, count), "separate_pools": rng.integers(0, 2, count),
        "prefill_together": rng.integers(0, 2, count), "captured": rng.integers(0, 2, count),
        "exchange_normal": rng.integers(0, 2, count),
        "offloaded_share": rng.choice([0.0, 0.9], count), "host_peak": np.full(count, 1e13),
        "fetched_share": rng.choice([0.0, 0.6], count),
        "device_hit_share": np.full(count, 0.7), "stored_share": np.full(count, 0.2),
        "host_hit_share": np.full(count, 0.9),
        "host_memory_bandwidth": np.full(count, 3e11), "host_link_bandwidth": np.full(count, 2e10),
    }


AXES = {"concurrency": [1, 16, 64, 256], "pipeline_parallel": [1, 2],
        "input_tokens": [128, 4096, 32_768]}


def row(inputs, i):
    return {name: value[i] if np.ndim(value) else value for name, value in inputs.items()}


class TestEqualToOneAtATime:
    """The fast paths are the formulas of evaluate() and no others."""

    @pytest.mark.parametrize("threads", [1, 2])
    def test_every_quantity_of_mixed_deployments(self, threads):
        inputs = mixed(np.random.default_rng(1), 2 * CHUNK + 100)
        names = SERVED_NAMES - {FAST} | STEADY_NAMES
        found = calc.decode_sweep(inputs, "mla", names, threads=threads)
        for i in (*range(40), CHUNK - 1, CHUNK, 2 * CHUNK + 99):
            alone = calc.evaluate(row(inputs, i), "mla")
            for name in names:
                assert found[name][i] == pytest.approx(alone[name], rel=PRECISE, abs=0), name

    def test_fewer_quantities_are_the_same_quantities(self):
        inputs = mixed(np.random.default_rng(2), 300)
        everything = calc.decode_sweep(inputs, "mla", SERVED_NAMES)
        for name, values in calc.decode_sweep(inputs, "mla", DECODE_NAMES).items():
            np.testing.assert_array_equal(values, everything[name])

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_every_scenario(self, name):
        scenario = catalogue.load_scenario(name)
        inputs, attention = scenario.inputs(), scenario.model.attention
        alone = calc.evaluate(inputs, attention)
        names = SERVED_NAMES | STEADY_NAMES
        found = calc.latency(inputs, attention, names)
        for quantity in names - {FAST}:
            assert np.ndim(found[quantity]) == 0
            assert found[quantity] == pytest.approx(alone[quantity], rel=PRECISE, abs=0), quantity

    def test_without_stalls_it_is_tpot_less_the_stall(self):
        found = calc.decode_sweep(mixed(np.random.default_rng(3), 500), "mla",
                                  [FAST, "tpot", "decode_stall"])
        np.testing.assert_allclose(found[FAST], found["tpot"] - found["decode_stall"], rtol=1e-9)
        assert (found["decode_stall"] > 0).any()

    def test_a_sweep_on_threads(self):
        inputs = mixed(np.random.default_rng(4), CHUNK + 10)
        one, two = (calc.sweep(inputs, "mla", ["tpot", "max_concurrency"], threads=threads)
                    for threads in (1, 2))
        np.testing.assert_equal(one, two)

    @pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
    def test_narrow_integers_do_not_wrap(self, dtype):
        inputs = cards()[0]
        shapes = {name: np.full(2, inputs[name], dtype=dtype) for name in (
            "hidden_size", "vocab_size", "n_routed_experts", "num_hidden_layers")}
        found = calc.decode_sweep(inputs | shapes, "mla")[FAST]
        assert (found == calc.latency(inputs, "mla")[FAST]).all()


class TestMisuse:
    """What is misspelt or misshapen is told."""

    def test_an_unknown_quantity(self):
        for name in ("weights_per_device", "latency"):
            with pytest.raises(ValueError, match=f"no quantity '{name}'"):
                calc.decode_sweep(mixed(np.random.default_rng(0), 3), "mla", [name])

    def test_no_closed_interval_of_a_steady_state(self):
        with pytest.raises(ValueError, match="no closed interval of 'steady_tpot'"):
            calc.interval_sweep(mixed(np.random.default_rng(0), 3), (), "mla", ["steady_tpot"])

    @pytest.mark.parametrize("function", [
        calc.decode_sweep, calc.latency,
        lambda inputs, attention: calc.interval_sweep(inputs, (), attention)])
    def test_an_unknown_or_missing_input(self, function):
        inputs = mixed(np.random.default_rng(0), 3)
        with pytest.raises(ValueError, match="not an input"):
            function(inputs | {"tensor_paralel": 8}, "mla")
        del inputs["block_size"]
        with pytest.raises(ValueError, match="block_size"):
            function(inputs, "mla")

    @pytest.mark.parametrize("changes", [
        {}, {"concurrency": np.ones((4, 5))},
        {"concurrency": np.ones(4), "input_tokens": np.ones(5)}])
    def test_arrays_of_one_length(self, changes):
        with pytest.raises(ValueError, match="arrays of one length"):
            calc.decode_sweep(cards()[0] | changes, "mla")


class TestSlopes:
    """Exact derivatives of the formulas as they are."""

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_against_differences(self, name):
        """Every mechanism of every scenario, beside what a small move of it does."""
        scenario = catalogue.load_scenario(name)
        inputs, attention = scenario.inputs(), scenario.model.attention
        knobs, quantities = scenario.knobs(), (FAST, "tpot", "ttft", "output_throughput")
        # off the values of the files, where a formula may have a kink
        middles = np.array([knob.at(0.0012345679) for knob in knobs])
        followed = traced(middles.tolist())
        found = calc.latency(inputs | {
            symbol: value for knob, value in zip(knobs, followed, strict=True)
            for symbol in knob.symbols}, attention, quantities)
        steps = 1e-6 * np.maximum(middles, 1e-9)
        # one row per end of each knob's move, all other knobs where they are
        moved = np.tile(middles, (2, len(knobs), 1)) + np.stack([-np.diag(steps), np.diag(steps)])
        ends = calc.latency(inputs | {
            symbol: moved[..., number].ravel() for number, knob in enumerate(knobs)
            for symbol in knob.symbols}, attention, quantities)
        for quantity in quantities:
            low, high = np.broadcast_to(ends[quantity], 2 * len(knobs)).reshape(2, -1)
            expected = (high - low) / (2 * steps) * middles / high
            for knob, value, slope, end, wanted in zip(
                    knobs, middles, slopes(found[quantity], followed), high, expected, strict=True):
                assert float(slope * value / end) == pytest.approx(wanted, abs=2e-6), (
                    quantity, knob.name)

    def test_of_arrays_each_has_its_own(self):
        x, y = traced([np.array([1.0, 2.0, 3.0]), 2.0])
        by_x, by_y = slopes(np.minimum(x, y) * y + np.where(x > 2.5, x**2, y), [x, y])
        np.testing.assert_allclose(by_x, [2, 2, 6])
        np.testing.assert_allclose(by_y, [2, 3, 4])

    def test_what_steps_has_no_slope(self):
        x, = traced([2.5])
        assert slopes(-(-x // 1.0), [x]) == [0.0]
        assert slopes(7.0, [x]) == [0.0]

    def test_what_has_no_rule_is_refused(self):
        x, = traced([2.5])
        with pytest.raises(TypeError):
            np.sin(x)
        with pytest.raises(TypeError):
            np.interp(x, [0, 1], [0, 1])

    @pytest.mark.parametrize(("at", "slope"), [(0.5, 1.0), (2.5, 0.0), (-0.5, 0.0)])
    def test_what_is_clipped_has_a_slope_between_its_bounds(self, at, slope):
        x, = traced([at])
        assert slopes(np.clip(x, 0, 1), [x]) == [slope]


class TestIntervals:
    """The interval from slopes beside the one from points, and beside sampling."""

    OWN = 0.2

    @classmethod
    @cache
    def both(cls, name):
        scenario = catalogue.load_scenario(name)
        inputs, attention, knobs = scenario.inputs(), scenario.model.attention, scenario.knobs()
        size = {"tpot": (cls.OWN, cls.OWN)}
        points = interval(inputs, knobs, attention, ["tpot"], size)["tpot"]
        column = inputs | {"concurrency": np.full(2, inputs["concurrency"])}
        found = calc.interval_sweep(column, JointRange.of(knobs), attention, ["tpot"], size)["tpot"]
        return scenario, points, [bound[0] for bound in found]

    @staticmethod
    def launched(scenario):
        """Whether its steps of decode are in no graph, so that the host launches each operator."""
        inputs = scenario.inputs()
        tokens = inputs["concurrency"] / inputs["data_parallel"] * (1 + inputs["draft_tokens"])
        return not inputs["captured"] or tokens > inputs["largest_graph"]

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_within_three_tenths_of_the_width_of_that_from_points(self, name):
        """A slope knows nothing of bends: what doubles a part adds more than halving it takes,
        and a host that launches each operator itself overtakes its card within its range."""
        scenario, points, (left, value, right) = self.both(name)
        width = np.log(points.high / points.low)
        ends, middle = (0.45, 0.3) if self.launched(scenario) else (0.3, 0.22)
        assert abs(np.log(left / points.low)) < ends * width
        assert abs(np.log(right / points.high)) < ends * width
        assert abs(np.log(value / points.value)) < middle * width

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_it_holds_about_eighty_percent(self, name):
        scenario, _, (left, _, right) = self.both(name)
        rng = np.random.default_rng(5)
        count = 4000
        drawn = {}
        for knob in scenario.knobs():
            drawn |= dict.fromkeys(knob.symbols, knob.at(rng.standard_normal(count)))
        found = calc.decode_sweep(scenario.inputs() | drawn, scenario.model.attention, ["tpot"])
        sample = found["tpot"] * np.exp(rng.normal(0, self.OWN, count))
        # to first order a load of 1 + x moves as far down as up, and a hit share that multiplies
        # the step by six over its range is not linear at all
        bent = scenario.inputs()["fetched_share"] or self.launched(scenario)
        least, most = (0.62, 0.9) if bent else (0.66, 0.86)
        assert least < np.mean((sample >= left) & (sample <= right)) < most

    def test_each_deployment_has_its_own_ranges(self):
        scenario = catalogue.load_scenario("s0-scenario-1")
        inputs = scenario.inputs() | {"concurrency": np.array([1.0, 64.0, 64.0])}
        share, gap = inputs["hbm_efficiency"], inputs["host_gap_per_step"]
        spreads = [JointRange(("hbm_efficiency",), np.array([0.8, 0.8, 1.0]) * share, share),
                   JointRange(("host_gap_per_step",), 0.0, np.array([0.0, 0.0, 2 * gap]))]
        together = calc.interval_sweep(inputs, spreads, "mla")[FAST]
        for i in range(3):
            one = [JointRange(spread.symbols, *(np.broadcast_to(end, 3)[i:i + 1] for end in (
                spread.low, spread.high))) for spread in spreads]
            alone = calc.interval_sweep(inputs | {
                "concurrency": inputs["concurrency"][i:i + 1]}, one, "mla")[FAST]
            np.testing.assert_allclose([bound[i] for bound in together],
                                       [bound[0] for bound in alone], rtol=PRECISE)

    def test_one_range_moves_a_time_as_it_is_wide(self):
        """A step that is nearly all dequantisation takes the inverse of the bandwidth for it."""
        inputs = cards()[0] | {"concurrency": np.ones(1), "attention_dequantised": 1.0,
                               "dequantisation_traffic": 1e9, "l2_bandwidth": 1e12}
        spread = JointRange(("l2_bandwidth",), 0.8e12, 1.25e12)
        low, value, high = (bound[0] for bound in calc.interval_sweep(
            inputs, [spread], "mla")[FAST])
        half = np.log(1.25)
        assert np.log(high / value) == pytest.approx(half, rel=1e-6)
        assert np.log(value / low) == pytest.approx(half, rel=1e-6)

    def test_without_ranges_it_is_a_point(self):
        low, value, high = calc.interval_sweep(mixed(np.random.default_rng(6), 50), (), "mla")[FAST]
        np.testing.assert_array_equal(low, value)
        np.testing.assert_array_equal(high, value)


class TestStreams:
    """Any number of deployments, batch by batch."""

    def test_a_grid_has_every_combination_once(self):
        batches = list(grid(cards()[0], AXES, size=7))
        rows = [tuple(batch[name][i] for name in AXES) for batch in batches
                for i in range(len(batch["concurrency"]))]
        assert [len(batch["concurrency"]) for batch in batches] == [7, 7, 7, 3]
        assert len(set(rows)) == len(rows) == 24
        assert rows == sorted(rows)

    def test_the_best_and_the_histogram_are_those_of_all_at_once(self):
        whole, = grid(cards()[0], AXES)
        found = calc.decode_sweep(whole, "mla")[FAST]
        best, counted = Best(FAST, 5), Histogram(FAST, np.geomspace(1e-4, 1e2, 13))
        for batch, some in stream(grid(cards()[0], AXES, size=7), "mla"):
            best.add({name: batch[name] for name in AXES} | some)
            counted.add(batch, some)
        order = np.argsort(found, kind="stable")[:5]
        np.testing.assert_array_equal(best.rows[FAST], found[order])
        for name in AXES:
            np.testing.assert_array_equal(best.rows[name], whole[name][order])
        np.testing.assert_array_equal(counted.counts, np.histogram(found, counted.edges)[0])
        assert counted.counts.sum() == 24

    def test_a_sample_is_that_of_seed_0_unless_told(self):
        def draw(rng, count):
            return {"x": rng.random(count)}

        usual, told, other = ([batch["x"].tolist() for batch in sampled(draw, 5, *seed, size=3)]
                              for seed in ((), (0,), (1,)))
        assert usual == told != other
        assert [len(batch) for batch in usual] == [3, 2]

    def test_a_sample_is_the_same_for_the_same_seed(self):
        one, again, other = (np.concatenate([found[FAST] for _, found in stream(
            sampled(mixed, 250, seed, size=100), "mla")]) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, again)
        assert len(one) == 250
        assert len(set(one) & set(other)) < 5

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
    def test_memory_does_not_grow_with_the_number(self):
        peaks = [int(subprocess.run(
            [sys.executable, "-c", "from benchmarks.latency import stream; "
             f"print(stream({count})['peak'])"], cwd=Path(__file__).resolve().parents[3],
            check=True, capture_output=True, text=True).stdout) for count in (300_000, 1_000_000)]
        assert peaks[1] < 1.2 * peaks[0]
        assert peaks[1] < 2**30


def test_the_middle_of_a_range_is_geometric_unless_it_begins_at_nothing():
    assert _middle(np.array([0.0, 1.0, 2.0]), np.array([5.0, 4.0, 2.0])).tolist() == [2.5, 2, 2]
