"""Mistakes of units and of catalogues, each as a test that catches it in ours.

Mistakes of formulas: ``test_traps.py``.
"""

import functools

import pytest
import sympy

import calc
import catalogue
from calc.physics.breakdown import CLASSES
from catalogue import units
from notebooks.derive.formulas import dimensions
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.symbols import sym

GIB, GB = 2**30, 10**9


class TestUnits:
    """What differs in kind is of another unit, and cannot be added or compared."""

    @pytest.mark.parametrize(("name", "mixed"), [
        ("output_throughput", sympy.Min(sym.output_throughput, sym.request_throughput)),
        ("input_throughput", sympy.Max(sym.request_throughput, sym.input_throughput)),
        ("throughput_ceiling", sympy.Min(sym.throughput_ceiling, sym.memory_bandwidth)),
    ])
    def test_sequences_and_tokens_per_second_in_one_minimum(self, name, mixed):
        with pytest.raises(DerivationError):
            dimensions.check(name, mixed)

    def test_money_and_milliseconds_under_one_name(self):
        money = sym.cost_per_million_output_tokens
        with pytest.raises(DerivationError):
            dimensions.check("tpot", sym.ttft + money)
        with pytest.raises(DerivationError):
            dimensions.check("cost_per_million_output_tokens", sym.tpot)
        for text, unit in (("3 USD", "s"), ("3 ms", "USD"), ("3 CNY", "USD"), ("3 USD/h", "USD")):
            with pytest.raises(ValueError, match=r"unit"):
                units.parse(text, unit)
        for name, symbol in catalogue.symbols().items():
            currency = any(part in symbol.unit for part in ("USD", "CNY"))
            assert currency == name.startswith(("cost", "price", "money")), name

    def test_gigabytes_for_gibibytes(self):
        """6.9% less: 64 GB is not 64 GiB."""
        assert units.parse("64 GiB", "B") == 64 * GIB
        assert units.parse("64 GB", "B") == 64 * GB
        assert 1 - units.parse("1 GB", "B") / units.parse("1 GiB", "B") == pytest.approx(0.0687,
                                                                                         abs=1e-4)

    def test_the_budget_starts_from_what_the_system_shows(self):
        """64 GiB less what the card keeps, times the engine's share: no unit on the way."""
        scenario = catalogue.load_scenario("s2-910b1-awq")
        inputs = scenario.inputs()
        assert inputs["memory_capacity"] == 64 * GIB
        usable = calc.evaluate(inputs, "mla")["usable_memory"]
        assert usable == (64 * GIB - inputs["system_reserve"]) * inputs["memory_utilization"]

    def test_tera_as_a_power_of_two(self):
        assert units.parse("1.6 TB/s", "B/s") == 1.6e12
        assert units.parse("1 TiB/s", "B/s") == 2**40
        assert units.parse("8 Gb/s", "B/s") == units.parse("1 GB/s", "B/s") == 1e9


@pytest.mark.parametrize("name", catalogue.names("devices"))
class TestCatalogue:
    """The same mistakes in what is written down about cards."""

    def test_memory_in_decimal_gigabytes(self, name):
        """An accelerator's memory is what its system shows: whole MiB, near whole GiB or below."""
        device = catalogue.load_device(name)
        if device.type != "host":
            assert device.memory_capacity.written.endswith(("GiB", "MiB"))
            assert device.memory_capacity.value % 2**20 == 0

    def test_tera_as_a_power_of_two(self, name):
        """No bandwidth that we use is a round number of 2^40: 1.6 x 1024^4 is 10% too much."""
        device = catalogue.load_device(name)
        for value in filter(None, (device.memory_bandwidth, device.l2_bandwidth)):
            binary = value.value / 2**40
            assert abs(binary - round(binary, 2)) > 1e-6 * binary, value.written

    def test_eight_bit_peak_labelled_sixteen_bit(self, name):
        """H20: 148 and 296. No device does as much densely as sparsely, and none but a Gaudi 3,
        whose engines take FP8 at the rate of BF16, as much in 16 bits as in FP8.
        """
        device = catalogue.load_device(name)
        peaks, sparse = device.matrix_peak, device.sparse_peak
        if peaks is None:
            return
        for wide in ("bf16", "fp16"):
            for narrow in ("fp8", "fp4"):
                two = getattr(peaks, wide), getattr(peaks, narrow)
                if all(two) and name != "intel-gaudi-3":
                    assert two[1].value >= 1.9 * two[0].value
        for dtype in type(peaks).model_fields if sparse else ():
            two = getattr(peaks, dtype), getattr(sparse, dtype)
            if all(two):
                assert two[1].value >= 1.25 * two[0].value  # NVFP4 of a B300: 18 and 14
        if peaks.bf16 and peaks.fp16:
            assert peaks.bf16.value == peaks.fp16.value

    def test_several_bandwidths_for_one_card(self, name):
        """One value; what others print stands beside it, with its own source."""
        device = catalogue.load_device(name)
        for other in device.memory_bandwidth.others:
            assert other.source
            assert not other.others
        stated = {inputs["memory_bandwidth"] for scenario, inputs in _deployments()
                  if scenario.device.id == name}
        assert stated <= {device.memory_bandwidth.value}


def test_h20_and_the_910b2_are_what_they_are():
    h20, b2 = catalogue.load_device("nvidia-h20"), catalogue.load_device("ascend-910b2")
    assert (h20.matrix_peak.bf16.value, h20.matrix_peak.fp8.value) == (148e12, 296e12)
    assert b2.matrix_peak.bf16.value == 353.9e12
    assert b2.matrix_peak.fp8 is None
    assert b2.memory_bandwidth.value == 1.6e12


def test_a_deployment_multiplies_at_the_peak_of_its_dtype():
    """Of whatever is stored: FP8 weights on a card without FP8 multiply at its 16-bit peak."""
    for scenario, inputs in _deployments():
        asked, peaks = scenario.precision.multiply, scenario.device.matrix_peak
        dtypes = asked.dtypes | {"index": asked.index or asked.core}
        for name in CLASSES:
            value = getattr(peaks, dtypes[name], None) or peaks.bf16 or peaks.fp16
            assert inputs[f"{name}_peak"] == value.value


@functools.cache
def _deployments():
    loaded = [catalogue.load_scenario(name) for name in catalogue.deployment_names()]
    return [(scenario, scenario.inputs()) for scenario in loaded]
