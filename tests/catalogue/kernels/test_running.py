"""Which releases run a format, on a made-up engine of five releases, cell by cell."""

from types import SimpleNamespace

import pytest

import catalogue
from catalogue import library
from catalogue.engines.released import releases
from catalogue.entries.kernels import Cache, Kernels, Product
from catalogue.kernels import releases as module
from catalogue.kernels.releases import (
    expert_bytes,
    kernel_of,
    kernel_problem,
    kernels_of,
    parts_of,
    runs_experts,
)

KNOWN = ["0.1", "0.2", "0.3", "0.4", "0.10"]
BF16 = catalogue.load_precision("bf16")
FP8 = catalogue.load_precision("fp8-block")
CARD = catalogue.load_device("nvidia-h200-sxm")
ARCH = CARD.architecture
CLASSES = {"attention", "dense_mlp", "shared_expert", "routed_expert", "head", "router"}
NAME = {"en": "a kernel", "zh": "某算子"}
USUAL = {"cards": [ARCH], "since": None, "until": None, "attention": None, "kernel": NAME,
         "source": "somebody", "kind": "vendor", "date": None, "note": None}


def product(runs="native", weights=("bf16",), multiply=("bf16",), classes=(), **more):
    return Product.model_construct(**USUAL | more, runs=runs, weights=list(weights),
                                   multiply=list(multiply), classes=list(classes))


def cache(formats=("bf16",), multiply=("bf16",), **more):
    return Cache.model_construct(**USUAL | more, formats=list(formats), multiply=list(multiply))


def table(*cells, engine="made"):
    return Kernels.model_construct(
        engine=engine, name={"en": "Made", "zh": "自造"},
        products=[cell for cell in cells if isinstance(cell, Product)],
        caches=[cell for cell in cells if isinstance(cell, Cache)])


def model(attention="gqa", experts=True, index=None):
    return SimpleNamespace(attention=attention, is_moe=experts, index_topk=index)


@pytest.fixture
def runs(monkeypatch):
    """How a made-up engine runs a precision on a card: release asked for, cells of its table."""
    monkeypatch.setattr(module, "_known", lambda found: KNOWN if found.engine else [None])

    def run(*cells, release=None, of=None, precision=BF16, engine="made"):
        parts = parts_of(precision, of)
        return module._running("made", table(*cells, engine=engine), CARD, parts,
                               module._attention(of), release)
    return run


def span(kernel):
    return kernel and (kernel.since, kernel.until)


@pytest.mark.parametrize(("since", "until", "release", "found"), [
    (None, None, None, ("0.1", "0.10")), ("0.2", None, None, ("0.2", "0.10")),
    (None, "0.3", None, ("0.1", "0.3")), ("0.2", "0.3", None, ("0.2", "0.3")),
    ("0.2", "0.3", "0.2", ("0.2", "0.3")), ("0.2", "0.3", "0.4", None),
    ("0.2", "0.3", "0.1", None), ("0.10", None, None, ("0.10", "0.10")),
    ("0.4", None, "0.10", ("0.4", "0.10"))])
def test_a_format_runs_in_the_releases_of_its_cell(runs, since, until, release, found):
    kernel = runs(product(since=since, until=until), cache(), release=release)
    assert span(kernel) == found
    if kernel:
        assert [each for each in KNOWN if kernel.holds(each)] == KNOWN[
            KNOWN.index(found[0]):KNOWN.index(found[1]) + 1]


def test_releases_are_told_in_a_row_and_the_newest_row_is_meant(runs):
    cells = (product(until="0.2"), product(since="0.4", kernel={"en": "new", "zh": "新"}), cache())
    assert span(runs(*cells)) == ("0.4", "0.10")
    assert runs(*cells).kernel == ("new", "新")
    assert span(runs(*cells, release="0.1")) == ("0.1", "0.2")
    assert runs(*cells, release="0.3") is None
    both = runs(product(), product(since="0.4", runs="weight-only"), cache())
    assert (span(both), both.weight_only) == (("0.1", "0.10"), True)  # of two cells the last
    assert not runs(product(), product(since="0.4", runs="weight-only"), cache(),
                    release="0.3").weight_only


