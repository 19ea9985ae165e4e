"""Priors of a prediction: complete, sourced, in bounds, and true to the micro-measurements."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from _door import sentence, values

import catalogue
from calc.physics.timing.matmuls import operator_time
from catalogue.deployments.stand_ins import latency
from catalogue.entries.hardware import Device, Rate
from catalogue.entries.mechanisms import HOST, OPTIONAL, Mechanisms, ShareByDtype

NAMES = catalogue.names("mechanisms")
DEVICES = catalogue.names("devices")
ALL = [(name, path, value) for name in NAMES
       for path, value in values(catalogue.load("mechanisms", name))]
WEIGHT_BYTES = {"bf16": 2.0, "int8": 1.0, "fp8": 1 + 4 / 128**2, "fp4": 0.5 + 1 / 16}
EACH, TYPICAL = 1.65, 1.4  # of a class of rows, and of the median over the classes of one kernel
# measured with scales per block, as the note of nvidia-blackwell says; the prior is of both
TOO_FAST = {("nvidia-blackwell", "fp8"): 1.9}
KERNELS = ("gemm", "grouped-gemm", "moe-block")
# of whose vector kernels no measurement is public, as the note of its host_gemm_efficiency says
UNMEASURED = {"host-kunpeng": {"host_vector_efficiency"}}
TILES = ("core_tile_rows", "sparse_tile_rows", "prefill_tile_rows")


def mechanisms(device: Device) -> Mechanisms:
    """The priors of a device."""
    assert device.mechanisms is not None, device.id
    found: Mechanisms = catalogue.load("mechanisms", device.mechanisms)
    return found


class TestCompleteness:
    @pytest.mark.parametrize("name", DEVICES)
    def test_every_device_has_mechanisms_of_its_kind(self, name: str) -> None:
        device = catalogue.load_device(name)
        assert mechanisms(device).is_host == (device.type == "host")

    @pytest.mark.parametrize("name", DEVICES)
    def test_every_dtype_with_a_matrix_peak_has_efficiencies(self, name: str) -> None:
        device = catalogue.load_device(name)
        priors = mechanisms(device)
        if device.type == "host":
            return
        for dtype in ShareByDtype.model_fields:
            if getattr(device.matrix_peak, dtype) is not None:
                for table in (priors.gemm_efficiency, priors.grouped_gemm_efficiency):
                    assert getattr(table, dtype) is not None, dtype

    def test_every_accelerator_has_every_quantity(self) -> None:
        """The tile of experts only where it is another than that of any matmul; kernels that widen
        weights while they read them, or blocks in vector registers, what experts take besides
        loading and arithmetic, and a library's all-reduces, only where they are known.
        """
        for name in NAMES:
            entry = catalogue.load("mechanisms", name)
            expected = set(HOST) if entry.is_host else (
                set(Mechanisms.model_fields) - {"id", "name", "note", "defaults", "like", *HOST}
                - (OPTIONAL - {"operators", "expert_load_overlap", "sliced_gemm_efficiency",
                               "sliced_streaming_efficiency"}))
            lacking = {key for key in expected if getattr(entry, key) is None}
            assert lacking == UNMEASURED.get(name, set()), name

    def test_no_entry_is_unused(self) -> None:
        used = {catalogue.load_device(name).mechanisms for name in DEVICES}
        assert used == set(NAMES)


class TestValues:
    def test_every_value_lies_inside_its_range(self) -> None:
        """It is a median: other sources' figures, held against it, may lie at an end."""
        assert len(ALL) > 500
        assert not [f"{name} {path}" for name, path, value in ALL if ".others" not in path
                    and not path.endswith(TILES)
                    and not value.low < value.value < value.high and value.value]

    def test_slices_and_counts_lie_inside_their_ranges(self) -> None:
        """Whatever the value, it may turn out on either side."""
        assert not [f"{name} {path}" for name, path, value in ALL
                    if path.split(".")[0].startswith(("sliced", "expert_tile", "operators"))
                    and not value.low < value.value < value.high]

    def test_as_many_operators_are_counted_as_a_layer_has(self) -> None:
        """The counts lie within what engines launch for such a layer, fused or not."""
        for name in NAMES:
            entry = catalogue.load("mechanisms", name)
            if not entry.is_host:
                parts = entry.operators
                counted = sum(part.value for part in (
                    parts.latent_attention, parts.routed_experts, parts.shared_expert))
                layer = entry.operators_per_layer
                assert layer.low <= counted <= layer.high, name

    def test_every_prior_has_a_range_and_a_note(self) -> None:
        """Other sources' figures, mechanisms that a card lacks, and tiles, stand without.

        A kernel is written for its tile.
        """
        assert not [f"{name} {path}" for name, path, value in ALL if ".others" not in path
                    and (value.note is None or (value.low == value.high and value.value
                                                and not path.endswith(TILES)))]

    def test_efficiencies_are_shares(self) -> None:
        assert not [f"{name} {path}" for name, path, value in ALL if "efficiency" in path
                    and not 0 < value.low <= value.high <= 1]

    def test_every_source_is_listed(self) -> None:
        known = catalogue.sources()
        assert not [f"{name} {path}: {value.source}" for name, path, value in ALL
                    if value.source not in known]

    def test_nothing_rests_on_an_end_to_end_result(self) -> None:
        """A prior that a measured TPOT had set would be compared with itself."""
        served = {value.source for name in catalogue.names("measurements")
                  for _, value in values(catalogue.load("measurements", name))}
        configurations = {"deepseek-profile-data"}  # says how a profile was taken
        assert not [f"{name} {path}" for name, path, value in ALL
                    if value.source in served - configurations]

    def test_fixed_times_have_the_right_magnitude(self) -> None:
        """A slip of units (ms for us) would be a factor of a thousand."""
        bounds = {"kernel_boundary": (3e-7, 1e-5), "host_time_per_operator": (1e-6, 1e-4),
                  "host_gap_per_step": (1e-4, 2e-2), "collective_alpha": (1e-6, 1e-4),
                  "second_round_alpha": (1e-7, 1e-4), "pipelined_alpha": (3e-6, 3e-4),
                  "network_alpha": (1e-6, 1e-3), "alpha": (1e-6, 1e-3), "host_sync": (1e-6, 1e-3),
                  "request_overhead": (1e-3, 1e-1), "front_end_rate": (50, 2e4)}
        for name, path, value in ALL:
            if (bound := bounds.get(path.rpartition(".")[2])) is not None:
                assert bound[0] <= value.low <= value.high <= bound[1], (name, path)


