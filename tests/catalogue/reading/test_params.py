"""The door: what a parameter file may say, and the one sentence when it says something else."""

import os
from pathlib import Path

import pytest
from _door import DEVICE, sentence
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from catalogue import ParamsError, units
from catalogue.reading import files, words, yamlfile


@pytest.fixture
def device(tmp_path):
    """Write a device file, with replacements, and load it."""

    def load(*replacements: tuple[str, str]):
        text = DEVICE
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "card.yml"
        path.write_text(text, encoding="utf-8")
        return catalogue.load_device(path)

    return load


class TestUnits:
    """GB and GiB, bits and bytes, rates and amounts are never confused."""

    @pytest.mark.parametrize(("text", "unit", "value"), [
        ("64 GB", "B", 64_000_000_000),
        ("64 GiB", "B", 68_719_476_736),
        ("200 Gb/s", "B/s", 25_000_000_000),
        ("200 GB/s", "B/s", 200_000_000_000),
        ("353.9 TFLOPS", "FLOP/s", 353_900_000_000_000),
        ("707.8 TOPS", "FLOP/s", 707_800_000_000_000),
        ("22.8 ms", "s", 0.0228),
        ("5 us", "s", 5e-6),
        ("7 ns", "s", 7e-9),
        ("1 kWh", "J", 3_600_000),
        ("2 min", "s", 120),
        ("1 h", "s", 3600),
        ("1 KiB", "B", 2**10),
        ("1 MiB", "B", 2**20),
        ("1 TiB", "B", 2**40),
        ("1 PiB", "B", 2**50),
        ("1 PB", "B", 10**15),
        ("2.6 GHz", "Hz", 2_600_000_000),
        ("4096", "token", 4096),
        (0.5, "1", 0.5),
    ])
    def test_conversion_is_exact(self, text, unit, value):
        assert units.parse(text, unit) == value

    @pytest.mark.parametrize(("text", "meant"), [
        ("256 Gib", "GiB"), ("64 Gb", "GB"), ("64 Gbit", "GB"), ("8 bits", "B"), ("1 b", "B")])
    def test_an_amount_of_bytes_is_not_given_in_bits(self, text, meant):
        with pytest.raises(ValueError, match=f"'{text}' is in bits, did you mean {meant}\\?$"):
            units.parse(text, "B")

    @pytest.mark.parametrize(("text", "unit"), [
        ("400 GB", "B/s"), ("400 GB/s", "B"), ("3 token", "request"), ("3", "B"), ("3 W", "J"),
        ("64 mB", "B"), ("5 mtoken", "token"),
        ("1 USD", "CNY"), ("5 parsecs", "1"), ("nan", "1"), ("inf", "1"), ("1e999", "1"),
        ("1e400 B", "B"), ("__import__('os')", "1"), ("2**99 B", "B"), (True, "1"), ("", "1"),
        ("5 nan", "1"), ("5 dimensionless", "1"), ("1" * 5000, "1"), ("0." + "1" * 5000, "1"),
        ("٦٤ GiB", "B"), ("64 " + "B" * 90_000, "B"), ("64 " + "B/" * 20_000 + "B", "B"),
    ])
    def test_what_is_not_the_quantity_is_refused(self, text, unit):
        with pytest.raises(ValueError, match=r"^[^\n]{1,200}$"):
            units.parse(text, unit)

    @pytest.mark.parametrize("unit", ["", "s**2", "9**9**9**9", "((", "s/0", "s\n", "@", "nan"])
    def test_a_unit_is_one_of_the_registry(self, unit):
        with pytest.raises(ValueError, match="unknown unit"):
            units.dimensions(unit)

    @given(st.integers(1, 10**6), st.sampled_from(["kB", "MB", "GB", "TB", "KiB", "MiB", "GiB"]))
    def test_integral_bytes_stay_integers(self, number, unit):
        value = units.parse(f"{number} {unit}", "B")
        base, power = (1024, "KMGTP") if "i" in unit else (1000, "kMGTP")
        assert value == number * base ** (power.index(unit[0]) + 1)
        assert isinstance(value, int)


