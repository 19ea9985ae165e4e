"""Shipped data: every entry loads, is complete and sourced, and its links resolve."""

import json
import re
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from _door import values
from _plain import plain

import catalogue
from catalogue import library, shipped
from catalogue.entries.hardware import OptionalInputs
from catalogue.kinds import KINDS, class_of
from catalogue.reading.values import both_languages, source_keys, stands_on
from catalogue.schemas import exported
from catalogue.shipped import first_line, shortcomings

ROOT = catalogue.ROOT
LARGE = ("devices", "models", "scenarios")  # kinds whose entries are cases of their own
ENTRIES = [pytest.param(kind, names, id="-".join([kind, *names[:len(names) == 1]]))
           for kind in KINDS for names in (
               [[name] for name in catalogue.names(kind)] if kind in LARGE
               else [catalogue.names(kind)])]
TEMPLATES = [("devices", "device"), ("models", "model"), ("scenarios", "scenario"),
             ("prices", "prices"), ("goals", "goal"), ("nodes", "node"), ("links", "link"),
             ("mechanisms", "mechanisms"), ("measurements", "measurements"),
             ("calibrations", "calibration")]
UNSOURCED = {"s0", "s1", "s2", "s3", "arithmetic", "usual"}  # without an address
INCOMPLETE = [  # what a card is changed to, and what keeps it out of the catalogue
    ("data sheet, kind: vendor, date: 2024",
     "4: 'data sheet' are words, expected a key of params/sources/, where its address stands."),
    ("arithmetic, kind: vendor",
     "4: memory_bandwidth: a vendor value has no date, expected one here or at its source."),
    ("s1, kind: documented", "4: memory_bandwidth: the section of the document is missing."),
    ("arithmetic, kind: assumed", "4: memory_bandwidth: an assumed value has no range.")]


@cache
def editor(kind: str) -> Any:
    """Checks files of a kind as an editor does, by its schema."""
    schema = exported(kind)
    checks = jsonschema.validators.validator_for(schema)
    checks.check_schema(schema)
    return checks(schema)


def as_an_editor_reads(path: Path) -> Any:
    """A file as YAML itself reads it; keys and dates are text, as in JSON."""
    return json.loads(json.dumps(plain(path.read_text("utf-8")), default=str))


@pytest.mark.parametrize(("kind", "names"), ENTRIES)
def test_entries_load_match_their_schema_and_have_sources(kind, names):
    for number, name in enumerate(names):
        path = library.file_of(kind, name)
        entry = (catalogue.load_deployment(name)[-1].file if kind == "scenarios"
                 else catalogue.load(kind, name))
        if number < 4:  # a schema is slow, and made of the class that has loaded all of them
            editor(kind).validate(as_an_editor_reads(path))
        assert list(shortcomings(kind, path, [entry])) == []


@pytest.mark.parametrize(("kind", "name"), TEMPLATES)
def test_template_loads_and_lists_every_key(kind, name):
    path = ROOT / "templates" / f"{name}.yml"
    if kind == "scenarios":
        catalogue.load_scenario(path)
    else:
        catalogue.load(kind, path)
    editor(kind).validate(as_an_editor_reads(path))
    text = path.read_text("utf-8")
    optional = {"id", *(OptionalInputs.model_fields if kind == "mechanisms" else ())}
    assert not [key for key in class_of(kind).model_fields
                if key not in optional and not re.search(rf"^(# )?{key}:", text, re.MULTILINE)]


@pytest.mark.parametrize(("kind", "wrong"), [
    ("devices", {"memory_bandwith": "1.6 TB/s"}), ("devices", {"type": "fpga"}),
    ("devices", {"memory_capacity": {"value": "64 GiB", "kind": "guessed"}}),
    ("models", {"attention": "linear"}), ("links", {"name": {"de": "only German"}})])
def test_schema_rejects_what_is_wrong(kind, wrong):
    data = as_an_editor_reads(ROOT / kind / f"{catalogue.names(kind)[0]}.yml")
    with pytest.raises(jsonschema.ValidationError):
        editor(kind).validate(data | wrong)


@pytest.mark.parametrize(("kind", "short"), [
    ("scenarios", {"cluster": 16}), ("scenarios", {"title": "Mine", "note": "Ours."}),
    ("scenarios", {"limits": {"ttft": "2 s", "tpot": "p90 30 tok/s", "e2e": {"p99": "1 min"}}}),
    ("scenarios", {"limits": {"ttft": "2 s"}, "mechanisms": {"prefix_hit_share": "90%"}}),
    ("goals", {"cards": 8}), ("goals", {"devices": "nvidia-h20"}), ("goals", {"devices": "any"}),
    ("goals", {"devices": ["nvidia-h20", {"device": "nvidia-h200"}]}),
    ("goals", {"engines": "vllm", "precisions": "fp8-block"}),
    ("goals", {"limits": {"ttft": "p90 2 s", "tpot": {"p99": "60 ms"}, "cost": 1.5}}),
    ("devices", {"name": "Mine", "memory_capacity": "64 GiB", "price": {"usd": "15000 USD"}})])