# whose experts were measured: of the models on the H20, the one with experts of the middle size
SIDE = (2**23 * 2**28) ** 0.25  # of the matrices measured, of 8.4 to 268 million weights
EXPERTS_OF = {"nvidia-h20": "qwen3-235b-a22b"}


def predicted(device: Device, priors: Mechanisms, rate: Rate) -> float:
    """Time per FLOP [s/FLOP] as a step charges it; the rows at the mean of their ends' logarithms.

    A matrix alone is charged for its weights: its rows depend on a shape that is not stated. What
    it takes whatever its rows is that of a square one of the middle size.
    Experts pay for the rows in and out, a whole block for the vector unit's share of them too.
    """
    assert rate.dtype is not None
    rows = math.sqrt(rate.rows[0] * rate.rows[1])
    bandwidth, moved, vector = device.memory_bandwidth.value, WEIGHT_BYTES[rate.dtype], 0.0
    if rate.kernel == "gemm":
        table, streaming = priors.gemm_efficiency, device.hbm_efficiency
        overlap, tile = priors.load_overlap, priors.gemm_tile_rows
        vector = (latency(priors.matmul_latency, rate.dtype).value + priors.kernel_boundary.value
                  + SIDE * latency(priors.depth_latency, rate.dtype).value) / SIDE**2
    else:
        table, streaming = priors.grouped_gemm_efficiency, priors.expert_streaming_efficiency
        overlap = priors.expert_load_overlap
        tile = priors.expert_tile_rows or priors.gemm_tile_rows
        shape = catalogue.model_inputs(
            catalogue.load_model(EXPERTS_OF.get(priors.id, "deepseek-v3")))
        d, inside = shape["hidden_size"], shape["moe_intermediate_size"]
        in_and_out = 2 * rows * (2 * d + 3 * inside) / (3 * d * inside)
        moved += in_and_out
        if rate.kernel == "moe-block":
            vector = in_and_out / (bandwidth * device.hbm_efficiency.value)
    peak = getattr(device.matrix_peak, rate.dtype).value * getattr(table, rate.dtype).value
    time = float(operator_time(2 * max(tile.value, rows) / peak,
                               moved / (bandwidth * streaming.value), overlap.value))
    return (time + vector) / (2 * rows)


