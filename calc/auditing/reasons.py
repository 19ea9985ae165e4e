"""Why a claim has its verdict, in a sentence or two of each language."""

from __future__ import annotations

from collections.abc import Callable

from calc.auditing.cases import OF_RUNNING, Case
from calc.auditing.judging import (
    ALWAYS,
    ARITHMETIC,
    ASSUMPTION,
    BINARY,
    BOTH,
    COMPATIBLE,
    FAILS,
    FORMULA,
    INFEASIBLE,
    INPUT,
    LATE,
    NEVER,
    PERHAPS,
    REPRODUCED,
    SETTING,
    SOUND,
    SPECIFICATION,
    THRESHOLD,
    UNVERIFIABLE,
    WRONG,
    Judgement,
    meets,
)
from calc.auditing.settings import ELSEWHERE
from calc.auditing.truths import SOURCES
from catalogue.reading.amounts import human
from catalogue.reading.units import COUNTING

Pair = tuple[str, str]
OWN_NUMBERS = ("measurements/", "accuracies/", "claims/")  # of the document itself
MOST = 3  # inputs that are named
STATES: dict[str, Pair] = {
    "accepted": ("a pinned release takes it", "有已锁定的版本接受它"),
    "deprecated": ("the releases that take it call it deprecated", "接受它的版本已标为弃用"),
    "unlisted": ("the value is not among those that the sources list", "取值不在源码所列之中"),
    "choice": ("the value is not among the choices", "取值不在可选项之中"),
    "type": ("the value is not of its type", "取值类型不符"),
    "unknown": ("no pinned release has such a setting", "已锁定的各版本均无此项"),
    ELSEWHERE: ("its program has no catalogue here", "该程序没有收入本书的目录"),
}
FIRED: dict[str, Pair] = {
    ALWAYS: ("it would fire all the time", "会一直告警"),
    PERHAPS: ("it may fire in normal operation", "正常运行也可能触发"),
    SOUND: ("it would tell trouble from normal operation", "能区分异常与正常"),
    NEVER: ("it never fires", "永远不会触发"),
    LATE: ("it would come long after users had noticed", "用户早已察觉才会触发"),
}


def why(case: Case, judgement: Judgement) -> dict[str, str]:
    """What the verdict follows from, with the numbers of it."""
    said = _SAID[judgement.verdict](case, judgement)
    if BINARY in judgement.also:
        said = (said[0] + " It is meant in GiB.", said[1] + "实为 GiB。")
    if INFEASIBLE in judgement.also:
        said = (said[0] + " The deployment that it is of does not run as written.",
                said[1] + "所属部署照所写无法运行。")
    if judgement.clashes:
        listed = ", ".join(judgement.clashes[:MOST])
        more = len(judgement.clashes) > MOST
        says = "says" if len(judgement.clashes) == 1 else "say"
        said = (f"{said[0]} {listed}{' and others' * more} {says} otherwise.",
                f"{said[1]}{listed.replace(', ', '、')} {'等' * more}另有说法。")
    step = case.formula.step if case.formula is not None and judgement.standing == FAILS else None
    note = case.note or step or {"en": "", "zh": ""}
    return {"en": f"{said[0]} {note['en']}".strip(), "zh": f"{said[1]}{note['zh']}"}


def _by_itself(case: Case) -> Pair:
    """What its own numbers give: one, or both ends of a range."""
    assert case.truth is not None
    three = case.truth.three
    low, high = _shown(case, three.low), _shown(case, three.high)
    return ((f"Its own numbers give {low}.", f"按其自身数据为 {low}。") if low == high else
            (f"Its own numbers give {low} to {high}.", f"按其自身数据为 {low} 至 {high}。"))


def _arithmetic(case: Case, _: Judgement) -> Pair:
    assert case.own is not None
    text = _shown(case, case.own)
    if case.itself:
        return _by_itself(case)
    return f"On its own inputs its formula gives {text}.", f"按其自身输入，公式得 {text}。"


def _ours(case: Case) -> Pair:
    """Our number with its interval."""
    assert case.truth is not None
    three = case.truth.three
    value = _shown(case, three.value)
    if three.low == three.high:
        return value, value
    low, high = _shown(case, three.low), _shown(case, three.high)
    if low == high:
        return value, value
    return f"{value} ({low} to {high})", f"{value}（{low} 至 {high}）"


def _reproduced(case: Case, _: Judgement) -> Pair:
    if case.itself:
        return _by_itself(case)
    own = case.own is not None
    if case.truth is None or (own and case.truth.where == case.listed.claim.id and not case.moved):
        return ("Its formula gives it on its own inputs.", "按其公式与输入可得此数。")
    en, zh = _ours(case)
    if case.truth.where.startswith(OWN_NUMBERS):
        return f"Its own numbers give {en}.", f"按其自身数据为 {zh}。"
    return f"Ours is {en}.", f"本书得 {zh}。"