class TestBadFiles:
    """Bad input is one sentence with file and line."""

    @pytest.mark.parametrize(("old", "new", "line", "says"), [
        ("vendor: Nobody", "vendor: Nobody\ncolour: red", 4, "unknown key 'colour'"),
        ("memory_bandwidth:", "memory_bandwith:", 6, "did you mean 'memory_bandwidth'"),
        ("value: 1.6 TB/s", "value: 400 GB", 6, "wrong unit"),
        ("value: 1.6 TB/s", "value: -1.6 TB/s", 6, "out of range"),
        ("value: 1.6 TB/s", "value: .inf", 6, "finite"),
        ("value: 1.6 TB/s", "value: [1, 2]", 6, "expected a number"),
        ('source: "https://example.org/card", kind: vendor}\nhbm', "kind: vendor}\nhbm", 6,
         "source is missing"),
        ('source: "https://example.org/card", kind: vendor}\nhbm',
         "source: no-such-key, kind: vendor}\nhbm", 6, "not in params/sources/"),
        ('kind: vendor}\nhbm', "kind: hearsay}\nhbm", 6, "expected one of vendor"),
        ("range: [0.7, 0.9]", "range: [0.9, 0.95]", 7, "outside its range"),
        ("value: 0.8", "value: 1.8", 7, "at most 1"),
        ("range: [0.7, 0.9]", "range: [0.9, 0.7]", 7, "wrong way about"),
        ("range: [0.7, 0.9]", "range: [0.7, 0.75]", 7, "outside its range"),
        ("range: [0.7, 0.9]", "range: [0.7]", 7, "a pair [low, high]"),
        ("range: [0.7, 0.9]", "date: yesterday", 7, "not a date"),
        ("range: [0.7, 0.9]", "date: 2026-02-30", 7, "not a date"),
        ("range: [0.7, 0.9]", "date: ٢٠٢٦", 7, "not a date"),
        ("range: [0.7, 0.9]", "section: [1]", 7, "'section' is a number or a title"),
        ("range: [0.7, 0.9]", "note: {en: only}", 7, "both languages"),
        ("range: [0.7, 0.9]", "others: [{value: 0.5, source: s0, kind: measured},\n  "
         "{value: 5, source: s0, kind: measured}]", 8, "at most 1"),
        ("range: [0.7, 0.9]", "\n  rang: [0.7, 0.9]", 8, "unknown key 'rang'"),
        ("value: 1.6 TB/s", "value: 1e-300 B/s", 6, "expected 1e-30 to 1e+30 in SI units"),
        ("vendor: Nobody", "vendor: Nobody\n\"co\\nlour\": red", 4, "unknown key 'co\\nlour'"),
        ("vendor: Nobody", "vendor: \x01", 3, "control character"),
        ("1.6 TB/s", "1.6 B/s", 6, "expected 10 GB/s to 100 TB/s: is the unit right?"),
        ("1.6 TB/s", "1600 TB/s", 6, "is the unit right?"),
        ("range: [0.7, 0.9]", "date: 3026", 7, "from 1990 to 2099"),
        ("vendor: Nobody", r'vendor: "Nobody\e[2J"', 3, r"a control character (\x1b)"),
        ("vendor: Nobody", r'vendor: "Nobody\u202e"', 3, r"a control character (\u202e)"),
        ("vendor: Nobody", r'"ven\adr": Nobody', 3, r"a control character (\x07)"),
        ("vendor: Nobody", "vendor: 5", 3, "vendor: expected a text, found '5'"),
        ("vendor: Nobody", "vendor: x\npower: 300 W", 4, "power: expected a group of keys"),
        ("vendor: Nobody", "vendor: x\npower: {idle: {value: 9 W, source: a b, kind: vendor}, "
         "full: {value: 3 W, source: a b, kind: vendor}}", 4, "are they exchanged?"),
        ("vendor: Nobody", "vendor: x\ndefaults: {source: a b, kind: hearsay}", 4,
         "defaults.kind: the kind is 'hearsay'"),
        ("vendor: Nobody", "vendor: x\ndefaults: {}\ndies: {value: 2, source: a b, kind: vendor}"
         "\ndie: card.yml", 6, "is itself a package"),
        ("vendor: Nobody", "vendor: x\nmicrobenchmarks: ./card.yml", 4,
         "'vendor' is no key of a file like those in params/microbenchmarks/"),
        ("vendor: Nobody", "vendor: x\nmicrobenchmarks: ./", 4, "there is no such file"),
        ("range: [0.7, 0.9]", "others: [{value: 0.5, source: s0}]", 7, "kind is missing"),
        ("range: [0.7, 0.9]", "others: [{value: 5, source: s0, kind: measured}]", 7, "at most 1"),
        ("vendor: Nobody", "defaults: {source: s0, kind: documented}\nvendor: Nobody\ncores: "
         "{value: 4, source: s1}", 5, "kind is missing"),
        ("type: gpu", "type: toaster", 4, "toaster"),
        ("zh: 卡", "de: Karte", 2, "name"),
        ("vendor: Nobody", "vendor: Nobody\nvendor: Twice", 4, "given twice"),
        ("vendor: Nobody", "vendor: [", 5, "not valid YAML"),
        ("vendor: Nobody", "vendor: &a Nobody\nid: *a", 3, "aliases are not accepted"),
        ("vendor: Nobody", "vendor: Nobody\nid: mine", 4, "leave it out"),
        ("value: 0.8", "value: 0o10", 7, "not a quantity"),
        ("value: 0.8", "value: " + "9" * 5000, 7, "5000 digits"),
        ("vendor: Nobody", "vendor: !!python/object:os.system x", 3, "tag"),
    ])
    def test_one_sentence_with_file_and_line(self, device, old, new, line, says):
        message = sentence(device, (old, new))
        assert f"card.yml:{line}:" in message
        assert says in message

    @pytest.mark.parametrize("long", ["x" * 5000, "x y " * 1250, "卡" * 5000])
    @pytest.mark.parametrize(("old", "new"), [
        ("type: gpu", "type: {}"), ("vendor: Nobody", "{}: Nobody"), ("gpu", "gpu\nlike: {}"),
        ("kind: vendor}\nhbm", "kind: {}}}\nhbm"), ("1.6 TB/s", "{}"),
        ("vendor: Nobody", "'v': !{} v"), ("vendor: Nobody", "mechanisms: ./{}.yml"),
    ])
    def test_a_sentence_stays_one_whatever_it_repeats(self, device, old, new, long):
        assert len(sentence(device, (old, new.format(long)))) < 800

    def test_missing_key(self, device):
        assert "'hbm_efficiency' is missing" in sentence(device, ("hbm_efficiency", "l2_cache"),
                                                         ("value: 0.8", "value: 1 MB"),
                                                         (", range: [0.7, 0.9]", ""))

    def test_a_file_too_large_is_refused_unread(self, tmp_path):
        path = tmp_path / "large.yml"
        path.write_text("vendor: " + "x" * files.MAX_BYTES, encoding="utf-8")
        assert "larger than" in sentence(catalogue.load_device, path)

    @pytest.mark.parametrize(("kind", "name", "old", "new", "says"), [
        ("models", "deepseek-v3", "num_key_value_heads: 128", "num_key_value_heads: 7",
         "does not divide"),
        ("models", "deepseek-v3", "num_experts_per_tok: 8", "num_experts_per_tok: 800",
         "exceeds 'n_routed_experts'"),
        ("models", "deepseek-v3", "first_k_dense_replace: 3", "first_k_dense_replace: 99",
         "exceeds 'num_hidden_layers'"),
        ("models", "deepseek-v3", "kv_lora_rank: 512\n", "", "'kv_lora_rank' is missing"),
        ("models", "deepseek-v3", "n_routed_experts: 256\n", "", "'n_routed_experts' is missing"),
        ("models", "llama-3.1-70b", "attention: gqa", "attention: mamba", "mamba"),
        ("formats", "int4-group64", "group_size: 64", "group_size: 0", "'group_size' is 0"),
        ("formats", "int4-group64", "inputs: 64", "inputs: 32", "is no group of 64"),
        ("links", "hccs-910b", "topology: full-mesh", "topology: star", "star"),
        ("nodes", "atlas-800i-a2", "device_link: hccs-910b", "device_link: string", "no link"),
        ("precisions", "bf16", "router: bf16", "router: fp9", "there is no format 'fp9'"),
        ("measurements", "s2-910b1-awq", "[128, 512, 1, 0.340,", "[128, 512, 1,", "has 6 numbers"),
        ("measurements", "s2-910b1-awq", "[128, 512, 1, 0.340,", "[128, 512, 1, .nan,", "finite"),
        ("measurements", "s2-910b1-awq", "[128, 512, 1, 0.340,", "[128, 512, 1, -1,", "range"),
        ("measurements", "s2-910b1-awq", "source: s2", "source: s9", "not in params/sources/"),
        ("microbenchmarks", "nvidia-h20", "rows: [", "rows: [true, 5] # [", "a whole number"),
        ("microbenchmarks", "nvidia-h20", "rows: [", "rows: ['1', 5] # [", "a whole number"),
        ("microbenchmarks", "nvidia-h20", "rows: [", "rows: [8, 5] # [", "'rows' is a pair"),
        ("models", "llama-3.1-70b", "attention: gqa", "attention: gqa\nqk_norm: 1",
         "expected true or false"),
    ])
    def test_each_kind_has_its_rules(self, tmp_path, kind, name, old, new, says):
        text = (catalogue.ROOT / kind / f"{name}.yml").read_text(encoding="utf-8")
        assert old in text
        path = tmp_path / "changed.yml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        message = sentence(catalogue.load, kind, path)
        assert "changed.yml:" in message
        assert says in message

    @pytest.mark.parametrize("content", [
        b"\x00\xff\xfe", b"- a\n- b\n", b"", b"just text", b"[" * 100_000, b"a: " + b"[" * 900,
        b"a: 1\n" * 300_000, b"\x00",
    ])
    def test_what_is_not_a_parameter_file(self, tmp_path, content):
        path = tmp_path / "odd.yml"
        path.write_bytes(content)
        assert "odd.yml" in sentence(catalogue.load_device, path)

    def test_an_anchor_bomb_is_refused_at_once(self, tmp_path):
        levels = "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 30))
        path = tmp_path / "bomb.yml"
        path.write_text(f"l0: &l0 [lol]\n{levels}\n", encoding="utf-8")
        assert "aliases are not accepted" in sentence(yamlfile.read, path)

    @pytest.mark.parametrize("name", ["/nowhere/card.yml", "nowhere.yml", ".", "a\0b", "",
                                      "x" * 3000 + ".yml", "a\nb.yml"])
    def test_what_is_not_there(self, name):
        sentence(catalogue.load_device, name)

    def test_the_end_of_a_name_is_enough(self):
        assert catalogue.load_device("910B2").id == "ascend-910b2"
        assert "may be any of several" in sentence(catalogue.load_device, "910")

    def test_an_unknown_name_names_the_nearest(self):
        assert "ascend-910b2" in sentence(catalogue.load_device, "ascend-910b22")


