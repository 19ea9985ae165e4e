"""The chapter on the documents' cards today: which model runs best there, and what it gains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import matplotlib as mpl
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from calc.searching.ranking import SURE
from calc.uncertainty import Amount
from catalogue import load_device, load_model, load_precision
from catalogue.deployments.admission import cut_of, underived
from catalogue.deployments.cuts import written
from catalogue.kernels import kernels_of, quality
from catalogue.messages import LANGUAGES, Pair, join, messages, pair
from notebooks.pages.catalogue.tables.deployments import page_of
from notebooks.pages.deciding.generations.models import LIMIT, published
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.deciding.today.plans import (
    MEMORY,
    MODELS,
    PLANNED,
    PLANS,
    Served,
    as_written,
    demanded,
    document,
    formats,
    ranking,
    served,
    wins,
)
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import interval, markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/today/page")

KILO = 1e3
R1 = "R1", "R1"  # that the documents plan, of the shapes of V3
ONE_SERVER, FULL, HOST = "s0-config-4.1-bf16", "s1-plan-c", "s3-hybrid-910b4"  # that are told
CARDS = ("ascend-910b2", "nvidia-h20")  # whose kernels are told; the other 910B have those of one
LONGEST_NAME = 9  # letters that a field is wide
SHADES = 0.05, 0.6  # of the colour map: what is written on them stays legible


def named(model: str) -> Pair:
    """A model by its name, with a star where it is not derived in full; R1 for DeepSeek-V3."""
    if model == PLANNED:
        return R1
    known = load_model(model)
    star = "*" if known.missing else ""
    return join(("", ""), (pair(known.name), (star, star)))


def place(reference: str) -> str:
    """Where a document has a plan: ``S0 4.1``."""
    file = document(reference).file
    return f"{str(file.document).upper()} {file.section}"


def linked(reference: str) -> str:
    """That as a link to the page of the deployment."""
    return f"[{place(reference)}](scenarios/{page_of(reference)}.ipynb)"


def cards(reference: str) -> Pair:
    """How many of which card a plan has: ``8 × Ascend 910B2``."""
    plan = document(reference)
    return join((" × ", " × "), ((fmt_int(plan.devices),) * 2, device_label(plan.device.id)))


def demand(reference: str) -> str:
    """Users and the length of their requests: ``32 × 4,096``."""
    return " × ".join(map(fmt_int, demanded(reference)))


def within(amount: Amount | None, fmt: Callable[..., str], factor: float = 1.0, **options: int
           ) -> Pair | None:
    """A median with its interval: ``30.2 (25.0–44.6)``."""
    if amount is None:
        return None
    value, low, high = (fmt(float(factor * number), **options)
                        for number in amount.points)
    return f"{value} ({low}–{high})", f"{value}（{low}–{high}）"


def _pace(of: Served) -> Pair | None:
    return within(of.ranged_pace, fmt_fixed, KILO, digits=1)


def _cost(of: Served) -> Pair | None:
    return within(of.ranged_cost, fmt_sig, digits=2)


def _most(reference: str) -> Served:
    """The model of today that serves most of a plan's users' kind within the limit."""
    return max((served(reference, model) for model in MODELS), key=lambda each: each.users)


def answer_table() -> None:
    """A plan a row: as it is written, R1 on its cards, and the model of today that runs best."""
    def reference_pace(plan: str) -> Pair:
        found = served(plan, PLANNED)
        if found.best is None:
            return say("holds-only", held=found.held) if found.held else say("holds-none")
        return join((" ", " "), ((f"`{found.precision}`",) * 2, _pace(found) or ("", "")))

    def most(plan: str) -> Pair | None:
        found = _most(plan)
        reference = served(plan, PLANNED)
        return say("users-of", model=named(found.model), users=fmt_int(found.users),
                   precision=found.precision, narrower=reference.precision,
                   reference=fmt_int(reference.users)) if found.users else None

    def times(plan: str) -> float | None:
        before, now = served(plan, PLANNED).pace, ranking(plan)[0].pace
        return before / now if before and now else None

    table(PLANS, [
        Column(linked, common("plan")), Column(cards, common("cards")),
        Column(demand, say("demand")),
        Column(lambda plan: fmt_fixed(KILO * pace, 1) if (pace := as_written(plan).pace)
               else say("does-not-run"), say("as-written")),
        Column(reference_pace, say("r1-there")),
        Column(lambda plan: join(("<br>", "<br>"), (
            named(ranking(plan)[0].model), (f"`{ranking(plan)[0].precision}`",) * 2)),
            say("runs-best")),
        Column(lambda plan: _pace(ranking(plan)[0]), say("ms-per-token")),
        Column(lambda plan: _cost(ranking(plan)[0]), say("usd-per-million")),
        Column(times, say("times-r1"), fmt_sig, digits=2),
        Column(most, say("most-users", limit=fmt_time(LIMIT)))], wide=True)


def picture(lang: str) -> Figure:
    """Time per token of every plan's users by model; what holds fewer says how many."""
    at = LANGUAGES.index(lang)
    models = (PLANNED, *MODELS)
    drawing, axes = figures.axes(height=0.9 + 0.29 * len(PLANS), width=9.2)
    found = [[served(plan, model) for model in models] for plan in PLANS]
    paces = [KILO * each.pace for row in found for each in row if each.pace]
    norm = LogNorm(min(paces), 2 * KILO * LIMIT, clip=True)

    def field(across: int, down: int, pace: float | None, otherwise: str, least: bool) -> None:
        if pace is None:
            axes.text(across, down, otherwise, ha="center", va="center", fontsize=7.5,
                      color="#777777")
            return
        shade = SHADES[0] + (SHADES[1] - SHADES[0]) * float(norm(KILO * pace))
        axes.add_patch(mpl.patches.Rectangle(
            (across - 0.47, down - 0.44), 0.94, 0.88, facecolor=mpl.colormaps["YlOrRd"](shade),
            edgecolor="#222222", lw=1.4 if least else 0))
        axes.text(across, down, fmt_sig(KILO * pace, 2), ha="center", va="center", fontsize=8.5,
                  color="#222222")

    for down, (plan, row) in enumerate(zip(PLANS, found, strict=True)):
        field(0, down, as_written(plan).pace, "–", least=False)
        for across, each in enumerate(row, 1):
            fewer = say("fits-count", held=each.held)[at] if each.held else "–"
            field(across, down, each.pace, fewer, least=each == ranking(plan)[0])
    figures.fields(
        axes, [say("as-written-short")[at], *(_broken(named(model)[at]) for model in models)],
        ["   ".join((place(plan), cards(plan)[at], demand(plan))) for plan in PLANS])
    return drawing


