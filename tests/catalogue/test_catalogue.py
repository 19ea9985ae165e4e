"""The catalogue: what it must hold, where its numbers come from, and the traps that it avoids."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from _door import values
from _plain import plain

import catalogue
from catalogue.library import KINDS
from catalogue.reading.errors import ParamsError
from catalogue.shipped import shortcomings

DEVICES = [
    "ascend-910a", "ascend-910b1", "ascend-910b2", "ascend-910b2c", "ascend-910b3",
    "ascend-910b4", "ascend-910b4-1", "ascend-910c-die", "ascend-910c-package", "ascend-950pr",
    "ascend-950pr-pcie", "ascend-950dt", "nvidia-vr200", "amd-mi455x", "nvidia-h20",
    "nvidia-h20-141gb", "nvidia-h100-sxm", "nvidia-h800", "nvidia-h200-sxm",
    "nvidia-a100-sxm-80gb", "nvidia-a800-sxm-80gb", "nvidia-b200", "nvidia-gb200",
    "nvidia-gb300", "nvidia-b300", "nvidia-rtx-pro-6000-server", "nvidia-l20", "nvidia-l40s",
    "nvidia-rtx-4090", "amd-mi300x", "amd-mi325x", "amd-mi350x", "amd-mi355x", "kunpeng-920",
    "intel-xeon-6454s", "intel-xeon-8480plus", "intel-xeon-6980p", "amd-epyc-9654",
]
MODELS = [
    "deepseek-v2-lite", "deepseek-v3", "deepseek-v3.1", "deepseek-v3.2", "kimi-k2",
    "qwen3-235b-a22b", "qwen3-30b-a3b", "glm-4.5", "gpt-oss-120b", "mixtral-8x7b",
    "llama-3.1-8b", "llama-3.1-70b", "qwen2.5-72b",
]
NODES = [
    "atlas-800t-a2", "atlas-800i-a2", "atlas-900-a3", "hgx-h20", "hgx-h100", "hgx-h200",
    "hgx-a100", "hgx-b200", "hgx-b300", "gb200-nvl72", "mi300x-8gpu", "mi325x-8gpu", "mi350x-8gpu",
    "mi355x-8gpu", "rtx-pro-6000-8gpu", "gaudi-3-8card", "tpu7x-4chip", "atlas-850", "atlas-850e",
    "atlas-950", "atlas-350-group", "vr200-nvl72", "helios",
]
ENTRIES = [(kind, name) for kind in KINDS for name in catalogue.names(kind)]
TEMPLATES = [("devices", "device"), ("models", "model"), ("scenarios", "scenario"),
             ("prices", "prices"), ("goals", "goal"), ("nodes", "node"), ("links", "link"),
             ("mechanisms", "mechanisms"), ("measurements", "measurements"),
             ("calibrations", "calibration")]
SCHEMAS = {kind: json.loads((catalogue.ROOT / "schema" / f"{kind}.json").read_text("utf-8"))
           for kind in KINDS}
GIB, TB = 2**30, 1e12


@cache
def editor(kind: str) -> jsonschema.protocols.Validator:
    """What checks files of a kind as an editor does; its schema is one."""
    checks = jsonschema.validators.validator_for(SCHEMAS[kind])
    checks.check_schema(SCHEMAS[kind])
    return checks(SCHEMAS[kind])


def as_an_editor_reads(path: Path) -> Any:
    """A file as YAML itself reads it; keys and dates are text, as in JSON."""
    return json.loads(json.dumps(plain(path.read_text("utf-8")), default=str))




def entry(kind: str, name: str) -> Any:
    """An entry; of a deployment, what its engine gives by default included."""
    return (catalogue.load_scenario(name).file if kind == "scenarios"
            else catalogue.load(kind, name))


@cache
def every() -> list[tuple[str, str, str, Any]]:
    """Every value of every entry, with its place."""
    return [(kind, name, path, value) for kind, name in ENTRIES
            for path, value in values(entry(kind, name))]


class TestWhatIsThere:
    @pytest.mark.parametrize(("kind", "wanted"), [
        ("devices", DEVICES), ("models", MODELS), ("nodes", NODES)])
    def test_every_entry_that_readers_ask_for(self, kind: str, wanted: list[str]) -> None:
        assert not set(wanted) - set(catalogue.names(kind))

    def test_every_accelerator_says_what_a_deployment_needs(self) -> None:
        for name in DEVICES:
            device = catalogue.load_device(name)
            if device.type != "host":
                assert device.matrix_peak is not None, name
                assert device.matrix_peak.fp16 is not None, name
                assert device.power is not None, name
                assert device.power.full is not None, name


class TestSchemas:
    """An editor checks a file against the schema that its first line names."""

    @pytest.mark.parametrize(("kind", "name"), ENTRIES)
    def test_every_file_keeps_its_schema(self, kind: str, name: str) -> None:
        editor(kind).validate(as_an_editor_reads(catalogue.ROOT / kind / f"{name}.yml"))

    @pytest.mark.parametrize(("kind", "name"), TEMPLATES)
    def test_a_template_loads_and_names_every_key(self, kind: str, name: str) -> None:
        path = catalogue.ROOT / "templates" / f"{name}.yml"
        text = path.read_text("utf-8")
        load = catalogue.load_scenario if kind == "scenarios" else catalogue.load
        load(path) if kind == "scenarios" else load(kind, path)
        editor(kind).validate(as_an_editor_reads(path))
        assert not [key for key in KINDS[kind].model_fields
                    if key != "id" and not re.search(rf"^(# )?{key}:", text, re.MULTILINE)]

    @pytest.mark.parametrize(("kind", "wrong"), [
        ("devices", {"memory_bandwith": "1.6 TB/s"}), ("devices", {"type": "fpga"}),
        ("devices", {"memory_capacity": {"value": "64 GiB", "kind": "guessed"}}),
        ("models", {"attention": "linear"}), ("links", {"name": {"en": "only English"}}),
    ])
    def test_what_is_wrong_is_marked(self, kind: str, wrong: dict[str, Any]) -> None:
        name = catalogue.names(kind)[0]
        data = as_an_editor_reads(catalogue.ROOT / kind / f"{name}.yml")
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data | wrong, SCHEMAS[kind])


class TestProvenance:
    """A number without a source that a reader can open is not in it."""

    @pytest.mark.parametrize(("kind", "name"), ENTRIES)
    def test_every_entry_says_what_one_of_the_catalogue_must(self, kind: str, name: str) -> None:
        """Listed sources, dates of what was stated, ranges of what is assumed; of models totals."""
        assert not [*shortcomings(kind, catalogue.ROOT / kind / f"{name}.yml", [entry(kind, name)])]

    def test_every_source_can_be_opened(self) -> None:
        assert not [key for key, entry in catalogue.sources().items() if "url" in entry
                    and not re.fullmatch(r"https://[^\s<>]+", entry["url"])]

    def test_only_the_documents_and_arithmetic_have_no_address(self) -> None:
        without = {key for key, entry in catalogue.sources().items() if "url" not in entry}
        assert without == {"s0", "s1", "s2", "s3", "arithmetic"}

    def test_every_source_is_cited(self) -> None:
        texts = [path.read_text("utf-8") for path in catalogue.ROOT.glob("*/**/*.yml")]
        cited = set(re.findall(r"source: ([\w.-]+)", "\n".join(texts)))
        assert not set(catalogue.sources()) - cited - {"s0", "s1", "s2", "s3", "arithmetic"}


class TestTraps:
    """The mix-ups that other catalogues make, each held to a fact."""

    def test_a_capacity_in_gb_is_not_one_in_gib(self) -> None:
        assert catalogue.units.parse("64 GiB", "B") / catalogue.units.parse("64 GB", "B") \
            == pytest.approx(1.0737, abs=1e-4)
        assert catalogue.load_device("ascend-910b2").memory_capacity.value == 64 * GIB

    def test_gigabits_are_an_eighth_of_gigabytes(self) -> None:
        assert catalogue.units.parse("400 Gb/s", "B/s") == catalogue.units.parse("50 GB/s", "B/s")
        assert catalogue.load_link("infiniband-400g").device_bandwidth.value == 400e9 / 8

    def test_tera_is_not_two_to_the_fortieth(self) -> None:
        bandwidth = catalogue.load_device("ascend-910b2").memory_bandwidth
        slips = [other.value / bandwidth.value for other in bandwidth.others
                 if other.value / bandwidth.value == pytest.approx(2**40 / 1e12, rel=1e-3)]
        assert bandwidth.value == 1.6 * TB
        assert slips, "the vendor's tool codes 1.6 x 1024^4"

    @pytest.mark.parametrize(("link", "one_way"), [
        ("hccs-910b", 196e9), ("nvlink-h20", 450e9), ("nvlink-h800", 200e9)])
    def test_a_link_counts_one_direction(self, link: str, one_way: float) -> None:
        bandwidth = catalogue.load_link(link).device_bandwidth
        assert bandwidth.value == one_way
        assert any(other.value == 2 * one_way for other in bandwidth.others), "as it is printed"

    @pytest.mark.parametrize(("link", "count", "each"), [
        ("nvlink-a100", 12, 25e9), ("nvlink-h100", 18, 25e9), ("nvlink-5", 18, 50e9)])
    def test_a_card_has_several_links(self, link: str, count: int, each: float) -> None:
        """The rate is that of all links of a card, one direction, not that of one link."""
        found = catalogue.load_link(link)
        assert found.links_per_device.value == count
        assert found.device_bandwidth.value == count * each

    def test_a_full_mesh_gives_a_pair_one_link(self) -> None:
        hccs = catalogue.load_link("hccs-910b")
        assert hccs.pair_bandwidth.value * hccs.links_per_device.value \
            == hccs.device_bandwidth.value

    @pytest.mark.parametrize(("kind", "text", "says"), [
        ("links", "name: {en: m, zh: m}\ntopology: full-mesh\n"
         "defaults: {source: a sheet, kind: vendor}\n"
         "device_bandwidth: 392 GB/s\npair_bandwidth: 28 GB/s\nlinks_per_device: 7\n",
         "of both directions"),
        ("devices", "like: nvidia-h20\nname: {en: c, zh: c}\nvendor: x\ntype: gpu\n"
         "matrix_peak: {fp8: {value: 592 TFLOPS, source: a sheet, kind: vendor}}\n"
         "sparse_peak: {fp8: {value: 296 TFLOPS, source: a sheet, kind: vendor}}\n",
         "are they exchanged"),
    ], ids=["both directions in a mesh", "exchanged sparse and dense peaks"])
    def test_rates_that_contradict_each_other_are_refused(
            self, tmp_path: Path, kind: str, text: str, says: str) -> None:
        path = tmp_path / "mine.yml"
        path.write_text(text)
        with pytest.raises(ParamsError, match=says):
            catalogue.load(kind, path)

    @pytest.mark.parametrize("name", [
        name for name in catalogue.names("devices") if catalogue.load_device(name).sparse_peak])
    def test_sparse_peaks_are_apart_and_about_twice_the_dense_ones(self, name: str) -> None:
        device = catalogue.load_device(name)
        for dtype in type(device.sparse_peak).model_fields:
            sparse = getattr(device.sparse_peak, dtype)
            dense = getattr(device.matrix_peak, dtype)
            if sparse and dense:
                assert 1.25 < sparse.value / dense.value < 2.05, dtype

    def test_a_package_is_its_dies(self) -> None:
        package, die = (catalogue.load_device(f"ascend-910c-{part}") for part in ("package", "die"))
        dies = package.dies.value
        assert package.die == die.id
        assert package.memory_capacity.value == dies * die.memory_capacity.value
        assert package.memory_bandwidth.value == dies * die.memory_bandwidth.value
        for dtype in ("bf16", "fp16", "int8"):
            assert getattr(package.matrix_peak, dtype).value == pytest.approx(
                dies * getattr(die.matrix_peak, dtype).value, rel=1e-3)

    def test_a_deployment_names_the_die(self) -> None:
        with pytest.raises(ParamsError, match="expected 'ascend-910c-die'"):
            catalogue.load_scenario("s0-scenario-1", device="ascend-910c-package")

    def test_the_headline_adds_units_that_the_matrix_peak_keeps_apart(self) -> None:
        for name in ("ascend-910b2", "ascend-910b3"):
            card = catalogue.load_device(name)
            both = card.matrix_peak.fp16.value + card.vector_peak.fp16.value
            assert card.headline_peak.fp16.value == pytest.approx(both, rel=2e-3)


class TestMicrobenchmarks:
    @pytest.mark.parametrize("name", catalogue.names("microbenchmarks"))
    def test_nothing_exceeds_what_the_device_has(self, name: str) -> None:
        measured = catalogue.load("microbenchmarks", name)
        device = catalogue.load_device(measured.device)
        for rate in measured.rates:
            share = rate.share(device)
            assert share is None or 0 < share <= 1, (rate.kernel, rate.dtype, rate.rows)
            if share is not None and rate.rate.value:
                assert share * rate.rate.high / rate.rate.value <= 1.03, (rate.kernel, rate.rows)

    @pytest.mark.parametrize(("text", "says"), [
        ("rates: [{kernel: copy, rate: 3 TFLOPS}]", "a rate of copy is a quantity in B/s"),
        ("rates: [{kernel: copy, rate: {value: 3 TB/s, range: [2 TFLOPS, 4 TFLOPS]}}]",
         "wrong unit, expected a quantity in B/s"),
        ("rates: [{kernel: copy, rate: 3 TB/s, samples: -4}]", "greater than or equal to 1"),
        ("rates: [{kernel: copy, rate: 3 TB/s}, {kernel: copy, rte: 3 TB/s}]", "'rates.1.rte'"),
        ("collectives: [{operation: send, ranks: 2, nodes: 3, bus_bandwidth: 1 GB/s}]",
         "'nodes' exceeds 'ranks'"),
        ("expert_exchange: [{phase: both, mode: normal, ranks: 1, tokens: 5, time: 1 ms}]",
         "'ranks' is at least 2"),
        ("expert_exchange: [{phase: both, mode: normal, ranks: 8, tokens: -5, time: 1 ms}]",
         "tokens: expected greater than or equal to 1"),
    ])
    def test_what_makes_no_sense_is_refused(self, tmp_path: Path, text: str, says: str) -> None:
        path = tmp_path / "kernels.yml"
        path.write_text("name: {en: k, zh: k}\ndefaults: {source: own tests, kind: measured}\n"
                        f"{text}\n")
        with pytest.raises(ParamsError, match=says) as caught:
            catalogue.load("microbenchmarks", path)
        assert "kernels.yml:3: " in str(caught.value)

    def test_what_a_device_points_to_is_there(self) -> None:
        named = {catalogue.load_device(name).microbenchmarks for name in catalogue.names("devices")}
        assert named - {None} == set(catalogue.names("microbenchmarks"))


class TestLikeness:
    def card(self, folder: Path, text: str) -> Any:
        path = folder / "card.yml"
        path.write_text("name: {en: c, zh: c}\nvendor: x\ntype: gpu\n" + text)
        return catalogue.load_device(path)

    def test_what_a_file_leaves_out_is_taken_from_the_other_card(self, tmp_path: Path) -> None:
        mine = self.card(tmp_path, "like: nvidia-h20\nmemory_capacity: {value: 141 GB, "
                                   "source: a sheet, kind: vendor}\n")
        theirs = catalogue.load_device("nvidia-h20")
        assert mine.memory_capacity.written == "141 GB"
        assert mine.memory_bandwidth.value == theirs.memory_bandwidth.value
        assert mine.memory_bandwidth.source == theirs.memory_bandwidth.source

    def test_groups_are_merged_and_null_takes_away(self, tmp_path: Path) -> None:
        mine = self.card(tmp_path, "like: nvidia-h20\nprice: null\nmatrix_peak: {fp8: "
                                   "{value: 300 TFLOPS, source: a sheet, kind: vendor}}\n")
        assert mine.price is None
        assert mine.matrix_peak.fp8.value == 300e12
        assert mine.matrix_peak.bf16.value == 148e12

    def test_what_documents_print_is_about_the_other_card_alone(self, tmp_path: Path) -> None:
        theirs = catalogue.load_device("nvidia-h20")
        assert any(value.kind == "documented" for _, value in values(theirs))
        mine = self.card(tmp_path, "like: nvidia-h20\n")
        assert not [path for path, value in values(mine) if value.kind == "documented"]

    def test_so_with_a_server_that_differs_from_another_in_its_network(self) -> None:
        mine, theirs = catalogue.load_node("hgx-h20-2x200g"), catalogue.load_node("hgx-h20")
        other = {name for name in type(mine).model_fields
                 if name not in ("id", "name", "note", "like", "power", "price")
                 and getattr(mine, name) != getattr(theirs, name)}
        assert other == {"network_link", "ports_per_node"}
        assert mine.price.cny == theirs.price.cny
        per_card = (catalogue.load_link(mine.network_link).device_bandwidth.value
                    * mine.ports_per_node.value / mine.devices_per_node.value)
        assert per_card == pytest.approx(6.25e9)  # S1, section 2.4.1: 2 × 200 Gb/s, 8 cards

    @pytest.mark.parametrize(("text", "says"), [
        ("like: card.yml\n", "in turn like this device"),
        ("like: nvidia-h21\n", "nearest names are nvidia-h20"),
        ("like: 7\n", "'like' is the name of a device"),
    ])
    def test_a_card_that_is_like_nothing_is_one_sentence(self, tmp_path: Path, text: str,
                                                         says: str) -> None:
        with pytest.raises(ParamsError, match=says) as caught:
            self.card(tmp_path, text)
        assert "card.yml:4" in str(caught.value)


    def test_what_was_taken_away_stays_away_in_a_card_like_that_one(self, tmp_path: Path) -> None:
        self.card(tmp_path, "like: nvidia-h20\nprice: null\nl2_cache: null\n"
                            "matrix_peak: {fp8: null}\n")
        mine = tmp_path / "mine.yml"
        mine.write_text("name: {en: c, zh: c}\nlike: card.yml\n")
        found = catalogue.load_device(mine)
        assert (found.price, found.l2_cache, found.matrix_peak.fp8) == (None, None, None)
        assert found.matrix_peak.bf16.value == 148e12

    def test_the_paths_of_the_other_card_are_found_from_its_folder(self, tmp_path: Path) -> None:
        (tmp_path / "base").mkdir()
        (tmp_path / "base" / "kernels.yml").write_text(
            "name: {en: k, zh: k}\nrates:\n- {kernel: copy, rate: "
            "{value: 3 TB/s, source: own tests, kind: measured, date: 2026}}\n")
        (tmp_path / "base" / "other.yml").write_text(
            "name: {en: o, zh: o}\nlike: nvidia-h20\nmicrobenchmarks: kernels.yml\n")
        mine = self.card(tmp_path, "like: base/other.yml\n")
        assert catalogue.load("microbenchmarks", mine.microbenchmarks).rates[0].rate.value == 3e12

    @pytest.mark.parametrize(("text", "line", "says"), [
        ("memory_bandwidth: {value: 3 TB, source: a sheet, kind: vendor}", 3, "wrong unit"),
        ("matrix_peak: 5 TFLOPS", 3, "matrix_peak: expected a group of keys"),
        ("power: [5 W]", 3, "power: expected a group of keys"), ("colour: red", 3, "unknown key"),
        ("id: red", 3, "'id'"),
        ("microbenchmarks: card.yml", 3, "'vendor' is no key of a file like those in"),
    ])
    def test_what_is_wrong_in_the_other_card_is_told_of_its_file(
            self, tmp_path: Path, text: str, line: int, says: str) -> None:
        (tmp_path / "other.yml").write_text(
            f"name: {{en: o, zh: o}}\nlike: nvidia-h20\n{text}\n")
        with pytest.raises(ParamsError, match=says) as caught:
            self.card(tmp_path, "like: other.yml\n")
        assert f"other.yml:{line}" in str(caught.value)

    def test_a_long_chain_is_refused(self, tmp_path: Path) -> None:
        for number in range(1, 1200):
            (tmp_path / f"c{number}.yml").write_text(
                f"name: {{en: c, zh: c}}\nlike: c{number - 1}.yml\n")
        (tmp_path / "c0.yml").write_text("name: {en: c, zh: c}\nlike: nvidia-h20\n")
        assert catalogue.load_device(tmp_path / "c9.yml").memory_capacity
        with pytest.raises(ParamsError, match="chain of more than 16"):
            catalogue.load_device(tmp_path / "c1199.yml")


class TestDocumentedValues:
    """A deployment can be computed with what its document states of the card."""

    def test_the_section_of_the_deployment_decides(self) -> None:
        device = catalogue.load_scenario("s0-scenario-1", documented=True).device
        assert device.memory_bandwidth.written == "1.2 TB/s"
        assert device.memory_bandwidth.kind == "documented"
        assert any(other.written == "1.6 TB/s" for other in device.memory_bandwidth.others)

    def test_the_three_bandwidths_of_one_card(self) -> None:
        bandwidth = catalogue.load_device("ascend-910b2").memory_bandwidth
        stated = {other.value for other in bandwidth.others
                  if other.kind == "documented" and other.source == "s0"}
        assert stated == {0.4 * TB, 1.2 * TB, 2.0 * TB}

    def test_a_deployment_of_no_document_has_nothing_to_take(self) -> None:
        with pytest.raises(ParamsError, match="in none of the documents"):
            catalogue.load_scenario(catalogue.ROOT / "templates" / "scenario.yml", documented=True)