class TestCatalogue:
    """Every number has a source that a reader can open, and says how sure it is."""

    def test_sources_can_be_opened(self):
        closed = [key for key, source in catalogue.sources().items()
                  if not str(source.get("url", "")).startswith("https://")]
        assert set(closed) <= {"s0", "s1", "s2", "s3", "arithmetic",
                               "assumption"}

    def test_file_names_are_identifiers(self):
        for path in catalogue.ROOT.rglob("*.yml"):
            stem = path.stem.replace(".", "")
            assert path.stem == path.stem.lower()
            assert stem.replace("-", "").isalnum(), path

    def test_asked_for_devices_and_models_are_there(self):
        assert set(catalogue.names("devices")) >= {
            "ascend-910b1", "ascend-910b2", "ascend-910b4", "nvidia-h20", "nvidia-h800",
            "kunpeng-920"}
        assert set(catalogue.names("models")) >= {"deepseek-v3", "s0-deepseek-r1"}
        assert any(not catalogue.load_model(name).is_moe for name in catalogue.names("models"))

    def test_an_fp8_latent_entry_takes_656_bytes(self):
        """512 elements of one byte with a 4-byte scale per 128, and 64 rotary ones of two."""
        latent = catalogue.load_format("fp8-latent128").bytes_per_element
        assert 512 * latent + 64 * catalogue.load_format("bf16").bytes_per_element == 656


