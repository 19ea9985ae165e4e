"""What the chapter on growth shows: the best layout of each number of cards, and two pools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

import catalogue
from calc.capacity.day import Limits
from calc.capacity.growth import Best, OnePool, Pairing, TwoPools, sizes_of
from calc.serving.evaluate import doubt_words
from catalogue.deployments.cuts import Cut, written
from catalogue.deployments.profiles import load_profile
from catalogue.messages import LANGUAGES, Pair, by_language, join, messages, pair
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/capacity/scaling")

BINDS = {"ttft": ("TTFT", "TTFT"), "tpot": ("TPOT", "TPOT"),
         "memory_capacity": say("memory"), "max_num_seqs": say("requests-of-engine")}
RESOURCES = {"memory_bandwidth": common("memory-bandwidth"), "compute": say("compute"),
             "interconnect": say("links"), "host": say("host"), "launch": say("launches")}
EVERY = 3  # numbers of cards of which one is not folded
DOUBTED = " ~"  # beside what the closed form may be off for
ALIKE = 0.01  # less per card than the best that is told as the same
WORTH = 0.05  # more per card than what stays in one server, for a width to pay
# the last exercise: deployment, what differs from it, limits of TTFT and TPOT [s]
SHORT = "h200-r1-vllm-tp8", ["device=nvidia-h20", "cluster.node=hgx-h20"], 2.0, 0.05


@dataclass(frozen=True)
class Growth:
    """One card through all sizes.

    Attributes:
        scenario: the deployment.
        sizes: numbers of cards.
        one: the best layout of each in one pool.
        two: two pools.
        narrow: two pools whose experts stay in one server.
    """

    scenario: catalogue.Scenario
    sizes: tuple[int, ...]
    one: dict[int, Best]
    two: dict[int, TwoPools]
    narrow: dict[int, TwoPools]

    @property
    def name(self) -> dict[str, str]:
        """The card and how weights are stored, in both languages."""
        device, precision = self.scenario.device.name, self.scenario.precision.name
        return by_language(join((", ", "，"), (pair(device), pair(precision))))

    @property
    def pays(self) -> int | None:
        """Fewest cards from which experts on several servers give more in two pools."""
        return next((size for size in self.sizes if size in self.two and self.two[size].per_device
                     > (1 + WORTH) * (self.narrow[size].per_device if size in self.narrow
                                      else 0.0)), None)

    def gain(self, size: int) -> float | None:
        """Of a card in two pools over one [1]; None where there is only one of them."""
        one, two = self.one.get(size), self.two.get(size)
        return two.per_device / one.per_device - 1 if one and two else None


def grown(scenario: str, cards: Sequence[Sequence[str]], settings: Sequence[str], ttft: float,
          tpot: float) -> list[Growth]:
    """Every card at every number of cards.

    Args:
        scenario: the deployment.
        cards: what makes it one of another card, as ``--set`` takes it.
        settings: what differs from it besides.
        ttft, tpot: limits of the means [s].

    Raises ParamsError for what cannot be used.
    """
    limits, found = Limits(ttft, tpot, None), []
    for card in cards:
        loaded = catalogue.load_scenario(scenario, overrides=[*settings, *card])
        sizes = sizes_of(int(loaded.node.devices_per_node.value))
        two = Pairing(loaded, sizes)
        narrow = Pairing(loaded, sizes, narrow=True, space=two.space)
        found.append(Growth(loaded, sizes, OnePool(loaded, sizes).best(limits), two.best(limits),
                            narrow.best(limits)))
    return found


def answer(found: Sequence[Growth]) -> None:
    """The answer in sentences: per card from the fewest to the most, and where pools pay."""
    for page in found:
        ones = list(page.one.values())
        said = []
        if ones:
            most = max(each.per_device for each in ones)
            alike = [each for each in ones if each.per_device >= (1 - ALIKE) * most]
            single = alike[0]
            layout = pair(written(Cut(*single.cut)))
            if alike == ones:
                said.append(say("rate-of-any-number", most=fmt_sig(single.per_device),
                                cards=ones[0].devices, way=_way(single), layout=layout))
            else:
                said.append(say("rate-in-one-pool", most=fmt_sig(single.per_device),
                                cards=ones[0].devices, way=_way(single), layout=layout,
                                rate=fmt_sig(ones[0].per_device), most_cards=single.devices))
        if page.two:
            top = max(page.two.values(), key=lambda pools: pools.per_device)
            said.append(say("rate-in-two-pools", most=fmt_sig(top.per_device), cards=top.devices))
        said.append(say("several-servers-never-pay") if page.pays is None
                    else say("several-servers-pay", cards=page.pays))
        markdown(*say("rates-of-card", card=pair(page.name), rates=join(("", ""), said)))


def conditions(found: Sequence[Growth], ttft: float, tpot: float) -> None:
    """The model, the lengths and the limits [s] for which all rates hold."""
    inputs = found[0].scenario.inputs()
    number("scale-model", found[0].scenario.model.name["en"], str)
    numbers({"scale-prompt": inputs["input_tokens"], "scale-answer": inputs["output_tokens"]})
    numbers({"scale-ttft": ttft, "scale-tpot": tpot}, fmt_time)


def picture(found: Sequence[Growth], lang: str) -> Figure:
    """Output tokens per second and card against cards."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=4.2)
    top, sizes = 0.0, set[int]()
    colours = figures.card_colours(page.name["en"] for page in found)
    for page in found:
        colour = colours[page.name["en"]]
        one, narrow, two = ({size: each.per_device for size, each in pools.items()}
                            for pools in (page.one, page.narrow, page.two))
        for points, style, width in ((one, "-", 2.0), (narrow, ":", 1.6), (two, "--", 2.4)):
            if points:
                axes.plot(list(points), list(points.values()), style, color=colour, lw=width,
                          marker="o", ms=3.5)
                top, sizes = max(top, *points.values()), sizes | set(points)
        if end := two or one:
            axes.annotate(page.name[lang], (max(end), end[max(end)]), xytext=(0, 7),
                          textcoords="offset points", ha="right", fontsize=8.5, color=colour)
    for style, words in (("-", say("one-pool")), (":", say("two-pools-experts-in-one")),
                         ("--", say("two-pools"))):
        axes.plot([], [], style, color=figures.INK, label=words[at])
    axes.set(xscale="log", ylim=(0, 1.15 * top),
             xlabel=common("number-of-cards")[at], ylabel=say("output-tokens-s-per-card")[at])
    figures.ticks(axes.xaxis, sorted(sizes), fontsize=8.5)
    axes.legend(loc="upper left", fontsize=8.5)
    return drawing


