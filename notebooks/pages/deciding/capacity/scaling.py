"""What the chapter on growth shows: the best layout of each number of cards, and two pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import catalogue
from calc.answer.estimate import estimate
from calc.capacity.growth import Best, best, sizes_of
from calc.capacity.pool_layouts import Pairing, TwoPools
from calc.capacity.replicas import Limits
from calc.capacity.tables import Tables
from calc.closed_form.validity import doubt_words
from catalogue.messages import Pair, join, messages
from notebooks.pages.deciding.capacity import scaling_figures
from notebooks.show.display import draw, number, show, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/capacity/scaling")

BINDS = {"ttft": ("TTFT", "TTFT"), "tpot": ("TPOT", "TPOT"),
         "memory_capacity": say("memory"), "max_num_seqs": say("requests-of-engine")}
RESOURCES = {"memory_bandwidth": common("memory-bandwidth"), "compute": say("compute"),
             "interconnect": say("links"), "host": say("host"), "launch": say("launches")}
SIZES = {"tensor_parallel": "TP", "pipeline_parallel": "PP", "data_parallel": "DP",
         "expert_parallel": "EP"}
EVERY = 3  # numbers of cards of which one is not folded
DOUBTED = " ~"  # beside what the closed form may be off for
WORTH = 0.05  # more per card than what stays in one server, for a width to pay
S1 = ("s1-scale-24", "s1-scale-32", "s1-scale-48", "s1-scale-64")


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
    one: dict[int, Best | None]
    two: dict[int, TwoPools]
    narrow: dict[int, TwoPools]

    @property
    def name(self) -> dict[str, str]:
        """The card and how weights are stored, in both languages."""
        device, precision = self.scenario.device.name, self.scenario.precision.name
        return {lang: f"{device[lang]}, {precision[lang]}" for lang in ("en", "zh")}

    @property
    def pays(self) -> int | None:
        """Fewest cards from which experts on several servers give more in two pools."""
        return next((size for size in self.sizes if size in self.two and self.two[size].per_device
                     > (1 + WORTH) * (self.narrow[size].per_device if size in self.narrow
                                      else 0.0)), None)


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
        tables = Tables(loaded)
        found.append(Growth(
            loaded, sizes, {size: best(loaded, size, limits, tables=tables) for size in sizes},
            Pairing(loaded, sizes).best(limits),
            Pairing(loaded, sizes, narrow=True).best(limits)))
    return found


def answer(found: Sequence[Growth]) -> None:
    """The answer in sentences: per card from the fewest to the most, and where pools pay."""
    for page in found:
        ones = [each for each in page.one.values() if each]
        twos = list(page.two.values())
        top = max(twos, key=lambda pools: pools.per_device) if twos else None
        single = max(ones, key=lambda each: each.per_device) if ones else None
        said = []
        if single and ones:
            said.append(say("rate-in-one-pool", rate=fmt_sig(ones[0].per_device),
                            cards=ones[0].devices, most=fmt_sig(single.per_device),
                            most_cards=single.devices, way=_way(single.way),
                            layout=(single.layout, single.layouts["zh"])))
        if top:
            said.append(say("rate-in-two-pools", most=fmt_sig(top.per_device), cards=top.devices))
        said.append(say("several-servers-never-pay") if page.pays is None
                    else say("several-servers-pay", cards=page.pays))
        show(*say("rates-of-card", card=(page.name["en"], page.name["zh"]),
                  rates=join(("", ""), said)))


def picture(found: Sequence[Growth]) -> None:
    """Throughput per card against cards."""
    draw(partial(scaling_figures.growth, [
        (page.name, {size: one.per_device for size, one in page.one.items() if one},
         {size: two.per_device for size, two in page.two.items()},
         {size: two.per_device for size, two in page.narrow.items()}) for page in found]))


def layouts(page: Growth) -> None:
    """The best layout of each number of cards, and two pools."""
    rows = []
    for size in page.sizes:
        one, two = page.one[size], page.two.get(size)
        row: dict[str, object] = {"cards": size}
        if one:
            row |= {"layout": tuple(text + way + DOUBTED * bool(one.doubts) for text, way in zip(
                        one.layouts.values(), _way(one.way), strict=True)),
                    "requests": one.requests,
                    "per": fmt_sig(one.per_device), "ttft": fmt_time(one.ttft),
                    "tpot": fmt_time(one.tpot), "binds": BINDS[one.binds],
                    "resource": RESOURCES.get(one.resource, (one.resource,) * 2)}
        if two:
            row |= {"pools": _pools(two), "two": fmt_sig(two.per_device)}
            if one:
                row["gain"] = fmt_percent(two.per_device / one.per_device - 1, 0)
        rows.append({key: row.get(key, "–") for key in (
            "cards", "layout", "requests", "per", "ttft", "tpot", "binds", "resource", "pools",
            "two", "gain")})
    name = page.name
    show(f"{name['en']}:", f"{name['zh']}：")
    columns: dict[str, str | Pair] = {
        "cards": common("number-of-cards"), "layout": say("best-in-one-pool"),
        "requests": say("in-flight"), "per": common("token-s-per-card"),
        "ttft": "TTFT", "tpot": "TPOT", "binds": common("limit"), "resource": say("step-bound-by"),
        "pools": say("two-pools-prefill-decode"),
        "two": common("token-s-per-card"), "gain": say("gain")}
    table(rows[1::EVERY], columns, wide=True)
    table(rows, columns, wide=True, folded=say("every-number-of-cards"))
    _doubted([one for one in page.one.values() if one])


def _doubted(ones: Sequence[Best]) -> None:
    """Why the closed form may be off for some of them."""
    names = list(dict.fromkeys(name for one in ones for name in one.doubts))
    if names:
        show(*say("in-closed-form-which-simulation", mark=DOUBTED.strip(),
                  doubts=join(("; ", "；"), (doubt_words()[name] for name in names))))


def _pools(two: TwoPools) -> Pair:
    """``2×8 + 1×32 (EP32, 1 draft)``."""
    a, b = two.groups
    english, chinese = (
        f"{a}×{two.prefill.devices} + {b}×{two.decode.devices} (EP{two.decode.expert}{way})"
        for way in _way((two.decode.drafts, two.decode.micro_batches)))
    return english, chinese


def _way(way: tuple[int, int]) -> Pair:
    """How a step runs, where it drafts or is cut in two: ``, 1 draft, two half-batches``."""
    drafts, batches = way
    return say("drafts-and-halves", drafts=drafts, halves=batches > 1)


def growth_numbers(found: Sequence[Growth]) -> None:
    """Numbers of the page's prose."""
    number("scale-tried", sum(one.tried for page in found for one in page.one.values() if one))
    number("scale-worth", WORTH, fmt_percent, digits=0)
    most = [max(two.per_device / one.per_device for size, two in page.two.items()
                if (one := page.one[size])) for page in found
            if any(page.one[size] for size in page.two)]
    if most:
        number("scale-gain-low", min(most), fmt_fixed, digits=1)
        number("scale-gain-high", max(most), fmt_fixed, digits=1)