def test_a_change_of_what_an_entry_is_like_is_seen(tmp_path):
    """An entry is remembered only while every file that it is made of stays as it is."""
    base, path = tmp_path / "base.yml", tmp_path / "card.yml"
    base.write_text(DEVICE, encoding="utf-8")
    path.write_text("like: ./base.yml\nname: {en: Mine, zh: 我的}\n", encoding="utf-8")
    before = catalogue.load_device(path)
    assert catalogue.load_device(path) is before
    base.write_text(DEVICE.replace("1.6 TB/s", "3.2 TB/s"), encoding="utf-8")
    after = catalogue.load_device(path)
    assert after.memory_bandwidth.value == 2 * before.memory_bandwidth.value
    base.unlink()
    with pytest.raises(ParamsError, match=r"like: .*base\.yml: there is no such file"):
        catalogue.load_device(path)


def test_files_that_are_taken_to_rest_are_looked_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(yamlfile, "AT_REST", 0)
    path = tmp_path / "card.yml"
    path.write_text(DEVICE, encoding="utf-8")
    with yamlfile.at_rest():
        before = catalogue.load_device(path)
        with yamlfile.at_rest():
            path.write_text(DEVICE.replace("1.6 TB/s", "3.2 TB/s"), encoding="utf-8")
        assert catalogue.load_device(path) is before
    assert catalogue.load_device(path).memory_bandwidth.value == 3.2e12