def ratios(name: str) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """By kernel and dtype: measured median over the rate that the priors predict [1].

    Weights narrower than what is multiplied are left out: these priors are of matmuls of equal
    operands.
    """
    entry = catalogue.load("microbenchmarks", name)
    device = catalogue.load_device(entry.device)
    priors = mechanisms(device)
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for rate in entry.rates:
        if (rate.kernel not in KERNELS or rate.weights is not None or (rate.samples or 0) < 3):
            continue
        rows = math.sqrt(rate.rows[0] * rate.rows[1])
        flops = 1 if rate.rate.unit == "FLOP/s" else 2 * rows / WEIGHT_BYTES[rate.dtype]
        found.setdefault((rate.kernel, rate.dtype), []).append(
            (str(rate.rows), rate.rate.value * flops * predicted(device, priors, rate)))
    return found


def predicted_of_slices(device: Device, priors: Mechanisms, rate: Rate) -> float:
    """Time per weight of experts of DeepSeek-V3 cut by eight [s], as a step charges it.

    The rows and the vector unit's share of them are in what was measured, and are charged besides.
    """
    shape = catalogue.model_inputs(catalogue.load_model("deepseek-v3"))
    d, inside = shape["hidden_size"], shape["moe_intermediate_size"] / 8
    rows, tile = math.sqrt(rate.rows[0] * rate.rows[1]), priors.expert_tile_rows
    least = (tile or priors.gemm_tile_rows).value
    peak = (getattr(device.matrix_peak, rate.dtype).value
            * getattr(priors.sliced_gemm_efficiency, rate.dtype).value)
    bandwidth, per_weight = device.memory_bandwidth.value, 2 * rows / (3 * d * inside)
    moved = WEIGHT_BYTES[rate.dtype] + per_weight * (2 * d + 3 * inside)
    vector = per_weight * (2 * d + 3 * inside) / (bandwidth * device.hbm_efficiency.value)
    return vector + float(operator_time(
        2 * max(least, rows) / peak, moved / (bandwidth * priors.sliced_streaming_efficiency.value),
        priors.load_overlap.value))


def priors_of(name: str) -> str:
    """The mechanisms of the device of a microbenchmark."""
    return mechanisms(catalogue.load_device(catalogue.load("microbenchmarks", name).device)).id


