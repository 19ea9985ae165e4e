"""What a release takes of a setting, held against catalogues of a few made up names."""

from types import SimpleNamespace as Made

import pytest
from _door import sentence

from calc.launching import settings
from calc.launching.settings import (
    Release,
    Setting,
    Variable,
    comment,
    extra_settings,
    nearest,
    nearest_releases,
    over,
    release_of,
)

WORST = ("unknown", "type", "choice", "deprecated", "unlisted", "accepted")


def engine(name, verdicts=None, states=None, **more):
    """An engine that judges each name alike, whatever the release, and notes what it is asked."""
    asked = []

    def judge(flag, value, version):
        asked.append((flag, value, version))
        return (verdicts or {}).get(flag, "unknown")
    return Made(name=name, asked=asked, judge=judge,
                exists=lambda flag, version: flag in (verdicts or {}),
                state=lambda flag, version: (states or {}).get(flag), **more)


def release(*engines, name="own"):
    return Release(name, "1.0", tuple((each, f"{at}.0") for at, each in enumerate(engines, 1)))


@pytest.mark.parametrize("at", range(len(WORST)))
def test_of_several_catalogues_the_worst_verdict_counts(at):
    for other in WORST[at:]:
        for pair in ((WORST[at], other), (other, WORST[at])):
            both = release(*(engine(str(number), {"--a": verdict})
                             for number, verdict in enumerate(pair)))
            assert both.judge("--a") == WORST[at]
    taken = WORST[at] in ("deprecated", "unlisted", "accepted")
    assert release(engine("e", {"--a": WORST[at]})).has("--a", 3) == taken


@pytest.mark.parametrize(("value", "plain"), [
    (None, True), (Variable("HOST"), "0"), (0, 0), ("x", "x"), (["a"], ["a"]), (False, False)])
def test_a_switch_is_judged_as_true_and_what_the_operator_sets_as_a_number(value, plain):
    one = engine("e", {"--a": "accepted"})
    release(one).judge("--a", value)
    assert one.asked == [("--a", plain, "1.0")]


def test_a_plug_in_decides_on_what_it_has_itself_and_its_host_on_the_rest():
    plug, host, other = (engine(name, {flag: "accepted"}) for name, flag in (
        ("vllm-ascend", "--own"), ("vllm", "--hosts"), ("vllm", "--hosts")))
    both = Release("vllm-ascend", "1.0", ((plug, "1.0"), (host, "2.0"), (other, "3.0")))
    assert both.judge("--own") == both.judge("--hosts") == "accepted"
    assert both.judge("--none") == "unknown"
    assert plug.asked == [("--own", True, "1.0")]
    assert host.asked == [("--hosts", True, "2.0"), ("--none", True, "2.0")]
    assert other.asked == [("--hosts", True, "3.0"), ("--none", True, "3.0")]
    alone = Release("vllm-ascend", "1.0", ((plug, "1.0"),))
    assert alone.judge("--none") == "unknown"
    assert str(both) == "vllm-ascend@1.0"


@pytest.mark.parametrize(("verdict", "state", "expected"), [
    ("type", Made(choices=None, type="int"), "a value of type int"),
    ("choice", Made(choices=("a", 3), type="str"), "one of a, 3"),
    ("type", Made(choices=("a", 3), type="str"), "one of a, 3")])
def test_a_value_that_a_release_refuses_is_told_with_what_it_expects(verdict, state, expected):
    without = engine("f", {"--a": "accepted"})
    of = release(without, engine("e", {"--a": verdict}, {"--a": state}))
    assert sentence(of.take, "--a", "x" * 70, "") == (
        f"own@1.0: '{'x' * 60}' is no value of --a, expected {expected}.")


@pytest.mark.parametrize("verdict", ["deprecated", "unlisted", "accepted"])
def test_what_is_taken_is_a_setting(verdict):
    assert release(engine("e", {"--a": verdict})).take("--a", 3, "why") == Setting("--a", 3, "why")


def test_a_name_that_a_release_does_not_have_is_told_by_the_catalogue_that_lacks_it():
    """Of two releases of the host, both have to take it."""
    between = release_of("vllm-ascend", "0.30.0rc2")
    assert sentence(between.take, "--all-2-all", 1, "").startswith("vLLM 0.29.0 has no ")
    assert sentence(release_of("vllm", "0.11.0").take, "--nnodes", 2, "") == (
        "vLLM 0.11.0 has no '--nnodes': it comes with 0.13.0.")


@pytest.mark.parametrize(("verdicts", "chosen"), [
    (("accepted", "accepted", "accepted"), 0), (("deprecated", "accepted", "accepted"), 1),
    (("unknown", "deprecated", "unlisted"), 2), (("choice", "deprecated", "deprecated"), 1),
    (("deprecated", "unknown", "type"), 0)])
def test_the_first_spelling_is_chosen_that_is_not_deprecated_else_the_first(verdicts, chosen):
    names = ("--a", "--b", "--c")
    of = release(engine("e", dict(zip(names, verdicts, strict=True))))
    spelt = [(name, number) for number, name in enumerate(names)]
    assert of.first(iter(spelt), "why") == Setting(names[chosen], chosen, "why")


def test_where_no_spelling_is_taken_the_first_is_refused():
    of = release(engine("e", {"--a": "choice", "--b": "type"}, {
        "--a": Made(choices=("x",), type="str"), "--b": Made(choices=None, type="int")}))
    assert "'7' is no value of --a, expected one of x" in sentence(
        of.first, [("--a", 7), ("--b", 8)], "")