def test_a_file_at_rest_is_read_once_and_its_next_version_is_seen(tmp_path, monkeypatch):
    """Of the same length, and with the time of change that it had: the file system tells."""
    reads = []
    monkeypatch.setattr(yamlfile, "AT_REST", 0)
    monkeypatch.setattr(yamlfile, "read_small", lambda path, *rest: (
        reads.append(path), files.read_small(path, *rest))[1])
    path = tmp_path / "card.yml"
    path.write_text(DEVICE, encoding="utf-8")
    before = catalogue.load_device(path)
    read = len(reads)
    assert catalogue.load_device(path) is before
    assert len(reads) == read
    was = path.stat()
    while path.stat().st_ctime_ns == was.st_ctime_ns:
        path.write_text(DEVICE.replace("1.6 TB/s", "3.2 TB/s"), encoding="utf-8")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    after = catalogue.load_device(path)
    assert after.memory_bandwidth.value == 2 * before.memory_bandwidth.value


def test_a_file_that_was_just_written_is_read_again(tmp_path, monkeypatch):
    """Two versions of one length within a tick of the clock have the same stamp."""
    path = tmp_path / "card.yml"
    path.write_text(DEVICE, encoding="utf-8")
    before, now = catalogue.load_device(path), path.stat()
    path.write_text(DEVICE.replace("1.6 TB/s", "3.2 TB/s"), encoding="utf-8")
    monkeypatch.setattr(Path, "stat", lambda *_, **__: now)
    assert catalogue.load_device(path).memory_bandwidth.value == 2 * before.memory_bandwidth.value


def test_a_text_that_was_read_before_pages_were_made_is_hidden_on_them(tmp_path):
    path = tmp_path / "card.yml"
    path.write_text(DEVICE.replace("en: Card", 'en: "<b>"'), encoding="utf-8")
    assert "<b>" in catalogue.load_device(path).name["en"]
    with words.as_for_pages():
        assert "<b>" not in catalogue.load_device(path).name["en"]
    assert "<b>" in catalogue.load_device(path).name["en"]


def test_nothing_is_cached_across_files(tmp_path):
    """A changed file is seen: loading reads it again."""
    path = Path(tmp_path / "card.yml")
    path.write_text(DEVICE, encoding="utf-8")
    before = catalogue.load_device(path).memory_bandwidth.value
    path.write_text(DEVICE.replace("1.6 TB/s", "3.2 TB/s"), encoding="utf-8")
    assert catalogue.load_device(path).memory_bandwidth.value == 2 * before

    def test_a_listing_looks_at_each_folder_once_however_many_entries_it_has(self, monkeypatch):
        """Else ten thousand cards of a reader's own take the square of that."""
        scans = []
        glob = Path.glob
        monkeypatch.setattr(Path, "glob", lambda path, pattern: scans.append(path) or glob(
            path, pattern))
        for name in catalogue.names("devices"):
            catalogue.load_device(name)
        assert scans.count(catalogue.ROOT / "devices") == 1


def test_the_beginning_of_a_file_is_read_as_the_whole_up_to_its_last_key(tmp_path):
    path = tmp_path / "file.yml"
    path.write_text("a: 1\nb: {c: 2}\nd: *no\n", encoding="utf-8")
    assert yamlfile.beginning(path, "b").data == {"a": 1, "b": {"c": 2}}
    assert yamlfile.beginning(path, "b").where(("b", "c")).endswith("file.yml:2")
    for last in ("d", "none"):
        assert "anchors and aliases are not accepted" in sentence(yamlfile.beginning, path, last)


@pytest.mark.parametrize("rest", ["b: *c\n", "---\nb: 1\n", "b: [\n"])
def test_what_is_no_plain_yaml_is_told_before_what_a_file_says(rest, tmp_path):
    path = tmp_path / "file.yml"
    path.write_text(f"a: 1\na: 2\n{rest}", encoding="utf-8")
    assert "given twice" not in sentence(yamlfile.read, path)