class TestAgainstMeasurements:
    """The fits, in the form in which a prediction uses them, against the digested medians."""

    @pytest.mark.parametrize("name", catalogue.names("microbenchmarks"))
    def test_every_class_of_rows_is_met(self, name: str) -> None:
        off = [(key, rows, round(ratio, 2)) for key, classes in ratios(name).items()
               for rows, ratio in classes
               if not 1 / TOO_FAST.get((priors_of(name), key[1]), EACH) <= ratio <= EACH]
        assert off == []

    def test_the_classes_together_are_met_closer(self) -> None:
        every = []
        for name in catalogue.names("microbenchmarks"):
            for key, classes in ratios(name).items():
                every += [ratio for _, ratio in classes]
                if len(classes) >= 4 and (priors_of(name), key[1]) not in TOO_FAST:
                    typical = statistics.median(ratio for _, ratio in classes)
                    assert 1 / TYPICAL <= typical <= TYPICAL, (name, key, typical)
        assert len(every) > 80
        assert 0.95 <= statistics.median(every) <= 1.1

    @pytest.mark.parametrize("name", ["nvidia-a100", "nvidia-b200", "nvidia-h100", "nvidia-h200"])
    def test_slices_of_experts_are_met(self, name: str) -> None:
        """Few rows in bytes over time, many in operations over time; medians over engines."""
        entry = catalogue.load("microbenchmarks", name)
        device = catalogue.load_device(entry.device)
        priors, checked = mechanisms(device), 0
        for rate in entry.rates:
            if rate.kernel != "sliced-moe-block":
                continue
            time = predicted_of_slices(device, priors, rate)
            rows = math.sqrt(rate.rows[0] * rate.rows[1])
            done = WEIGHT_BYTES[rate.dtype] if rate.rate.unit == "B/s" else 2 * rows
            ratio = rate.rate.value * time / done
            assert 1 / EACH <= ratio <= EACH, (name, rate.dtype, rate.rows, ratio)
            checked += 1
        assert checked >= 2

    @pytest.mark.parametrize("name", ["ascend-910b", "nvidia-a100", "nvidia-b200", "nvidia-gb200",
                                      "nvidia-h100", "nvidia-h200"])
    def test_whole_experts_are_charged_once(self, name: str) -> None:
        """Few rows and many: of what a block is charged, nothing is in a share as well.

        Closest where the kernels are those of expert parallelism; on one card engines differ.
        """
        blocks = {key: classes for key, classes in ratios(name).items() if key[0] == "moe-block"}
        assert blocks
        for (_, dtype), classes in blocks.items():
            bound = 1.2 if name == "ascend-910b" or dtype == "fp8" else TYPICAL
            for rows, ratio in classes:
                assert 1 / bound <= ratio <= bound, (name, dtype, rows, ratio)

    def test_the_check_can_fail(self) -> None:
        """Half the efficiency would be noticed."""
        for _, ratio in ratios("ascend-910b")["gemm", "bf16"][-4:]:
            assert ratio * 2 > EACH

    @pytest.mark.parametrize("name", ["ascend-910b", "nvidia-a100", "nvidia-b200", "nvidia-h100",
                                      "nvidia-h200"])
    def test_the_boundary_is_shorter_than_the_shortest_kernel(self, name: str) -> None:
        """Replayed in a graph, what is shortest contains a boundary and its own work.

        The range ends at the median of such kernels.
        """
        entry = catalogue.load("microbenchmarks", name)
        [shortest] = [item.time for item in entry.times if item.kernel == "graph-kernel-boundary"]
        boundary = mechanisms(catalogue.load_device(entry.device)).kernel_boundary
        assert boundary is not None
        assert boundary.value < shortest.low
        assert boundary.high <= shortest.value * 1.03

    @pytest.mark.parametrize("name", ["amd-mi300x", "ascend-910b", "nvidia-a100", "nvidia-h100",
                                      "nvidia-h200"])
    def test_collectives_of_large_messages_lie_in_the_range(self, name: str) -> None:
        """Bus bandwidth of all-reduces over eight; it exceeds the range where switches add."""
        entry = catalogue.load("microbenchmarks", name)
        links = {"amd-mi300x": "xgmi-mi300x", "ascend-910b": "hccs-910b",
                 "nvidia-a100": "nvlink-a100"}
        line = catalogue.load_link(links.get(name, "nvlink-h100")).device_bandwidth.value
        reached = [item.bus_bandwidth.value / line for item in entry.collectives
                   if item.operation == "all-reduce" and item.ranks == 8
                   and item.bus_bandwidth is not None]
        priors = mechanisms(catalogue.load_device(entry.device))
        efficiency, large = priors.collective_efficiency, priors.pipelined_efficiency
        assert efficiency is not None
        assert min(reached) >= efficiency.low
        most = max(each.high for each in (efficiency, large) if each is not None)
        assert name in ("nvidia-h100", "nvidia-h200") or max(reached) <= most

    @pytest.mark.parametrize(("name", "link"), [("nvidia-h100", "nvlink-h100"),
                                                ("nvidia-b200", "nvlink-5")])
    def test_low_latency_exchanges_are_met(self, name: str, link: str) -> None:
        """Dispatch and combine of one and of 128 tokens, to a third."""
        entry = catalogue.load("microbenchmarks", name)
        priors = mechanisms(catalogue.load_device(entry.device))
        assert priors.all_to_all is not None
        exchange = priors.all_to_all.low_latency.node
        rate = exchange.efficiency.value * catalogue.load_link(link).device_bandwidth.value
        row = {"fp8": 7168 + 4 * 56, "bf16": 2 * 7168}  # FP8 with a scale per 128
        checked = 0
        for item in entry.expert_exchange:
            if item.mode == "low-latency" and item.nodes == 1 and item.phase != "both":
                moved = item.tokens * 8 * row[item.dtype] * (1 - 1 / item.ranks)
                own = sum(each.value * count for each, count in (
                    (exchange.expert_time, 256), (exchange.token_time, item.tokens)) if each)
                ratio = item.time.value / (exchange.alpha.value + own + moved / rate)
                assert 0.67 < ratio < 1.5, (item.phase, item.tokens, ratio)
                checked += 1
        assert checked == 4