def _broken(name: str) -> str:
    """A long name over two lines, after its first hyphen."""
    return name.replace("-", "-\n", 1) if len(name) > LONGEST_NAME else name


def models_tables() -> None:
    """Every model on the cards of every plan, folded plan by plan; and what is not derived."""
    columns = [
        Column(lambda row: named(row.model), common("model")),
        Column(lambda row: f"`{row.precision}`" if row.held else None, say("runs-as")),
        Column(_layout, common("layout")),
        Column(lambda row: row.held or None, say("most-that-fit"), fmt_int),
        Column(_pace, say("ms-per-token")), Column(_cost, say("usd-per-million")),
        Column(lambda row: row.users if row.held else None,
               say("users-within", limit=fmt_time(LIMIT)), fmt_int),
        Column(lambda row: row.rate or None, say("tokens-within"), fmt_sig, digits=3)]
    for plan in PLANS:
        users, tokens = demanded(plan)
        table([served(plan, model) for model in (PLANNED, *MODELS)], columns, folded=say(
            "plan-of", plan=place(plan), cards=cards(plan), users=users, tokens=fmt_int(tokens)))
    if missing := underived(MODELS):
        markdown(*missing)


def _layout(of: Served) -> Pair | None:
    if of.best is None:
        return None
    cut = written(cut_of(of.best.made.scenario))
    count = "" if of.best.count == 1 else f"{of.best.count} × "
    return count + cut["en"], count + cut["zh"]


def formats_tables() -> None:
    """What runs of each model on the documents' cards, and which releases have its kernels."""
    for device in CARDS:
        rows = [(model, name) for model in (PLANNED, *MODELS) for name in formats(model, device)]
        table(rows, [
            Column(lambda row: named(row[0]), common("model")),
            Column(lambda row: f"`{published(row[0])}`", say("published-as")),
            Column(lambda row: f"`{row[1]}`", say("runs-as")),
            Column(partial(_releases, device), say("releases-with-kernels")),
            Column(lambda row: _change(*row), say("known-change"), fmt_fixed, digits=1)],
            folded=say("formats-on", card=device_label(device)))


def _releases(device: str, row: tuple[str, str]) -> Pair:
    model, precision = row
    found = kernels_of(load_precision(precision), load_device(device), load_model(model))
    return join(("; ", "；"), [kernel.release_words for kernel in found])


def _change(model: str, precision: str) -> float | None:
    """The worst score of a format less that of the published weights [points], of the model or its
    family; None where nobody published both."""
    found = quality(load_model(model), precision)
    return 0.0 if found.lossless else found.worst


def answer() -> None:
    """The numbers of the first sentences."""
    number("td-plans", len(PLANS))
    number("td-written", sum(as_written(plan).fits for plan in PLANS))
    number("td-held", sum(bool(ranking(plan)) for plan in PLANS))
    number("td-within", sum((ranking(plan)[0].pace or LIMIT) < LIMIT for plan in PLANS))
    numbers({"td-limit": LIMIT}, fmt_time)
    number("td-memory", MEMORY, fmt_percent, digits=0)
    number("td-apart", sum(wins(plan) >= SURE for plan in PLANS))
    number("td-sure", SURE, fmt_percent, digits=0)
    leaders = Counter(ranking(plan)[0].model for plan in PLANS).most_common()
    numbers({"td-first": named(leaders[0][0])[0]}, str)
    number("td-first-count", leaders[0][1])
    for key, plan in (("server", ONE_SERVER), ("full", FULL), ("host", HOST)):
        users, tokens = demanded(plan)
        numbers({f"td-{key}-users": users, f"td-{key}-tokens": tokens,
                 f"td-{key}-cards": document(plan).devices})
        for role, of in (("now", ranking(plan)[0]), ("r1", served(plan, PLANNED))):
            numbers({f"td-{key}-{role}": named(of.model)[0],
                     f"td-{key}-{role}-format": of.precision}, str)
            if plan == FULL:
                _interval(f"td-{key}-{role}-usd", of.ranged_cost, 1.0)
            else:
                _interval(f"td-{key}-{role}-ms", of.ranged_pace, KILO)


def _interval(key: str, amount: Amount | None, factor: float) -> None:
    assert amount
    interval(key, (float(factor * end) for end in amount.points), fmt_sig,
             digits=2)
