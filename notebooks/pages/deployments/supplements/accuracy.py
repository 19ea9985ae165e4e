"""Benchmark scores of two quantised models, as counts: what their differences can show."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from scipy import stats

import catalogue
from catalogue.entries.measurements import Accuracy, Score
from catalogue.messages import LANGUAGES, messages
from catalogue.reading.values import Value
from notebooks.pages import proportions
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import figure, markdown, number, numbers, source, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deployments/supplements/accuracy")

OURS, OTHER = "w4a16", "w4a8"
OFFICIAL, BASE = "official", "official-v3"
MARGIN = 0.02  # a loss up to which accuracy may be called kept: this book's choice
PERCENT = 100
OFFSET = 0.14  # of two points beside each other, in rows


@dataclass(frozen=True)
class Pair:
    """Two systems on one set of problems: how many each solved."""

    key: str
    name: dict[str, str]
    problems: int
    first: int
    second: int

    @property
    def label(self) -> tuple[str, str]:
        """Name of the benchmark, and how many problems it has."""
        count = fmt_int(self.problems)
        return f"{self.name['en']} ({count})", f"{self.name['zh']}（{count}）"

    @functools.cached_property
    def fisher(self) -> float:
        """p of Fisher's exact test."""
        return float(proportions.fisher(self.first, self.second, self.problems))

    @property
    def least(self) -> int | None:
        """Fewest solved by the first that would differ significantly; None if none do."""
        return proportions.least_significant(self.second, self.problems)

    @property
    def paired(self) -> tuple[float, float]:
        """Least and largest p of McNemar's test; which problems both solved is not known."""
        return proportions.paired(self.first, self.second, self.problems)


class Comparison:
    """A document's scores of two systems, compared by the number of problems.

    Args:
        name: of the entry in ``params/accuracies/``.
    """

    def __init__(self, name: str) -> None:
        self.scores: Accuracy = catalogue.load("accuracies", name)
        pairs = {key: self.pair(key, benchmark.problems.value)
                 for key, benchmark in self.scores.benchmarks.items()}
        self.pairs = {key: pair for key, pair in pairs.items() if pair is not None}
        assert len(self.pairs) == len(pairs)
        self.possible = [pair for key in self.pairs for value in self.sets(key)
                         if (pair := self.pair(key, value.value))]

    def score(self, system: str, key: str) -> Score:
        """A score that is printed."""
        score = self.scores.score(system, key)
        assert score is not None
        return score

    def sets(self, key: str) -> list[Value]:
        """The sets of problems that a benchmark's name may mean."""
        value = self.scores.benchmarks[key].problems
        return [value, *value.others]

    def pair(self, key: str, problems: float) -> Pair | None:
        """Both scores as counts, to the decimals that they are printed to; None if they are none.

        Args:
            key: of the benchmark.
            problems: that it is taken to have.
        """
        printed = [self.score(system, key).solved for system in (OURS, OTHER)]
        decimals = max(len(value.written.partition(".")[2]) for value in printed)
        counts = [proportions.counts(value.value, int(problems), decimals) for value in printed]
        if not all(counts):
            return None
        (first,), (second,) = counts
        return Pair(key, dict(self.scores.benchmarks[key].name), int(problems), first, second)

    def holm(self, pair: Pair) -> float:
        """Holm's p of a comparison among all, with its own set of problems in place."""
        members = [pair if other.key == pair.key else other for other in self.pairs.values()]
        return float(proportions.holm([member.fisher for member in members])[members.index(pair)])


def scores(comparison: Comparison) -> None:
    """The scores as they are printed, and as counts; which sets of problems a name may mean."""
    printed, pairs = comparison.scores, comparison.pairs

    def cell(system: str, key: str) -> str:
        """A score, and the count that it is."""
        score, pair = printed.score(system, key), pairs[key]
        if score is None:
            return "–"
        if system in (OURS, OTHER):
            count = pair.first if system == OURS else pair.second
            return f"{score.solved.written} = {fmt_int(count)}/{fmt_int(pair.problems)}"
        return score.solved.written

    table([{"name": (pair.name["en"], pair.name["zh"]), "problems": fmt_int(pair.problems)}
           | {system: cell(system, key) for system in printed.systems}
           for key, pair in pairs.items()],
          {"name": say("benchmark"), "problems": common("problems")} | {
              system: (label["en"], label["zh"]) for system, label in printed.systems.items()})
    several = [key for key in pairs if len(comparison.sets(key)) > 1]
    markdown(*("\n".join(_which(comparison, key, lang) for key in several) for lang in LANGUAGES))