def layouts(page: Growth) -> None:
    """The best layout of each number of cards, and two pools."""
    def one(of: Callable[[Best], Any]) -> Callable[[int], Any]:
        return lambda size: of(best_) if (best_ := page.one.get(size)) else None

    def two(of: Callable[[TwoPools], Any]) -> Callable[[int], Any]:
        return lambda size: of(pools) if (pools := page.two.get(size)) else None

    def layout(best_: Best) -> Pair:
        doubted = (DOUBTED * bool(best_.doubts),) * 2
        return join(("", ""), [pair(written(Cut(*best_.cut))), _way(best_), doubted])

    markdown(f"{page.name['en']}:", f"{page.name['zh']}：")
    columns = [
        Column(int, common("number-of-cards")), Column(one(layout), say("best-in-one-pool")),
        Column(one(lambda each: each.requests), say("in-flight")),
        Column(one(lambda each: each.per_device), common("token-s-per-card"), fmt_sig),
        Column(one(lambda each: each.ttft), "TTFT", fmt_time),
        Column(one(lambda each: each.tpot), "TPOT", fmt_time),
        Column(one(lambda each: BINDS[each.binds]), common("limit")),
        Column(one(lambda each: RESOURCES.get(each.resource, each.resource)), say("step-bound-by")),
        Column(two(_pools), say("two-pools-prefill-decode")),
        Column(two(lambda each: each.per_device), common("token-s-per-card"), fmt_sig),
        Column(page.gain, say("gain"), fmt_percent, digits=0)]
    table(page.sizes[1::EVERY], columns, wide=True)
    table(page.sizes, columns, wide=True, folded=say("every-number-of-cards"))
    _doubted(list(page.one.values()))


def _doubted(ones: Sequence[Best]) -> None:
    """Why the closed form may be off for some of them."""
    names = list(dict.fromkeys(name for one in ones for name in one.doubts))
    if names:
        markdown(*say("in-closed-form-which-simulation", mark=DOUBTED.strip(),
                  doubts=join(("; ", "；"), (doubt_words()[name] for name in names))))


def _pools(two: TwoPools) -> Pair:
    """``2×8 + 1×32 (EP32, 1 draft)``."""
    a, b = two.groups
    english, chinese = (
        f"{a}×{two.prefill.devices} + {b}×{two.decode.devices} (EP{two.decode.expert}{way})"
        for way in _steps(two.decode.drafts, two.decode.micro_batches))
    return english, chinese


def _way(one: Best) -> Pair:
    """How a step of a layout runs, where it drafts or is cut in two."""
    return _steps(one.draft_tokens, one.micro_batches)


def _steps(drafts: int, batches: int) -> Pair:
    """How a step runs, where it drafts or is cut in two: ``, 1 draft, two micro-batches``."""
    return say("drafts-and-halves", drafts=drafts, halves=batches > 1)


def growth_numbers(found: Sequence[Growth]) -> None:
    """Numbers of the page's prose."""
    number("scale-worth", WORTH, fmt_percent, digits=0)
    number("scale-drafting", " / ".join(
        f"{profile.name['en']} {statement.since}" for profile in map(
            load_profile, catalogue.names("profiles"))
        for statement in profile.statements
        if statement.staged_drafts and statement.staged_drafts.value), str)
    most = [max(gains) + 1 for page in found if (gains := [
        gain for size in page.two if (gain := page.gain(size)) is not None])]
    if most:
        numbers({"scale-gain-low": min(most), "scale-gain-high": max(most)}, fmt_fixed, digits=1)


def turn() -> None:
    """The answer of the last exercise: where two pools begin to pay for short requests."""
    name, card, *limits = SHORT
    page, = grown(name, [card], (), *limits)
    size, before = next((size, before) for before, size in pairwise(page.sizes)
                        if (page.gain(size) or 0) > WORTH)
    numbers({"scale-turn-cards": size, "scale-turn-fewer": before})
    for key, cards in (("", size), ("fewer-", before)):
        one, two = page.one[cards], page.two[cards]
        numbers({f"scale-turn-{key}one": one.per_device, f"scale-turn-{key}two": two.per_device},
                fmt_sig)