def _compatible(case: Case, _: Judgement) -> Pair:
    en, zh = _ours(case)
    return f"Inside our interval: {en}.", f"在本书区间之内：{zh}。"


def _specification(case: Case, judgement: Judgement) -> Pair:
    en, zh = _ours(case)
    assert case.truth is not None
    if case.truth.where.startswith(SOURCES):
        return ((f"Its source has {en}.", f"来源为 {zh}。") if WRONG in judgement.also
                else (f"So has its source: {en}.", f"与来源一致：{zh}。"))
    return ((f"The catalogue has {en}.", f"目录值为 {zh}。") if WRONG in judgement.also
            else (f"So has the catalogue: {en}.", f"与目录一致：{zh}。"))


def _input(case: Case, _: Judgement) -> Pair:
    en, zh = _ours(case)
    named = _inputs(case)
    return (f"The formula holds, what goes in does not{named[0]}; ours is {en}.",
            f"公式成立，输入有误{named[1]}；本书得 {zh}。")


def _formula(case: Case, _: Judgement) -> Pair:
    en, zh = _ours(case)
    if case.own is None and case.formula is None:
        assert case.truth is not None
        if case.truth.where.startswith(OWN_NUMBERS):
            return f"Its own numbers give {en}.", f"按其自身数据为 {zh}。"
        return f"Ours is {en}.", f"本书得 {zh}。"
    return f"The formula does not hold; ours gives {en}.", f"公式不成立；本书得 {zh}。"


def _both(case: Case, _: Judgement) -> Pair:
    en, zh = _ours(case)
    named = _inputs(case)
    if not case.moved:
        return (f"Its formula does not lead to ours, {en}.", f"其算式得不到本书的 {zh}。")
    return (f"Neither the formula holds nor what goes in{named[0]}; ours is {en}.",
            f"公式与输入均不成立{named[1]}；本书得 {zh}。")


def _infeasible(case: Case, _: Judgement) -> Pair:
    truth = case.truth
    if (truth is not None and case.printed is not None and truth.unit == "1"
            and not meets(case.printed, truth.three, case.bound)):
        en, zh = _ours(case)
        return (f"The deployment does not run as written; ours is {en}.",
                f"所属部署照所写无法运行；本书得 {zh}。")
    if (truth is None or truth.unit not in OF_RUNNING or truth.given or not truth.three.value):
        return "The deployment does not run as written.", "所属部署照所写无法运行。"
    en, zh = _ours(case)
    return (f"The deployment does not run as written; on cards with room for it, {en}.",
            f"所属部署照所写无法运行；若显存足够，应为 {zh}。")


def _setting(case: Case, judgement: Judgement) -> Pair:
    assert case.setting is not None
    en, zh = STATES[judgement.also[0]]
    return f"{case.setting.program}: {en}.", f"{case.setting.program}：{zh}。"


def _threshold(case: Case, judgement: Judgement) -> Pair:
    fired = FIRED[judgement.also[0]]
    en, zh = _ours(case)
    return (f"Predicted in normal operation: {en}; {fired[0]}.",
            f"正常运行的预测值为 {zh}，{fired[1]}。")


def _missing(case: Case, _: Judgement) -> Pair:
    missing = case.missing
    if missing is None:
        return "Nothing decides it.", "没有可据以判断的来源。"
    return f"Missing: {missing['en']}", f"缺：{missing['zh']}"


def _inputs(case: Case) -> Pair:
    """Which inputs a source has otherwise."""
    if not case.moved:
        return "", ""
    named = []
    for name, (theirs, ours) in list(case.moved.items())[:MOST]:
        letter = case.letters.get(name)
        unit = letter.unit if letter and letter.unit not in COUNTING else "1"
        said = (letter.en, letter.zh) if letter else (name.replace("_", " "),) * 2
        named.append((said, human(theirs, unit), human(ours, unit)))
    return (" (" + ", ".join(f"{said[0]} is {ours}, not {theirs}"
                             for said, theirs, ours in named) + ")",
            "（" + "，".join(f"{said[1]}应为 {ours}，不是 {theirs}"
                            for said, theirs, ours in named) + "）")


def _shown(case: Case, value: float) -> str:
    """A number in the unit that is printed."""
    printed = case.printed
    if printed is None:
        return human(value, case.truth.unit if case.truth else "1")
    return printed.like(value)


_SAID: dict[str, Callable[[Case, Judgement], Pair]] = {
    ARITHMETIC: _arithmetic, REPRODUCED: _reproduced, COMPATIBLE: _compatible,
    SPECIFICATION: _specification, INPUT: _input, FORMULA: _formula, BOTH: _both,
    INFEASIBLE: _infeasible, SETTING: _setting, THRESHOLD: _threshold, ASSUMPTION: _missing,
    UNVERIFIABLE: _missing,
}
