"""Cards, links and servers: published facts, units of their rates, and likeness."""

import pytest
from _door import values

import catalogue

DEVICES = catalogue.names("devices")
CARD = "name: {en: c, zh: c}\nvendor: x\ntype: gpu\n"


@pytest.mark.parametrize("name", DEVICES)
def test_units_and_peaks_of_a_card(name):
    """Memory is binary, bandwidth decimal; peaks double as bits halve, but on a Gaudi 3."""
    card = catalogue.load_device(name)
    peaks, sparse = card.matrix_peak, card.sparse_peak
    if card.type != "host":
        assert card.memory_capacity.written.endswith(("GiB", "MiB"))
        assert card.memory_capacity.value % 2**20 == 0
    for value in filter(None, (card.memory_bandwidth, card.l2_bandwidth)):
        binary = value.value / 2**40
        assert abs(binary - round(binary, 2)) > 1e-6 * binary, value.written
    if peaks and peaks.bf16 and peaks.fp16:
        assert peaks.bf16.value == peaks.fp16.value
    for wide in filter(None, (peaks and peaks.bf16, peaks and peaks.fp16)):
        for narrow in filter(None, (peaks.fp8, peaks.fp4)):
            assert name == "intel-gaudi-3" or narrow.value >= 1.9 * wide.value
    for dtype in type(sparse).model_fields if sparse else ():
        if getattr(sparse, dtype) and getattr(peaks, dtype):
            assert 1.25 < getattr(sparse, dtype).value / getattr(peaks, dtype).value < 2.05, dtype


@pytest.mark.parametrize(("link", "count", "each"), [
    ("hccs-910b", 7, 28e9), ("nvlink-h20", 18, 25e9), ("nvlink-h800", 8, 25e9),
    ("nvlink-a100", 12, 25e9), ("nvlink-h100", 18, 25e9), ("nvlink-5", 18, 50e9)])
def test_a_link_states_one_direction_of_all_links_of_a_card(link, count, each):
    stated = catalogue.load_link(link)
    assert stated.device_bandwidth.value == count * each
    if stated.links_per_device:
        assert stated.links_per_device.value == count
    if stated.pair_bandwidth:
        assert stated.pair_bandwidth.value == each


def test_a_package_is_the_sum_of_its_dies():
    package, die = (catalogue.load_device(f"ascend-910c-{part}") for part in ("package", "die"))
    dies = package.dies.value
    assert package.die == die.id
    assert package.memory_capacity.value == dies * die.memory_capacity.value
    assert package.memory_bandwidth.value == dies * die.memory_bandwidth.value
    for dtype in ("bf16", "fp16", "int8"):
        assert getattr(package.matrix_peak, dtype).value == pytest.approx(
            dies * getattr(die.matrix_peak, dtype).value, rel=1e-3)


@pytest.mark.parametrize("name", catalogue.names("microbenchmarks"))
def test_no_measured_rate_exceeds_the_peak(name):
    measured = catalogue.load("microbenchmarks", name)
    card = catalogue.load_device(measured.device)
    for rate in measured.rates:
        share = rate.share(card)
        assert share is None or 0 < share <= 1, (rate.kernel, rate.dtype, rate.rows)
        if share is not None and rate.rate.value:
            assert share * rate.rate.high / rate.rate.value <= 1.03, (rate.kernel, rate.rows)


@pytest.fixture
def card(tmp_path):
    """Load a card of the reader's own."""
    def load(text: str, name: str = "card.yml"):
        (tmp_path / name).write_text(CARD + text, "utf-8")
        return catalogue.load_device(tmp_path / name)
    return load


def test_like_inherits_what_is_not_stated_and_null_removes_it(card):
    h20 = catalogue.load_device("nvidia-h20")
    mine = card("like: nvidia-h20\nprice: null\nmatrix_peak: {fp8: {value: 300 TFLOPS, "
                "source: a sheet, kind: vendor}}\n")
    assert mine.price is None
    assert (mine.matrix_peak.fp8.value, mine.matrix_peak.bf16.value) == (300e12, 148e12)
    assert mine.memory_bandwidth.value == h20.memory_bandwidth.value
    assert mine.memory_bandwidth.source == h20.memory_bandwidth.source
    assert not [value for _, value in values(mine) if value.kind == "documented"]
    further = card("like: card.yml\n", "further.yml")
    assert (further.price, further.matrix_peak.fp8.value) == (None, 300e12)