def _which(comparison: Comparison, key: str, lang: str) -> str:
    """Which sets of problems a name may mean, and where that is known from."""
    lines, sets = [], comparison.sets(key)
    for value in sets:
        assert value.note is not None
        note = value.note[lang]
        lines.append(say("int-note", int=fmt_int(value.value),
                         note=(note[0].lower() + note[1:], note))[lang == "zh"])
    name = comparison.scores.benchmarks[key].name[lang]
    return say("source", name=name, sets=source(sets[0]),
               lines=(" ".join(lines), "".join(lines)))[lang == "zh"]


def official_scores(comparison: Comparison) -> None:
    """What the official scores are not: counts of problems solved once."""
    code_sets = comparison.sets("livecodebench")
    assert comparison.pair("livecodebench", code_sets[1].value) is None
    official = comparison.score(OFFICIAL, "aime24")
    assert official.answers is not None
    answers, mean = int(official.answers.value), official.solved.value
    problems = comparison.pairs["aime24"].problems
    assert not proportions.counts(mean, problems, 1)
    assert not proportions.counts(mean, problems * answers, 1)
    code = comparison.score(OFFICIAL, "livecodebench")
    assert not proportions.counts(code.solved.value, comparison.pairs["livecodebench"].problems, 1)
    below = int(mean / PERCENT * problems * answers)
    numbers({"s2-official-aime": official.solved.written, "s2-official-code": code.solved.written,
             "s2-card-code": code.solved.others[0].written,
             "s2-base-gsm": comparison.score(BASE, "gsm8k").solved.others[0].written}, str)
    numbers({"s2-answers": answers, "s2-thirty": problems, "s2-all-answers": problems * answers})
    numbers({"s2-answers-below": PERCENT * below / (problems * answers),
             "s2-answers-above": PERCENT * (below + 1) / (problems * answers)}, fmt_fixed)


def intervals(comparison: Comparison) -> None:
    """All scores with 95% intervals; the official ones as the document prints them."""
    possible, printed = comparison.possible, comparison.scores

    def draw(lang: str) -> Figure:
        drawing, axes = figures.axes(height=3.4)
        at_lang = LANGUAGES.index(lang)
        words = say("official-as-printed")[at_lang], say("problems-solved")[at_lang]
        labels = []
        for place, pair in enumerate(reversed(possible)):
            labels.append(pair.label[at_lang])
            for offset, colour, system, solved in (
                    (OFFSET, figures.PALETTE[0], OURS, pair.first),
                    (-OFFSET, figures.PALETTE[1], OTHER, pair.second)):
                low, high = (PERCENT * end for end in proportions.interval(solved, pair.problems))
                at = PERCENT * solved / pair.problems
                axes.errorbar(at, place + offset, xerr=[[at - low], [high - at]], fmt="o", ms=5,
                              color=colour, capsize=3,
                              label=printed.systems[system][lang] if place == 0 else None)
            score = printed.score(OFFICIAL, pair.key)
            if score:
                axes.plot(score.solved.value, place, "d", ms=7, mfc="none", color=figures.INK,
                          label=words[0] if pair.key == "aime24" else None)
        axes.set_yticks(range(len(possible)), labels)
        axes.set(xlabel=words[1])
        axes.grid(visible=False, axis="y")
        axes.legend(loc="lower left", fontsize=8.5)
        return drawing

    figure("s2-910b1-awq-intervals", draw)


