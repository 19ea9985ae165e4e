"""Priors of mechanisms: complete, sourced, in bounds, and near the micro-measurements."""

import math
import statistics

import pytest
from _door import values

import catalogue
from calc.physics.operators import operator_time
from catalogue.deployments.physics_inputs import latency, rule_of
from catalogue.entries.hardware import HOST, OPTIONAL, Mechanisms

NAMES, MICRO = catalogue.names("mechanisms"), catalogue.names("microbenchmarks")
WEIGHT_BYTES = {"bf16": 2.0, "int8": 1.0, "fp8": 1 + 4 / 128**2, "fp4": 0.5 + 1 / 16}
EACH, TYPICAL = 1.65, 1.4  # of a class of rows, and of the median over the classes of one kernel
# measured with scales per block, as the note of nvidia-blackwell says; the prior is of both
TOO_FAST = {("nvidia-blackwell", "fp8"): 1.9}
KERNELS = ("gemm", "grouped-gemm", "moe-block")
# of whose vector kernels no measurement is public, as the note of its host_gemm_efficiency says
UNMEASURED = {"host-kunpeng": {"host_vector_efficiency"}}
TILES = ("core_tile_rows", "sparse_tile_rows", "prefill_tile_rows")
BOUNDS = {  # a slip of units (ms for us) would be a factor of a thousand
    "kernel_boundary": (3e-7, 1e-5), "host_time_per_operator": (1e-6, 1e-4),
    "host_gap_per_step": (1e-4, 2e-2), "collective_alpha": (1e-6, 1e-4),
    "second_round_alpha": (1e-7, 1e-4), "pipelined_alpha": (3e-6, 3e-4),
    "network_alpha": (1e-6, 1e-3), "alpha": (1e-6, 1e-3), "host_sync": (1e-6, 1e-3),
    "request_overhead": (1e-3, 1e-1), "front_end_rate": (50, 2e4)}
# whose experts were measured: of the models on the H20, the one with experts of the middle size
EXPERTS_OF = {"nvidia-h20": "qwen3-235b-a22b"}
SIDE = (2**23 * 2**28) ** 0.25  # of the matrices measured, of 8.4 to 268 million weights


def of_micro(name):
    """A microbenchmark, its device, and the priors of that."""
    entry = catalogue.load("microbenchmarks", name)
    device = catalogue.load_device(entry.device)
    return entry, device, catalogue.load("mechanisms", device.mechanisms)


@pytest.mark.parametrize("name", NAMES)
def test_priors_are_complete_and_within_their_ranges(name):
    """Ranges hold the value inside; tiles and what a card lacks stand without one."""
    entry = catalogue.load("mechanisms", name)
    needed = set(HOST) if entry.is_host else (
        set(Mechanisms.model_fields) - {"id", "name", "note", "defaults", "like", *HOST}
        - (OPTIONAL - {"operators", "expert_load_overlap", "sliced_gemm_efficiency",
                       "sliced_streaming_efficiency"}))
    given = {key for key in Mechanisms.model_fields if getattr(entry, key) is not None}
    assert needed - given == UNMEASURED.get(name, set())
    assert not entry.is_host or given <= {"id", "name", "note", "defaults", *HOST}
    for path, value in values(entry):
        if ".others" not in path:
            assert value.note is not None, path
            exact = path.endswith(TILES) or not value.value
            assert value.low <= value.value <= value.high if exact else (
                value.low < value.value < value.high), path
        if "efficiency" in path:
            assert 0 < value.low <= value.high <= 1, path
        if bound := BOUNDS.get(path.rpartition(".")[2]):
            assert bound[0] <= value.low <= value.high <= bound[1], path
    if not entry.is_host:
        parts = entry.operators
        counted = sum(part.value for part in (
            parts.latent_attention, parts.routed_experts, parts.shared_expert))
        assert entry.operators_per_layer.low <= counted <= entry.operators_per_layer.high


def test_mechanisms_and_symbols_agree_on_units_and_limits():
    for name, symbol in catalogue.symbols().items():
        if rule := rule_of(Mechanisms, name):
            assert symbol.kind == "prior", name
            assert symbol.rule.unit == rule.unit, name  # of a request or not
            assert symbol.most == rule.maximum, name
            assert rule.exclusive or symbol.sign != "positive", name


def predicted(device, priors, rate):
    """Time per FLOP [s/FLOP] as a step charges it; the rows at the mean of their ends' logarithms.

    A matrix alone is charged for its weights: its rows depend on a shape that is not stated. What
    it takes whatever its rows is that of a square one of the middle size.
    Experts pay for the rows in and out, a whole block for the vector unit's share of them too.
    """
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
                               moved / (bandwidth * streaming.value), 1 - overlap.value))
    return (time + vector) / (2 * rows)


def ratios(name):
    """By kernel and dtype: measured medians over the rate that the priors predict [1].

    Weights narrower than what is multiplied are left out: these priors are of equal operands.
    """
    entry, device, priors = of_micro(name)
    found: dict[tuple[str, str], list[float]] = {}
    for rate in entry.rates:
        if rate.kernel in KERNELS and rate.weights is None and (rate.samples or 0) >= 3:
            rows = math.sqrt(rate.rows[0] * rate.rows[1])
            flops = 1 if rate.rate.unit == "FLOP/s" else 2 * rows / WEIGHT_BYTES[rate.dtype]
            found.setdefault((rate.kernel, rate.dtype), []).append(
                rate.rate.value * flops * predicted(device, priors, rate))
    return found


@pytest.mark.parametrize("name", MICRO)
def test_rates_of_matmuls_and_experts(name):
    """Every class of rows is met, the median over them closer; half an efficiency would show."""
    priors = of_micro(name)[2].id
    for (kernel, dtype), classes in ratios(name).items():
        bound = TOO_FAST.get((priors, dtype), EACH)
        assert all(1 / bound <= ratio <= bound for ratio in classes), (kernel, dtype, classes)
        if len(classes) >= 4 and (priors, dtype) not in TOO_FAST:
            assert 1 / TYPICAL <= statistics.median(classes) <= TYPICAL, (kernel, dtype, classes)
        if kernel == "moe-block":  # closest where the kernels are those of expert parallelism
            close = 1.2 if name == "ascend-910b" or dtype == "fp8" else TYPICAL
            assert all(1 / close <= ratio <= close for ratio in classes), (dtype, classes)