def _size(path: str, value: str | int) -> str:
    """A changed setting: ``PP3``; of one that is no parallel size, its path."""
    name = path.rpartition(".")[2]
    return f"{SIZES[name]}{value}" if name in SIZES else f"`{path}={value}`"


def documented() -> None:
    """The scaling table of document S1: as printed, and what follows from its own inputs."""
    rows = []
    for name in S1:
        scenario = catalogue.load_scenario(name)
        found = estimate(scenario)
        said = next(row for row in found.documented if row.quantity == "output_throughput")
        change = found.changes[0] if found.changes else None
        runs = change.quantities["output_throughput"] if change else None
        cards = change.devices if change else scenario.devices
        rows.append({
            "cards": scenario.devices, "printed": fmt_int(round(said.printed)),
            "per": fmt_sig(said.printed / scenario.devices),
            "fits": common("yes-it-can") if found.fits else common("no-plain"),
            "change": ", ".join(map(_size, change.settings, change.settings.values()))
            if change else "–",
            "runs": fmt_int(round(runs)) if runs else "–",
            "each": fmt_sig(runs / cards) if runs else "–"})
    table(rows, {"cards": common("number-of-cards"), "printed": say("printed-token-s"),
                 "per": common("per-card"), "fits": say("fits-as-written"),
                 "change": say("nearest-change-that-runs"),
                 "runs": say("token-s-of-that"), "each": common("per-card")},
          wide=True)
