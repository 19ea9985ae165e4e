"""What a newcomer is told first: one sentence with what is wrong, and the nearest thing that works.
"""

from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.commands import check
from catalogue import ParamsError
from catalogue.reading import yamlfile

CARD = """\
name: {en: A card, zh: 一张卡}
vendor: Nobody
type: gpu
defaults: {source: data sheet of the maker, kind: vendor}
memory_capacity: 128 GB
memory_bandwidth: 3.67 TB/s
"""
PLAN = """\
title: {en: A plan, zh: 一份方案}
defaults: {source: a plan of our own, kind: assumed}
model: deepseek-v3
device: nvidia-h200-sxm
cluster: {node: hgx-h200, nodes: 1}
precision: fp8-block
parallelism: {tensor_parallel: 8}
workload: {concurrency: 16, input_tokens: 2048, output_tokens: 512, block_size: 64}
"""
OWN = "h200-r1-sglang-tp8"


def told(cli, *arguments):
    code, out, err = cli(*arguments)
    sentence = (err or out).splitlines()[0]
    assert code
    assert "Traceback" not in out + err
    return sentence


@pytest.mark.parametrize(("arguments", "says"), [
    (("estimate", "r1"), "is a model, expected a scenario"),
    (("estimate", "r1-64-users-8xh20"), "is a goal, expected a scenario"),
    (("estimate", "params/goals/r1-64-users-8xh20.yml"), "this is a goal, expected a scenario"),
    (("estimate", "H200"), "--set device=nvidia-h200-sxm"),
    (("search", OWN), f"is evaluated by: estimate {OWN}"),
    (("models", "H200"), "is a device, expected a model; it is shown by: devices nvidia-h200-sxm"),
    (("devices", "r1"), "is a model, expected a device"),
    (("devices", "910C"), "ascend-910c-die (Ascend 910C, one die)"),
    (("estimate", OWN, "--set", "parallelism.tensor_parallel：＝８"),
     "such as parallelism.tensor_parallel=8"),
    (("estimate", OWN, "--set", "parallelism.tensor_parallel=８"), "such as 8"),
    (("estimate", OWN, "--set", "tp=8"), "such as parallelism.tensor_parallel=8"),
    (("estimate", OWN, "--set", "workload.memory_utilization=90%"), "such as 0.9"),
    (("estimate", OWN, "--set", "device=groq3"), "params/templates/device.yml"),
    (("estimate", OWN, "--set", "device=groq-3"), "and no name is near, expected one of"),
    (("search", "r1-64-users-8xh20", "--set", "space.tensor=[8, x]"), "'x' is not a quantity"),
    (("search", "r1-64-users-8xh20", "--set", "limits.ttft={p90 2 s}"), "limits.ttft.p90=2s"),
    (("estimate", "params/templates/device.yml"), "those of one in params/scenarios/"),
    (("search", "r1-64-users-8xh20", "--set", "space.tensor＝８"), "such as space.tensor=8"),
    (("estimate", OWN, "--lengths", "normal"), "the nearest is lognormal"),
    (("audit", "--verdict", "compatibel"), "the nearest are compatible"),
    (("cost", OWN, "--price", "2"), "expected a price such as 2 USD/h"),
    (("cost", OWN, "--set", "prices.years=3"), "--set prices.years: '3' has the wrong unit"),
    (("validate", "--system", "s1-plan-d"), "expected 'measured: my-rows.yml'"),
])
def test_what_was_meant_stands_beside_what_is_wrong(cli, arguments, says):
    assert says in told(cli, *arguments)


@pytest.mark.parametrize(("written", "line", "says"), [
    ("name: {en: A, zh: A}\nengine: vlmm\nproducts: []\ncaches: []\n", 2,
     "there is no engine 'vlmm'"),
    ("name: {en: A, zh: A}\n\tvendor: Nobody\n", 2, "a tab, expected spaces"),
])
def test_a_file_that_cannot_be_used_is_told_its_line(cli, tmp_path, written, line, says):
    path = tmp_path / "own.yml"
    path.write_text(written, "utf-8")
    code, _, err = cli("check", str(path))
    assert code
    assert f"{path}:{line}: " in err
    assert says in err


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("3.67 TB/s", "3,67 TB/s", 6, "such as 3.67 TB/s"),
    ("3.67 TB/s", "3，67 TB/s", 6, "such as 3.67 TB/s"),
    ("3.67 TB/s", "{value: 3.67 TB/s, range: [4 TB/s, 3 TB/s]}", 6,
     "is the wrong way about, expected [3 TB/s, 4 TB/s]"),
    ("defaults: {source: data sheet of the maker, kind: vendor}\n", "", 4,
     "a source is missing, expected source: a key of params/sources/, or words"),
    ("data sheet of the maker", "datasheet", 4, "words that say where to look, such as"),
    ("memory_capacity", "memory_capacty", 5, "did you mean 'memory_capacity'"),
])
def test_a_file_is_told_its_line_and_what_would_do(cli, tmp_path, old, new, line, says):
    path = tmp_path / "card.yml"
    path.write_text(CARD.replace(old, new), "utf-8")
    sentence = told(cli, "check", str(path))
    assert f"card.yml:{line}: " in sentence
    assert says in sentence