def test_schema_accepts_the_short_forms_that_files_may_use(tmp_path, kind, short):
    template = dict(plain((ROOT / "templates" / f"{kind[:-1]}.yml").read_text("utf-8")))
    data = {key: value for key, value in template.items() if key != "cluster"} | short
    path = tmp_path / "mine.yml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), "utf-8")
    catalogue.load(kind, path)
    editor(kind).validate(as_an_editor_reads(path))


@pytest.mark.parametrize(("source", "message"), INCOMPLETE)
def test_shortcomings_of_a_card(tmp_path, source, message):
    path = tmp_path / "mine.yml"
    path.write_text(f"{first_line('devices')}\nname: {{en: Mine, zh: 我的}}\nlike: nvidia-h20\n"
                    f"memory_bandwidth: {{value: 4 TB/s, source: {source}}}\n", "utf-8")
    lacking = shortcomings("devices", path, [catalogue.load_device(path)])
    assert list(lacking) == [f"{path}:{message}"]


def test_a_file_of_the_catalogue_has_its_texts_in_both_languages(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text(f"{first_line('devices')}\nlike: nvidia-h20\nvendor: NVIDIA\n", "utf-8")
    card = catalogue.load_device(path)
    assert card.name == {"en": "mine", "zh": "mine"}
    assert list(shortcomings("devices", path, [card])) == [f"{path}:1: the key 'name' is missing."]
    with pytest.raises(ValueError, match="both languages"):
        both_languages({"en": "Mine"}, own=False)


def test_a_model_of_the_catalogue_states_format_totals_and_caches(tmp_path):
    text = (ROOT / "models" / "qwen3-8b.yml").read_text("utf-8")
    bare = {key: value for key, value in plain(text).items() if key not in ("weights", "published")}
    path = tmp_path / "mine.yml"
    path.write_text(yaml.safe_dump(bare), "utf-8")
    lacking = list(shortcomings("models", path, [catalogue.load_model(path)]))
    assert len(lacking) == 4  # and the line that names the schema
    assert all(f"{path}:1: " in each for each in lacking)


def test_every_source_has_an_address_a_date_and_is_cited():
    entries = catalogue.sources()
    assert source_keys() == entries.keys()
    assert {key for key, entry in entries.items() if "url" not in entry} == UNSOURCED
    assert not [key for key, entry in entries.items() if "url" in entry
                and not re.fullmatch(r"https://[^\s<>]+", entry["url"])]
    assert {key for key in entries if stands_on(key) is None} == {"arithmetic"}
    text = "\n".join(path.read_text("utf-8") for path in ROOT.glob("*/**/*.yml"))
    assert set(entries) - set(re.findall(r"source: ([\w.-]+)", text)) <= UNSOURCED


def test_no_mechanism_and_no_profile_rests_on_an_end_to_end_result():
    """A prior that a measured TPOT had set would be compared with itself."""
    served = [catalogue.load("measurements", name) for name in catalogue.names("measurements")]
    results = {entry.source for entry in served}
    results |= {value.source for entry in served for _, value in values(entry)}
    results -= {"deepseek-profile-data"}  # says how a profile was taken
    assert not [(kind, name, path) for kind in ("mechanisms", "profiles")
                for name in catalogue.names(kind)
                for path, value in values(catalogue.load(kind, name))
                if (kind == "mechanisms" or ".mechanisms." in path) and value.source in results]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "also" in class_of(kind).model_fields])
def test_names_are_unique_and_found_in_any_case(kind):
    spelt = Counter(other for name in catalogue.names(kind)
                    for other in {name, *map(library.plain, library.also(kind, name))})
    assert [name for name, count in spelt.items() if count > 1] == []
    for name in catalogue.names(kind):
        for other in (name.upper(), *library.also(kind, name)):
            assert library.locate(kind, other).stem == name


@pytest.mark.parametrize(("kind", "name", "id_"), [
    ("models", "R1", "deepseek-v3"), ("models", "deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"),
    ("devices", "h200", "nvidia-h200-sxm"), ("devices", "NVIDIA H200", "nvidia-h200-sxm"),
    ("devices", "H20", "nvidia-h20"), ("devices", "910B2", "ascend-910b2"),
    ("devices", "RTX PRO 6000", "nvidia-rtx-pro-6000-server"),
    ("devices", "rtx4090", "nvidia-rtx-4090"), ("models", "DeepSeekV3", "deepseek-v3"),
    ("models", "Kimi K2 Thinking", "kimi-k2.5"), ("devices", "ascend910b2", "ascend-910b2"),
    ("devices", "Ascend 910B4", "ascend-910b4")])
def test_common_names(kind, name, id_):
    assert catalogue.load(kind, name).id == id_


def test_old_statements_are_those_of_at_least_a_year():
    as_of, statements = date(2026, 11, 25), shipped.statements()
    old = set(shipped.old(statements, shipped.YEAR, as_of))
    assert 0 < len(old) < len(statements)
    assert old == {each for each in statements
                   if (as_of - shipped.last_day(each.date)).days >= shipped.YEAR}