def metric(hidden=False, v0=False, deprecated=False):
    return Made(hidden=hidden, v0=v0, deprecated=deprecated)


METRICS = {"good": metric(), "old": metric(deprecated=True), "gone": metric(hidden=True),
           "goner": metric(hidden=True, deprecated=True), "zero": metric(v0=True)}


@pytest.mark.parametrize(("names", "told"), [
    (("good", "old"), "good"), (("old", "good"), "good"), (("gone", "zero", "old"), "old"),
    (("none", "good"), "good"), (("goner", "old", "old"), "old")])
def test_a_metric_is_one_that_is_exported_to_everyone_the_deprecated_last(names, told):
    of = release(engine("f"), engine("e", states=METRICS))
    assert of.metric(*names) == told
    assert of.exports(*names)


@pytest.mark.parametrize("names", [("none",), ("gone", "goner", "zero")])
def test_what_is_hidden_or_of_another_core_is_not_exported(names):
    assert not release(engine("e", states=METRICS)).exports(*names)


def test_a_metric_that_a_release_lacks_is_one_sentence():
    told = sentence(release_of("vllm", "0.8.5.post1").metric, "vllm:kv_cache_usage_perc", "vllm:x")
    assert told.startswith("vLLM 0.8.5.post1 has no 'vllm:kv_cache_usage_perc'")


@pytest.mark.parametrize(("version", "found"), [
    ("0.11.0", ("0.11.5",)), ("0.11.5", ("0.11.5",)), ("0.11.9", ("0.11.5",)),
    ("0.12.0", ("0.11.5", "0.13.0")), ("0.14.0", ("0.13.0", "1.0.0")), ("0.9.0", ("0.11.1",)),
    ("0.13.7", ("0.13.0",)), ("2.0.0", ("1.0.0",))])
def test_a_plug_in_goes_with_the_release_of_its_numbers_or_the_two_beside_them(version, found):
    of = Made(versions=("0.11.1", "0.11.5", "0.13.0", "1.0.0"))
    assert nearest_releases(of, version) == found


@pytest.mark.parametrize(("date", "version"), [
    ("2025-01-01", "1"), ("2025-03-03", "1"), ("2025-03-04", "2"), ("2025-03-09", "2"),
    ("2025-04-01", "3")])
def test_a_router_is_the_one_uploaded_nearest_to_a_day(monkeypatch, date, version):
    """Of two that are as near, the earlier one: 3 March lies between 1 and 5 March."""
    tool = Made(releases=[Made(version="1", date="2025-03-01"), Made(
        version="2", date="2025-03-05"), Made(version="3", date="2025-03-15")])
    monkeypatch.setattr(settings, "catalogue_of", {"router": tool}.get)
    assert nearest("router", date) == Release("router", version, ((tool, version),))


OPERATOR = release(engine("e", {"--a": "accepted", "--b": "accepted", "NAME": "accepted",
                                "_x1": "accepted"}))


def test_what_the_operator_adds_is_a_flag_or_a_variable_with_a_value():
    flags, variables = extra_settings(OPERATOR, [" --a ", "--b=x=y", "--a="], ["NAME=1=2", "_x1="])
    why = "given on the command line"
    assert flags == [Setting("--a", None, why), Setting("--b", "x=y", why), Setting("--a", "", why)]
    assert variables == [Setting("NAME", "1=2", why), Setting("_x1", "", why)]


@pytest.mark.parametrize(("flag", "variable", "expected"), [
    ("-a", None, "--flag '-a': expected --name or --name=value."),
    ("--a b=3", None, "--flag '--a b=3': expected --name or --name=value."),
    (f"a{'b' * 70}", None, f"--flag 'a{'b' * 59}': expected --name or --name=value."),
    (None, "NAME", "--env 'NAME': expected NAME=value."),
    (None, "1NAME=2", "--env '1NAME=2': expected NAME=value."),
    (None, "N-E=2", "--env 'N-E=2': expected NAME=value."),
    (None, "=2", "--env '=2': expected NAME=value."),
    (None, f"a-{'b' * 70}=", f"--env 'a-{'b' * 58}': expected NAME=value.")])
def test_what_is_no_flag_or_variable_is_refused(flag, variable, expected):
    assert sentence(extra_settings, OPERATOR, [flag] if flag else [],
                    [variable] if variable else []) == expected


def test_a_stronger_setting_takes_the_place_of_one_of_its_name():
    one, two, three = (Setting(name, 1, "") for name in ("--a", "--b", "--c"))
    strong = Setting("--a", 2, "given")
    assert over([one, two], [three, strong]) == [strong, two, three]


@pytest.mark.parametrize(("value", "words"), [
    (None, ["--a"]), (3, ["--a", "3"]), (["x", 4], ["--a", "x", "4"]), ("a,b", ["--a", "'a,b'"]),
    ("a, b", ["--a", "'a, b'"]), ("a b", ["--a", "'a b'"]), ("", ["--a", "''"]),
    ({"k": [1]}, ["--a", "'{\"k\": [1]}'"]), (Variable("HOST", ":80"), ["--a", '"${HOST}:80"'])])
def test_a_setting_is_words_of_a_shell(value, words):
    assert Setting("--a", value, "").words == words


def test_a_comment_keeps_what_can_be_printed():
    assert comment(" a\tb \x07 é  中\n") == "a b ? é 中"
