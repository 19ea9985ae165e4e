"""What a search tells first is what ``deploy`` writes; what no release starts gives its place."""

import json
from types import SimpleNamespace as Made

import pytest

from calc.launching import starting
from calc.launching.deployment import deployment
from calc.launching.starting import search
from calc.layouts.choice import Start
from calc.searching.search import search as found_of
from catalogue import ParamsError

SMALL = ("space.tensor=8", "space.pipeline=1", "space.decode_context=1", "space.chunks=4096",
         "space.pools=one")
LEAST = "r1-910b2-least"
BALANCED = ("precisions=w4a8-int8", "engines=vllm-ascend@0.18.0", "cards.most=32",
            "space.spares=16", "space.expert=8", *SMALL)
"""With spare experts this release takes W4A8 only where fused kernels exchange."""


def written(cli, tmp_path, *arguments):
    code, out, _ = cli("search", *arguments, "-o", str(tmp_path), "--workers", "1")
    return code, out, sorted(tmp_path.glob("*.yml"))


def settings(*keys):
    return [word for key in keys for word in ("--set", key)]


def test_each_answer_says_the_command_that_starts_it_and_deploy_takes_it(cli, tmp_path):
    code, out, files = written(cli, tmp_path, "r1-64-users-8xh20", *settings(
        "devices=nvidia-h20", "space.drafts=0", *SMALL))
    assert code == 0
    assert files
    for file in files:
        line, = (line for line in out.splitlines() if f"deploy {file}" in line)
        engine = line.split("--engine ")[1].split()[0]
        assert line.strip() == f"start with: python -m calc deploy {file} --engine {engine} -o DIR"
        assert len(deployment(str(file), engine=engine).files) >= 10


def test_what_a_release_asserts_against_is_not_told_first_but_named(cli, tmp_path):
    alone = search(LEAST, [*BALANCED])
    assert not alone.met
    assert "does not start so" in alone.start(alone.refused[0]).why
    code, out, files = written(cli, tmp_path, LEAST, *settings(*BALANCED))
    assert (code, files) == (3, [])
    assert "Nothing that meets the goal is started by a release" in out


def test_the_next_candidate_takes_the_place_of_what_does_not_start():
    both = search(LEAST, [*BALANCED, "space.spares=none,16"])
    assert both.met
    assert both.best.choice.spares == 0
    assert both.start(both.best).engine == "vllm-ascend@0.18.0"
    for group in both.front:
        assert both.start(group[0].row).engine


def test_any_engine_lifts_it_and_marks_the_answer(cli):
    code, out, _ = cli("search", LEAST, "--any-engine", *settings(*BALANCED))
    assert code == 0
    assert "no release starts it: " in out
    code, out, _ = cli("search", LEAST, "--any-engine", "--json",
                       *settings(*BALANCED))
    first = json.loads(out)["front"][0][0]
    assert first["start"]["engine"] is None
    assert first["start"]["why"]


def test_what_is_told_beside_the_first_says_so_too():
    told = search("r1-64-users-8xh20", [
        "devices=nvidia-h20", "space.drafts=0", *SMALL, "space.decode_context=4"]).as_json()
    assert len(told["by_precision"]) > 2
    assert told["official"]["choice"]["precision"] == told["official_precision"]
    for row in (told["official"], *told["by_precision"], *told["by_device"]):
        assert row["start"]["engine"]
        assert row["quality"]
        assert all(row["runs"])


def test_what_deploy_says_is_the_reason(tmp_path):
    from calc.layouts.choice import text

    answer = search(LEAST, [*BALANCED])
    row = answer.refused[0]
    path = tmp_path / "refused.yml"
    path.write_text(text(answer.result.wishes.goal, row.choice), encoding="utf-8")
    with pytest.raises(ParamsError) as refused:
        deployment(str(path))
    said = str(refused.value).split(": ", 1)[1].rstrip(".")
    assert said == answer.start(row).why.split(": ", 1)[1]


def test_without_being_asked_a_search_tells_what_it_found():
    from calc.searching.load_goal import load_goal
    from calc.searching.result import Answer

    plain = Answer(found_of(load_goal(LEAST, [*BALANCED])))
    assert plain.met
    assert plain.start(plain.best) is None


def test_releases_are_tried_newest_first_and_candidates_last(monkeypatch):
    """Engines that have kernels of the formats of every pool, and whose flags are known."""
    kernels = {"one": [("vllm", "03"), ("trt", ""), ("sglang", "")], "two": [
        ("sglang", "1"), ("vllm", "")], "none": [("vllm", "")]}
    monkeypatch.setattr(starting, "tables", lambda: {
        name: Made(engine=engine) for name, engine in (
            ("vllm", "vllm"), ("sglang", "sglang"), ("trt", "tensorrt-llm"))})
    monkeypatch.setattr(starting, "kernels_of", lambda precision, device, model: [
        Made(engine=engine, holds=lambda version, lacks=lacks: version not in lacks)
        for engine, lacks in kernels[precision]])
    for load in ("load_model", "load_precision", "load_device"):
        monkeypatch.setattr(starting, load, lambda name: name)
    monkeypatch.setattr(starting, "load_engine", lambda name: Made(
        versions=("0", "1", "2rc1", "3", "4")))

    def tried(*precisions, engine=None):
        choices = [Made(precision=each, device="d", engine=engine) for each in precisions]
        return list(starting._releases(Made(model="m"), Made(choice=choices[0], choices=choices)))

    assert tried("one") == [*(f"vllm@{each}" for each in ("4", "1", "2rc1")),
                            *(f"sglang@{each}" for each in ("4", "3", "1", "0", "2rc1"))]
    assert tried("one", "two") == [*(f"vllm@{each}" for each in ("4", "1", "2rc1")),
                                   *(f"sglang@{each}" for each in ("4", "3", "0", "2rc1"))]
    assert tried("one", "none") == ["vllm@4", "vllm@1", "vllm@2rc1"]
    assert tried("one", engine="vllm@3") == ["vllm@3"]


@pytest.mark.parametrize(("refused", "found"), [
    ({}, Start("a@1")), ({"a@1": "x: no."}, Start("b@2")),
    ({"a@1": "x: no.", "b@2": "y: never."}, Start(None, "x: no"))])
def test_the_first_release_that_starts_it_is_told_or_why_the_first_does_not(
        monkeypatch, refused, found):
    seen = []

    def deployed(named, about):
        seen.append((list(named), about))
        if (engine := next(iter(named.values()))) in refused:
            raise ParamsError(refused[engine])
    monkeypatch.setattr(starting, "deployed", deployed)
    monkeypatch.setattr(starting, "_releases", lambda goal, row: ["a@1", "b@2"])
    monkeypatch.setattr(starting, "_scenarios", lambda goal, row, engine: (
        [engine] * (1 + row.prefill)))
    goal = Made(id="g")
    for prefill, names in ((False, ["serve"]), (True, ["prefill", "decode"])):
        seen.clear()
        assert starting.start(goal, Made(prefill=prefill)) == found
        assert seen == [(names, ("g", ()))] * min(len(refused) + 1, 2)
    monkeypatch.setattr(starting, "_releases", lambda goal, row: [])
    assert starting.start(goal, Made(choice=Made(precision="p", device="d"))) == Start(
        None, "no engine whose flags are known runs p on 'd'")