def file(tmp_path: Path, text: str) -> Path:
    """A reader's own file."""
    path = tmp_path / "own.yml"
    path.write_text(text, encoding="utf-8")
    return path


class TestLikeness:
    """``like`` works as for devices, also for groups inside groups."""

    BASE = 'name: {en: Mine, zh: 我的}\nlike: nvidia-hopper\n'

    def load(self, tmp_path: Path, own: str) -> Any:
        return catalogue.load("mechanisms", file(tmp_path, self.BASE + own))

    def test_what_is_left_out_is_inherited(self, tmp_path: Path) -> None:
        mine = self.load(tmp_path, "")
        base = catalogue.load("mechanisms", "nvidia-hopper")
        assert mine.gemm_efficiency == base.gemm_efficiency
        assert mine.all_to_all == base.all_to_all

    def test_a_value_deep_inside_is_replaced_alone(self, tmp_path: Path) -> None:
        mine = self.load(tmp_path, "all_to_all: {normal: {node: {alpha: {value: 50 us, "
                                   "range: [30 us, 90 us], source: my test, kind: measured}}}}\n")
        base = catalogue.load("mechanisms", "nvidia-hopper").all_to_all
        assert mine.all_to_all.normal.node.alpha.value == pytest.approx(5e-5)
        assert mine.all_to_all.normal.node.efficiency == base.normal.node.efficiency
        assert mine.all_to_all.low_latency == base.low_latency

    def test_null_takes_a_dtype_away(self, tmp_path: Path) -> None:
        own = "gemm_efficiency: {fp8: null}\ngrouped_gemm_efficiency: {fp8: null}\n"
        mine = self.load(tmp_path, own)
        assert mine.gemm_efficiency.fp8 is None
        assert mine.gemm_efficiency.bf16 is not None

    @pytest.mark.parametrize(("own", "said"), [
        ("gemm_efficiency: {fp8: null}\n", "'gemm_efficiency' lacks fp8"),
        ("grouped_gemm_efficiency: {fp8: null}\n", "'grouped_gemm_efficiency' lacks fp8"),
        ("kernel_boundary: null\n", "'kernel_boundary' is missing"),
        ("host_sync: {value: 30 us, source: my test, kind: assumed}\n",
         "no property of an accelerator"),
        ("mla_efficiency: {value: 1.2, source: my test, kind: assumed}\n", "at most 1"),
        ("kv_imbalance: {value: 0.9, source: my test, kind: assumed}\n", "at least 1"),
        ("kernel_bondary: {value: 1 us, source: my test, kind: assumed}\n",
         "did you mean 'kernel_boundary'"),
    ])
    def test_what_is_wrong_is_told(self, tmp_path: Path, own: str, said: str) -> None:
        assert said in sentence(catalogue.load, "mechanisms", file(tmp_path, self.BASE + own))

    def test_likeness_in_a_circle_is_refused(self, tmp_path: Path) -> None:
        path = file(tmp_path, 'name: {en: a, zh: b}\nlike: own.yml\n')
        assert "in turn like this mechanism" in sentence(catalogue.load, "mechanisms", path)

    def test_a_host_has_nothing_of_an_accelerator(self) -> None:
        for name in NAMES:
            entry = catalogue.load("mechanisms", name)
            if entry.is_host:
                given = {key for key in Mechanisms.model_fields if getattr(entry, key) is not None}
                assert given <= {"id", "name", "note", "defaults", *HOST}
