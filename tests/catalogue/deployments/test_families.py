"""A file of several deployments: how one is named, what they share, and which two are pools."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from _door import sentence
from _plain import plain

import catalogue
from catalogue.deployments import family
from catalogue.deployments.loading import devices_named, listed, load_pools, stated
from catalogue.reading.yamlfile import YamlFile

TITLE = {"en": "Mine", "zh": "我的"}


def written(data, lines=None):
    """A file as it would be read, with lines of some keys."""
    return YamlFile(Path("mine.yml"), data, lines or {})


def of(*keys, **more):
    return written({"variants": {key: {"title": TITLE} for key in keys}} | more)


@pytest.mark.parametrize(("data", "keys"), [
    ({}, []), ({"variants": {"b": {"title": TITLE}, "a-1.2": {"title": TITLE}}}, ["b", "a-1.2"]),
    ({"variants": {"b": {"title": TITLE}, "a": {"title": TITLE}}, "pools": ["a", "b"]},
     ["b", "a"])])
def test_variants_are_known_by_their_keys_in_the_order_of_the_file(data, keys):
    assert family.keys(written(data)) == keys


@pytest.mark.parametrize(("data", "line", "says"), [
    ({"pools": ["a", "b"]}, 3, "pools: there are no variants to be pools."),
    ({"variants": {}}, 5, "variants: expected a group of keys"),
    ({"variants": ["a"]}, 5, "variants: expected a group of keys"),
    ({"variants": {"A": {"title": TITLE}}}, 7, "'A' is not a key"),
    ({"variants": {"a-" + "b" * 50 + "_": {"title": TITLE}}}, None, f"'a-{'b' * 38}' is not"),
    ({"variants": {"a": "none"}}, 9, "variants.a: the key 'title' is missing."),
    ({"variants": {"a": {"note": TITLE}}}, 9, "variants.a: the key 'title' is missing."),
    ({"variants": {"a": {"title": TITLE, "variants": {}}}}, 11, "'variants' stands at the top"),
    ({"variants": {"a": {"title": TITLE, "pools": []}}}, 13, "'pools' stands at the top"),
    *(({"variants": {"a": {"title": TITLE}, "b": {"title": TITLE}}, "pools": pools}, 3,
       "pools: expected two of the variants a, b, the prefill pool first.") for pools in (
           "ab", [], ["a"], ["a", "b", "a"], ["a", "c"], ["a", 1], [["a"], "b"])),
])
def test_what_is_no_family_is_told_at_its_line(data, line, says):
    lines = {("pools",): 3, ("variants",): 5, ("variants", "A"): 7, ("variants", "a"): 9,
             ("variants", "a", "variants"): 11, ("variants", "a", "pools"): 13}
    told = sentence(family.keys, written(data, lines))
    assert says in told
    assert line is None or told.startswith(f"mine.yml:{line}: ")


SHARED = {"title": {"en": "All", "zh": "全"}, "note": {"en": "n", "zh": "注"}, "model": "m",
          "workload": {"a": 1, "b": 2}, "measured": "run",
          "documented": {"claims": [1, 2], "inputs": {"x": 3}}, "pools": ["one", "two"],
          "variants": {"one": {"title": TITLE, "workload": {"b": 5}, "section": "4.1"},
                       "two": {"title": TITLE, "note": {"en": "own", "zh": "自"},
                               "documented": {"claims": [7]}}}}
LINES = {("title",): 1, ("workload", "b"): 2, ("variants", "one", "workload", "b"): 3,
         ("variants", "one", "title"): 4, ("documented",): 5, ("variants", "two", "title"): 6,
         ("variants", "one"): 8, ("note",): 9, ("model",): 10}


def test_a_variant_is_the_file_with_what_it_states_otherwise():
    one, two = (family.overlaid(written(SHARED, LINES), key) for key in ("one", "two"))
    assert one.data == {"id": "mine-one", "title": TITLE, "model": "m", "section": "4.1",
                        "workload": {"a": 1, "b": 5}, "documented": {"inputs": {"x": 3}}}
    assert (two.data["note"], two.data["documented"]) == (
        {"en": "own", "zh": "自"}, {"inputs": {"x": 3}, "claims": [7]})
    assert two.data["workload"] == {"a": 1, "b": 2}
    assert [one.lines[key] for key in (("title",), ("workload", "b"), ("model",))] == [4, 3, 10]
    assert [two.lines[key] for key in (("title",), ("workload", "b"))] == [6, 2]
    assert () not in one.lines


def test_what_a_family_says_of_all_stands_over_its_first_variant():
    whole = family.of_the_whole(written(SHARED, LINES))
    assert whole.data == {
        "id": "mine", "title": SHARED["title"], "note": SHARED["note"], "model": "m",
        "section": "4.1", "workload": {"a": 1, "b": 5}, "documented": SHARED["documented"]}
    assert [whole.lines[key] for key in (("title",), ("note",), ("workload", "b"))] == [1, 9, 3]
    own = written({name: raw for name, raw in SHARED.items() if name not in ("note", "documented")})
    assert {"note", "documented"}.isdisjoint(family.of_the_whole(own).data)


def test_a_key_that_a_file_does_not_have_is_told_with_those_that_it_has():
    told = sentence(family.overlaid, of("a", "b"), "c" * 50)
    assert told.endswith(f"there is no variant '{'c' * 40}', expected one of a, b.")
    assert sentence(family.overlaid, written({}), "c").endswith("describes one deployment.")


def test_a_title_has_both_languages():
    assert family.title(written({"title": TITLE})) == TITLE
    assert "mine.yml:4: title: " in sentence(
        family.title, written({"title": {"en": "Mine"}}, {("title",): 4}))


def pool(model="m", input_tokens=100, output_tokens=10):
    """A deployment as far as pools look at it."""
    def lengths(value):
        return None if value is None else SimpleNamespace(value=value)

    return SimpleNamespace(model=SimpleNamespace(id=model), file=SimpleNamespace(
        workload=SimpleNamespace(input_tokens=lengths(input_tokens),
                                 output_tokens=lengths(output_tokens))))


def paired(first, second):
    """The two pools of a family, and the settings with which they were loaded."""
    asked = []

    def load(name, settings):
        asked.append((name, tuple(settings)))
        return {"first": first, "second": second}[name]

    return family.paired(of("second", "first", pools=["first", "second"]), load), asked


PLAIN = [("first", ()), ("second", ())]
SET = ("first", ("workload.input_tokens=100 token", "workload.output_tokens=1 token"))


@pytest.mark.parametrize(("own", "asked"), [
    (100, PLAIN), (70, [*PLAIN, SET]), (None, [*PLAIN, SET])])
def test_a_pool_that_prefills_takes_the_prompts_of_the_one_that_decodes(own, asked):
    first, second = pool(input_tokens=own), pool()
    found, settings = paired(first, second)
    assert settings == asked
    assert (found[0] is first, found[1] is second) == (True, True)


@pytest.mark.parametrize(("first", "second", "says"), [
    (pool("m"), pool("n"), "'first' serves 'm' and 'second' serves 'n', expected one model."),
    (pool(), pool(input_tokens=None), "'second' does not say how long its requests are"),
    (pool(), pool(output_tokens=None), "'second' does not say how long its requests are")])
def test_pools_serve_one_model_and_requests_of_a_length(first, second, says):
    assert says in sentence(paired, first, second)


def test_a_file_without_pools_has_none():
    assert family.paired(of("a", "b"), None) is None
    assert family.paired(written({}), None) is None


@pytest.mark.parametrize(("reference", "stem", "key"), [
    ("wide-cloudmatrix-decode", "wide-cloudmatrix", "decode"),
    ("wide-cloudmatrix", "wide-cloudmatrix", None), ("h20-qwen3-8b", "h20-qwen3-8b", None),
    ("wide-cloudmatrix#decode", "wide-cloudmatrix", "decode"), ("s1-scale-48", "s1-scale", "48"),
    (" h20-qwen3-8b ", "h20-qwen3-8b", None)])
def test_a_variant_is_named_by_its_family_and_its_key(reference, stem, key):
    path, found = family.find(reference)
    assert (path.stem, found) == (stem, key)
    assert family.describes("s1-scale-48")


@pytest.mark.parametrize("name", ["s1-scale-49", "s1", "nothing", "wide-cloudmatrix-nothing"])
def test_what_is_no_deployment_is_described_by_no_file(name):
    assert not family.describes(name)
    assert "nearest" in sentence(family.find, name) or "expected" in sentence(family.find, name)


def test_a_list_reads_no_more_of_a_file_than_what_it_says_of_the_first_on_a_card():
    name = "wide-cloudmatrix"
    data = plain((catalogue.ROOT / "scenarios" / f"{name}.yml").read_text("utf-8"))
    assert stated(name, "device")[0] == data["device"]
    assert devices_named(name) == {data["device"]}
    whole = catalogue.load_family(name)
    first, one = whole.deployments[0], listed(name, data["device"])
    assert one == (whole.id, whole.title, first.model.name, first.precision.name, first.devices)
    assert listed(name, "nvidia-h20") is None


def test_pools_are_loaded_with_what_is_set_of_both_and_a_variant_has_none():
    prefill, decode = load_pools("wide-lmsys", overrides=["workload.block_size=32 token"])
    assert (prefill.id, decode.id) == ("wide-lmsys-prefill", "wide-lmsys-decode")
    assert prefill.inputs()["block_size"] == decode.inputs()["block_size"] == 32
    assert prefill.inputs()["input_tokens"] == decode.inputs()["input_tokens"]
    assert load_pools("wide-lmsys-decode") is None
    assert load_pools("h20-qwen3-8b") is None