def test_every_class_needs_a_cell_and_so_does_the_cache(runs):
    assert runs(product()) is None
    assert runs(cache()) is None
    assert runs(product(classes=CLASSES - {"head"}), cache()) is None
    assert runs(product(classes=CLASSES), cache()).cells.keys() == CLASSES | {"cache"}
    assert runs(product(weights=["fp8"]), cache()) is None
    assert runs(product(multiply=["fp16"]), cache()) is None
    assert runs(product(), cache(formats=["fp8"])) is None
    assert runs(product(), cache(multiply=["fp8"])) is None
    assert runs(product(runs="no"), cache()) is None
    assert runs(product(cards=["sm_80"]), cache()) is None
    shared = runs(product(since="0.2"), cache(until="0.3"))
    assert span(shared) == ("0.2", "0.3")
    assert runs(product(since="0.4"), cache(until="0.3")) is None


def test_the_kernel_is_that_of_the_experts_or_of_attention_where_there_are_none(runs):
    cells = (product(classes=["routed_expert"], kernel={"en": "experts", "zh": "专家"}),
             product(classes=CLASSES - {"routed_expert"}), cache())
    assert runs(*cells).kernel == ("experts", "专家")
    dense = runs(product(), cache(), of=model(experts=False))
    assert set(dense.cells) == {"attention", "dense_mlp", "head", "cache"}
    assert dense.experts is dense.cells["attention"]


@pytest.mark.parametrize(("of", "cells", "found"), [
    (model("mla"), {"attention": "mla"}, True), (model("gqa"), {"attention": "mla"}, False),
    (model("gqa", index=3), {"attention": "sparse"}, True),
    (model("gqa"), {"attention": "sparse"}, False), (None, {"attention": "mla"}, True),
    (model("csa"), {"attention": "csa"}, True), (model("csa"), {"attention": None}, False),
    (model("csa", index=3), {"attention": "sparse"}, False), (None, {"attention": "csa"}, True)])
def test_a_cache_is_of_the_attention_of_a_model(runs, of, cells, found):
    assert (runs(product(), cache(**cells), of=of) is not None) == found
    if of is None or of.attention != "csa":
        assert (runs(product(**cells), cache(), of=of) is not None) == found


def test_an_engine_without_releases_runs_what_its_table_says(runs):
    one = runs(product(), cache(), engine=None)
    assert span(one) == (None, None)
    assert not one.holds("0.1")


def test_what_is_multiplied_in_fp32_is_asked_of_nobody():
    wide = BF16.model_copy(update={"multiply": BF16.multiply.model_copy(
        update={"router": "fp32"})})
    assert {part.name for part in parts_of(BF16)} - {part.name for part in parts_of(wide)} == {
        "router"}
    assert [part.name for part in parts_of(wide, classes=["head"])] == ["head", "cache"]
    assert parts_of(FP8)[-1] == ("cache", "bf16", "bf16")
    assert ("routed_expert", "fp8-block128", "fp8") in parts_of(FP8)


@pytest.mark.parametrize(("since", "until", "told"), [
    ("0.2", "0.10", ("Made 0.2 and later", "自造 0.2 及以后版本")),
    ("0.2", "0.4", ("Made 0.2 to 0.4", "自造 0.2 至 0.4")),
    ("0.2", "0.2", ("Made 0.2", "自造 0.2")),
    ("0.10", "0.10", ("Made 0.10 and later", "自造 0.10 及以后版本")),
    (None, None, ("Made", "自造"))])
def test_releases_are_told_up_to_the_newest_or_to_the_last_that_runs_it(
        monkeypatch, since, until, told):
    monkeypatch.setattr(module, "tables", lambda: {"made": table(engine="vllm")})
    monkeypatch.setattr(module, "releases", lambda profile: KNOWN)
    for runs, note in (("native", None), ("weight-only", {"en": "Slow.", "zh": "慢。"})):
        cell = product(runs=runs, note=note)
        kernel = module.Kernel("made", since, until, cell, {})
        assert (kernel.releases, kernel.release_words) == (told[0], told)
        more = ("", "") if note is None else (
            ", weights dequantised to 16 bits; Slow [somebody]",
            "，权重展开为 16 位；慢 [somebody]")
        assert kernel.words == (f"runs on {told[0]}, a kernel{more[0]}",
                                f"运行于 {told[1]}，算子 某算子{more[1]}")
        assert kernel.text == kernel.words[0]


def test_native_kernels_of_engines_that_can_be_started_come_first():
    for precision in (BF16, FP8, catalogue.load_precision("w4a16-awq")):
        found = kernels_of(precision, CARD)
        kinds = []
        for kernel in found:
            engine = module.tables()[kernel.engine].engine
            flags = library.load("profiles", engine).flags if engine else None
            kinds.append((kernel.weight_only, engine is None, flags is None))
        assert kinds == sorted(kinds)
        assert kernel_of(precision, CARD) == found[0]