def test_a_misspelt_key_that_is_needed_is_told_as_it_is_spelt(cli, tmp_path):
    path = tmp_path / "plan.yml"
    path.write_text(PLAN.replace("model:", "modle:"), "utf-8")
    assert "plan.yml:3: unknown key 'modle', did you mean 'model'" in told(cli, "check", str(path))


def test_a_model_of_another_type_is_told_what_to_do(cli, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}', "utf-8")
    sentence = told(cli, "import-model", str(tmp_path / "config.json"))
    assert "config.json:1: 'model_type' is 'mamba', expected one of deepseek_v2" in sentence
    assert "params/templates/model.yml" in sentence


def test_as_many_problems_as_are_told_leave_none_to_count():
    some = [f"file {at} is wrong." for at in range(check.FEW)]
    assert len(check.told(some)) == check.FEW
    assert len(check.told([*some, "One more."])) == check.FEW + 1


# --- check ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "kind"), [
    (keys[-1], kind) for kind, keys in check._TELLING_KEYS.items()])
def test_a_file_of_ones_own_is_known_by_a_telling_key(tmp_path, key, kind):
    path = tmp_path / "mine.yml"
    path.write_text(f"name: {{en: a, zh: b}}\n{key}: {{}}\n", "utf-8")
    assert check.kind_of(str(path)) == kind


def test_a_folder_tells_its_kind_and_one_of_the_same_name_elsewhere_too(tmp_path):
    (tmp_path / "devices").mkdir()
    assert check.kind_of(str(tmp_path / "devices" / "x.yml")) == "devices"
    root = catalogue.ROOT
    assert check.kind_of(str(root / "symbols.yml")) == "symbols.yml"
    assert check.kind_of(str(root / "engines" / "x.yml")) == "engines"
    assert check.kind_of(str(root / "engines" / "tools" / "x.yml")) == "tools"
    shared = tmp_path / "symbols.yml"  # of a reader, who may call a file so
    shared.write_text("topology: {}\n", "utf-8")
    assert check.kind_of(str(shared)) == "links"
    shared.write_text("a: 1\n", "utf-8")
    with pytest.raises(ParamsError, match="not recognised as any of"):
        check.kind_of(str(shared))


@pytest.mark.parametrize(("left", "told"), [(0, 10), (1, 11), (2, 11)])
def test_ten_problems_are_told_and_how_many_are_left(left, told):
    lines = check.told([f"{number} is wrong." for number in range(10 + left)])
    assert len(lines) == told
    assert lines[9] == "9 is wrong."
    if left:
        assert lines[10].startswith(f"{left} more problems")


def test_files_are_counted_and_their_problems_told_once(capsys, monkeypatch):
    """Two of three have a problem, of which one is the same; an error that is told ends with 2."""
    def checked(file, notes):
        notes.append(f"a note of {file}")
        if file != "good":
            raise ParamsError("both.")

    monkeypatch.setattr(check, "_check_file", checked)
    assert check.run(Made(files=["bad", "good", "worse"], json=False)) == 2
    out, err = capsys.readouterr()
    assert err == "both.\n"
    assert out.splitlines()[-1] == "3 files checked, 2 with a problem."
    assert check.run(Made(files=["good"], json=False)) == 0
    assert capsys.readouterr().out == "a note of good\n1 file checked, 0 with a problem.\n"


def test_a_dtype_that_nobody_has_measured_is_noted_with_what_stands_in_for_it(monkeypatch):
    path = str(catalogue.ROOT / "devices" / "nvidia-h20.yml")
    monkeypatch.setattr(check, "lacking", lambda device, priors: [("fp8", "bf16")])
    note, = check._stand_ins(path)
    assert "nvidia-h20.yml:" in note
    assert "has no efficiency of fp8, that of bf16 stands in" in note
    host = next(name for name in catalogue.names("devices")
                if catalogue.load("devices", name).type == "host")
    assert check._stand_ins(str(catalogue.ROOT / "devices" / f"{host}.yml")) == []


def test_claims_of_a_file_are_judged_beside_those_that_ship_and_alone_told(monkeypatch):
    """All are read with it, since they may build on each other; of a whole check, all."""
    asked = []
    path = catalogue.ROOT / "claims" / "s2.yml"
    claims = [Made(claim=Made(id="mine"), place=f"{yamlfile.display_path(path)}:7"),
              Made(claim=Made(id="theirs"), place="elsewhere.yml:7")]
    monkeypatch.setattr("calc.auditing.claim_files.listed", lambda: (claims[1:], []))
    monkeypatch.setattr("calc.auditing.claim_files.listed_beside", lambda path: (claims, []))
    monkeypatch.setattr("calc.auditing.audit.audit", lambda found, own: asked.append(
        ([each.claim.id for each in found[0]], own)) or Made(problems=["It is wrong."]))
    monkeypatch.setattr(check, "locate", lambda kind, file: path)
    with pytest.raises(ExceptionGroup) as told_first:
        check._check_claims("s2.yml")
    assert [str(each) for each in told_first.value.exceptions] == ["It is wrong."]
    with pytest.raises(ExceptionGroup):
        check._check_claims()
    assert asked == [(["mine", "theirs"], {"mine"}), (["theirs"], None)]