def tests(comparison: Comparison) -> None:
    """A table of exact tests, one row per set of problems that a name may mean."""
    def by(pair: Pair) -> str:
        low, high = (PERCENT * end for end in proportions.difference(
            pair.first, pair.second, pair.problems))
        points = PERCENT * (pair.first - pair.second) / pair.problems
        return f"{fmt_fixed(points)} ({fmt_fixed(low, 1)} … {fmt_fixed(high, 1)})"

    table(comparison.possible, [
        Column(lambda pair: pair.label, say("benchmark-problems")),
        Column(by, say("difference-points")),
        Column(lambda pair: fmt_int(pair.first - pair.second), say("problems-apart")),
        Column(lambda pair: None if pair.least is None else fmt_int(pair.least - pair.second),
               say("needed-for-significance")),
        Column("fisher", say("p-fisher"), fmt_sig, digits=2),
        Column(comparison.holm, say("after-holm"), fmt_sig, digits=2),
        Column(lambda pair: proportions.barnard(pair.first, pair.second, pair.problems),
               say("p-barnard"), fmt_sig, digits=2),
        Column(lambda pair: " … ".join(dict.fromkeys(fmt_sig(end, 2) for end in pair.paired)),
               say("p-mcnemar"))], wide=True)


def differences(comparison: Comparison) -> None:
    """Which differences may be chance: numbers of the sentences, and what these claim."""
    level, pairs = proportions.LEVEL, comparison.pairs
    aime, code, human, school = (pairs[key] for key in (
        "aime24", "livecodebench", "humaneval", "gsm8k"))
    half = max((pair for pair in comparison.possible
                if pair.key == "gsm8k" and pair.problems < school.problems),
               key=lambda pair: pair.problems)
    assert aime.least is None
    assert aime.paired[0] == 1
    assert code.paired[0] > level
    assert human.paired[0] < level < human.paired[1]
    assert human.fisher > level > comparison.holm(school)
    assert school.paired[1] < level
    assert half.fisher < level < comparison.holm(half)
    assert code.least is not None
    assert human.least is not None
    numbers({"s2-code-apart": code.first - code.second, "s2-code-needed": code.least - code.second,
             "s2-human-apart": human.first - human.second,
             "s2-human-needed": human.least - human.second, "s2-school": school.problems,
             "s2-half": half.problems, "s2-benchmarks": len(pairs),
             "s2-not-shown": sum(comparison.holm(pair) > level for pair in pairs.values())})
    number("s2-code-paired", code.paired[0], fmt_sig, digits=3)
    numbers({"s2-human-p": human.fisher, "s2-human-high": human.paired[1],
             "s2-school-p": comparison.holm(school), "s2-half-p": half.fisher,
             "s2-half-holm": comparison.holm(half)}, fmt_sig, digits=2)
    number("s2-human-low", human.paired[0], fmt_sig, digits=1)
    number("s2-level", level, fmt_percent, digits=0)
    assert all(pair.first > pair.second for pair in pairs.values())
    number("s2-signs", float(stats.binomtest(len(pairs), len(pairs)).pvalue), fmt_sig)


def losses(comparison: Comparison, keys: Sequence[str] = ("aime24", "livecodebench")) -> None:
    """How much accuracy may have been lost against the official scores, at the level of the tests.

    Args:
        comparison: the scores.
        keys: benchmarks that have an official score.
    """
    official = {key: comparison.score(OFFICIAL, key).solved.value / PERCENT for key in keys}
    ends = {key: proportions.interval(pair.first, pair.problems, 1 - 2 * proportions.LEVEL)
            for key in keys for pair in [comparison.pairs[key]]}
    lost = {key: level - ends[key][0] for key, level in official.items()}
    assert all(loss > MARGIN for loss in lost.values())
    assert all(ends[key][0] < level < ends[key][1] for key, level in official.items())
    z = float(stats.norm.ppf(1 - proportions.LEVEL))
    mean = official["aime24"]
    numbers({"s2-margin": PERCENT * MARGIN, "s2-aime-loss": PERCENT * lost["aime24"],
             "s2-code-loss": PERCENT * lost["livecodebench"]}, fmt_fixed, digits=0)
    number("s2-aime-low", ends["aime24"][0], fmt_percent)
    number("s2-code-below", PERCENT * official["livecodebench"]
           - comparison.score(OURS, "livecodebench").solved.value, fmt_fixed, digits=1)
    number("s2-wanted", round((z / MARGIN) ** 2 * mean * (1 - mean), -2))