@pytest.mark.parametrize(("cells", "found"), [
    ([], True), ([product()], True), ([product(classes=["attention"])], False),
    ([product(classes=["attention"]), product(classes=["head", "routed_expert"])], True)])
def test_an_engine_computes_experts_unless_its_table_speaks_of_all_else(monkeypatch, cells, found):
    monkeypatch.setattr(module, "_tables_of", lambda engine: {"made": table(*cells)} if cells
                        else {})
    assert runs_experts("made") == found


def test_the_nearest_format_in_bytes_that_is_not_widened_stands_in(monkeypatch):
    made = {"a": (1.0, True), "b": (2.0, False), "c": (3.0, False), "d": (3.0, False),
            "wide": (4.0, True)}
    entries = {name: SimpleNamespace(id=name) for name in [*made, "none"]}
    monkeypatch.setattr(module, "library", SimpleNamespace(
        names=lambda kind: [*entries], load=lambda kind, name: entries[name]))
    monkeypatch.setattr(module, "expert_bytes", lambda entry: made.get(entry.id, (2.5,))[0])
    monkeypatch.setattr(module, "kernel_of", lambda entry, *_, **more: SimpleNamespace(
        weight_only=made[entry.id][1]) if entry.id in made else None)

    def near(size):
        made["wanted"] = (size, False)
        return module.nearest(SimpleNamespace(id="wanted"), CARD).id

    assert [near(size) for size in (0.5, 1.5, 2.4, 2.6, 3.0, 3.5, 9.0)] == [
        "a", "b", "b", "c", "c", "c", "wide"]
    assert module.nearest(entries["b"], CARD).id == "c"  # another than itself
    made.clear()
    assert module.nearest(entries["b"], CARD) is None


@pytest.mark.parametrize(("name", "size"), [
    ("bf16", 2), ("fp8-block", 1 + 4 / 128**2), ("w8a8-int8", 1), ("nvfp4", 0.5 + 1 / 16)])
def test_experts_take_their_share_of_scales(name, size):
    assert expert_bytes(catalogue.load_precision(name)) == pytest.approx(size, rel=1e-3)


@pytest.mark.parametrize(("here", "elsewhere", "near", "told"), [
    (["SGLang 2"], [], "w4", "; SGLang 2 is; the nearest that runs here is w4"),
    (["SGLang 2", "vLLM 3"], [], None, "; SGLang 2 or vLLM 3 are"),
    ([], ["sm_80"], "w4", "; Made on sm_80, sm_90 is; the nearest that runs here is w4"),
    ([], ["sm_80", "sm_89"], None, "; Made on sm_80, sm_90 and Also on sm_89, sm_90 are"),
    ([], [], None, "")])
def test_what_runs_a_format_elsewhere_ends_the_sentence(monkeypatch, here, elsewhere, near, told):
    monkeypatch.setattr(module, "kernels_of", lambda *_: [
        SimpleNamespace(releases=each) for each in here])
    monkeypatch.setattr(module, "nearest", lambda *_: near and SimpleNamespace(id=near))
    cells = {card: (product(cards=[card, "sm_90"]), cache(cards=[card, "sm_90"]))
             for card in elsewhere}
    named = zip(({"en": "Made"}, {"en": "Also"}), cells.values(), strict=False)
    monkeypatch.setattr(module, "tables", lambda: {
        name["en"]: table(*of).model_copy(update={"name": name}) for name, of in named})
    assert module._elsewhere(BF16, CARD, None, None, None) == told


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("precision", ["w4a8-int8", "w8a8-int8-c8", "mxfp4-w4a8"])
def test_the_nearest_that_is_told_to_a_release_runs_in_that_release(engine, precision):
    known, told = releases(library.load("profiles", engine)), 0
    for release in (known[0], known[len(known) // 2], known[-1]):
        said = kernel_problem(catalogue.load_precision(precision), CARD, f"{engine}@{release}")
        if said:
            told += 1
            assert said.startswith(f"{engine} {release} is not known to run {precision} on ")
            near = catalogue.load_precision(said.rstrip(".").rpartition(" ")[2])
            assert kernel_of(near, CARD, f"{engine}@{release}") is not None
    assert told
