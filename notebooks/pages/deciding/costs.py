"""Tables and pictures of the chapter on cost: prices, tokens against utilisation, energy, power."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.costing.cost import crossovers
from calc.costing.ownership import (
    BUSY,
    MILLION,
    around,
    busy_times,
    card_hour,
    heat_of_server,
    own_cards,
    powers_of,
    prices_of,
    site_power,
)
from calc.evidence import energy
from calc.uncertainty import Amount
from catalogue.entries.operation import OWNERSHIPS, Prices
from catalogue.messages import LANGUAGES, Pair, messages, pair
from catalogue.reading.units import HOUR
from notebooks.pages.catalogue.dated import as_of
from notebooks.pages.deciding.front.r1 import NOTHING, OWNED, WHOLE, million
from notebooks.pages.deciding.front.standard import CARDS, R1, Priced, question, serve, served_by
from notebooks.pages.deciding.goals import device_label, so_many
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import cited, interval, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/costs")

KILO = 1e3
APART = 0.06  # utilisations that are nearer bear one label
NAMES: dict[str, Pair] = {"own": say("own"), "rent-always": say("rent-for-years"),
                          "rent-by-hour": say("rent-by-hour")}
PRICED = ("nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-b200", "nvidia-gb200", "nvidia-gb300",
          "amd-mi300x", "nvidia-a100-sxm-80gb", "nvidia-h20", "ascend-910b2", "ascend-910b4",
          "ascend-910c-die")
OLDER = "nvidia-h100-sxm"  # which the standard question leaves out
KINDS: dict[str, Pair] = {
    "awake": say("between-kernels"), "memory": say("streaming-weights"),
    "matmul": say("dense-matmuls"), "experts": say("grouped-matmuls"),
    "attention": common("attention"), "links": say("collectives")}


def flagship() -> Priced:
    """DeepSeek-R1 on eight H200, as the book's standard question has it, priced."""
    return served_by(R1, OWNED).priced()


def headline(page: Priced) -> None:
    """The numbers of the page's first sentences."""
    for key, name, scale in (
            ("c-out", WHOLE, 1), ("c-alone", "per_million_output", 1),
            ("c-in", "per_million_input", 1),
            ("c-cross", "crossover", 100), ("c-joule", "energy_per_token", 1),
            ("c-site", "site_energy_per_token", 1)):
        interval(key, (scale * float(end) for end in page.cost.amounts[name].points), fmt_sig,
                 digits=2)
    number("c-used", page.asked.utilisation, fmt_percent, digits=0)
    interval("c-rate", map(round, page.rate.points))
    sold, inputs = page.asked.sold, page.scenario.inputs()
    assert sold is not None
    assert sold.model is not None
    number("c-api-out", per_million(sold.output), fmt_fixed)
    number("c-api-model", sold.model["en"], str)
    standard = served_by(R1, OWNED)
    number("c-layout", standard.sizes, str)
    numbers({"c-drafts": standard.choice.drafts, "c-users": inputs["concurrency"],
             "c-prompt": inputs["input_tokens"],
             "c-answer": inputs["output_tokens"]})


HOURS: dict[str, Pair] = {"all": say("all"), "off-peak": say("off-peak"), "peak": say("peak")}


def _service() -> Prices:
    """The service that owning is held against."""
    asked = question()
    assert asked.api is not None
    return catalogue.load_prices(asked.api)


def price_lists(page: Priced) -> None:
    """Every price list of the service, which of them hold, and from where on owning is cheaper."""
    service = _service()
    found = crossovers(page.scenario, page.cost, page.asked, service,
                       prices_of(page.scenario.device.id))

    def reached(share: float) -> Pair:
        text = fmt_percent(share, 0)
        return say("never") if share > 1 else (text, text)

    rows: list[Mapping[str, Any]] = []
    for name, sold in (service.sold or {}).items():
        low, high = reached(found[name].low), reached(found[name].high)
        prices = [price or sold.input for price in (sold.input, sold.cached_input, sold.output)]
        rows.append({
            "model": sold.model or service.name,
            "held": common("releases-from-to", since=str(sold.since),
                           until=sold.until or say("today")),
            "hours": HOURS[sold.hours],
            "prices": " / ".join(fmt_sig(per_million(price)) for price in prices),
            "from": tuple(f"**{text}**" if sold.until is None else text
                          for text in reached(found[name].value)),
            "reach": low if low == high else (f"{low[0]} to {high[0]}", f"{low[1]}–{high[1]}"),
            "source": cited(sold.output.source)})
    table(rows, {"model": common("model"), "held": common("held"), "hours": common("hours"),
                 "prices": say("usd-per-million-prompt-found"),
                 "from": say("owning-is-cheaper-from"),
                 "reach": common("interval"), "source": common("source")}, wide=True)
    as_of(service)


def hours() -> None:
    """What an hour of each card costs, by way of having it; what nobody prints is said."""
    def cell(amount: Amount | None) -> str | Pair:
        if amount is None:
            return say("not-found")
        value, low, high = amount.per(f"{amount.currency}/h")
        if low == high:
            return say("one-quote", quote=f"{value:.2f} {amount.currency}")
        return f"{value:.2f} ({low:.2f}–{high:.2f}) {amount.currency}"

    rows: list[Mapping[str, Any]] = []
    for device in PRICED:
        found = {ownership: card_hour(device, ownership) for ownership in OWNERSHIPS}
        told = {ownership: cell(amount) for ownership, amount in found.items()}
        rows.append({"card": catalogue.load_device(device).name, **told,
                     "from": "; ".join(dict.fromkeys(
                         cited(amount.source) for amount in found.values() if amount))})
    table(rows, {"card": common("card"), **NAMES, "from": say("sources")}, wide=True)
    as_of(*((prices_of(device).hour, catalogue.load_device(device).price) for device in PRICED))


def millions() -> None:
    """What a million output tokens of R1 cost on each card: at the published hour of owning it, and
    at the hour that prices of hardware come to."""
    rows: list[Mapping[str, Any]] = []
    for device in (OLDER, *CARDS):
        told = serve(R1, device)
        assert told
        priced = told.priced()
        found = priced.cost
        row: dict[str, Any] = {
            "card": device_label(device),
            "cards": so_many(told.choice.devices, device, column=True),
            "published": million(found) if found.hour else NOTHING}
        of_parts = priced.of_parts()
        if of_parts and of_parts.hour and (server := of_parts.server):
            value, low, high = of_parts.hour.per(f"{of_parts.currency}/h")
            row |= {"hardware": million(of_parts), "hour": f"{value:.2f} ({low:.2f}–{high:.2f})",
                    "kind": common("kind-of-statement", kind=server.kind),
                    "source": f"{cited(server.source)} ({server.date})"}
            if device == OWNED and found.hour:
                number("c-parts-over-hour", of_parts.hour.value / found.hour.value, fmt_sig,
                       digits=2)
        rows.append(dict.fromkeys(("hardware", "hour", "kind", "source"), NOTHING) | row)
    table(rows, {"card": common("card"), "cards": common("number-of-cards"),
                 "published": say("million-at-published-hour"),
                 "hardware": say("million-at-hardware-prices"), "hour": say("hour-of-hardware"),
                 "source": say("price-of-server"), "kind": common("kind")}, wide=True)


def against_utilisation(page: Priced, lang: str) -> Figure:
    """Cost of a million output tokens, prompts included, against utilisation; the crossovers."""
    index = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.9)
    used, marked = np.linspace(0.03, 1, 200), list[float]()
    api = MILLION * page.api_per_output
    noted: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}
    for place, ownership in enumerate(OWNERSHIPS):
        hour = card_hour(page.scenario.device.id, ownership)
        if hour is None:
            continue
        cards = page.cost.amounts["per_hour"].value / HOUR / (
            page.cost.hour.value if page.cost.hour else 1)
        full = MILLION * cards * hour.value / page.rate.value
        low, high = (MILLION * cards * end / rate for end, rate in (
            (hour.low, page.rate.high), (hour.high, page.rate.low)))
        colour = figures.PALETTE[place]
        flat = ownership == "rent-by-hour"
        shape = np.ones_like(used) if flat else 1 / used
        axes.plot(100 * used, full * shape, color=colour)
        axes.fill_between(100 * used, low * shape, high * shape, color=colour, alpha=0.10, lw=0)
        at = 0.97 if flat else 0.045 * (1 + 0.9 * place)
        axes.annotate(NAMES[ownership][index], (100 * at, full if flat else full / at),
                      color=colour, xytext=(0, 6) if flat else (8, 2),
                      ha="right" if flat else "left", **noted)
        if not flat and full < api:
            axes.plot([100 * full / api], [api], "o", color=colour, ms=7)
            if any(abs(full / api - other) < APART for other in marked):
                continue
            marked.append(full / api)
            axes.annotate(f"{100 * full / api:.0f}%", (100 * full / api, api), color=colour,
                          xytext=(3, 8), **noted)
    axes.axhline(api, color=figures.INK, lw=1.2, ls="--")
    sold = page.asked.sold.model if page.asked.sold and page.asked.sold.model else {}
    axes.annotate(say("api-price", model=(sold.get("en", ""), sold.get("zh", "")))[index],
                  (100, api), xytext=(0, 5), ha="right", color=figures.INK, **noted)
    axes.set(yscale="log", xlim=(0, 100), ylim=(0.5 * min(api, full), 40 * api),
             xlabel=say("share-of-throughput-that-is")[index],
             ylabel=say("usd-per-million-output-tokens")[index])
    figures.log_ticks(axes.yaxis, *axes.get_ylim())
    return drawing


def energy_numbers() -> list[energy.PowerComparison]:
    """Numbers of what energy is held against; returns the tables."""
    found = [energy.power_comparison(name) for name in energy.tables()]
    summary = energy.summary(found)
    for key, name in (("e", "energy_per_token"), ("p", "power"), ("x", "output_throughput")):
        of = summary[name]
        number(f"{key}-median", of["median"], fmt_percent)
        number(f"{key}-worst", of["worst"], fmt_percent, digits=0)
        number(f"{key}-inside", round(of["coverage"] * of["rows"]))
    number("e-rows", summary["power"]["rows"])
    few = np.abs(np.concatenate([
        one.predictions["energy_per_token"].errors[one.concurrency <= FEW] for one in found]))
    number("e-few", np.median(few), fmt_percent)
    number("e-few-worst", np.max(few), fmt_percent, digits=0)
    return found


TASKS: dict[str, Pair] = {"b200-energy-chat": say("chat"), "b200-energy-gpqa": say("long-answers")}
MODELS = {"b200-energy-chat": ("V3.1",),
          "b200-energy-gpqa": ("R1", "V3.1")}  # one after the other, requests rising for each
FEW = 130  # requests up to which the steps are those of decode alone


def energy_table(found: list[energy.PowerComparison]) -> None:
    """Every row: throughput, power and energy, measured, predicted and the error."""
    rows = []
    for held in found:
        models = iter(MODELS[held.table])
        for row, requests in enumerate(held.concurrency):
            if row == 0 or requests < held.concurrency[row - 1]:
                model = next(models)
            rows.append((held, row, model))

    def columns(name: str, unit: str, digits: int) -> list[Column]:
        def cell(row: Any, part: str) -> float:
            return float(getattr(row[0].predictions[name], part)[row[1]])

        return [Column(lambda row: cell(row, "measured"), say("measured", what=unit), fmt_fixed,
                       digits=digits),
                Column(lambda row: cell(row, "predicted"), say("predicted", what=unit), fmt_fixed,
                       digits=digits),
                Column(lambda row: cell(row, "errors"), common("error"), fmt_percent, digits=0)]

    table(rows, [
        Column(lambda row: TASKS[row[0].table], say("task")), Column(2, common("model")),
        Column(lambda row: round(row[0].concurrency[row[1]]), common("requests"), fmt_int),
        *columns("output_throughput", "token/s", 0), *columns("power", "W", 0),
        *columns("energy_per_token", "J/token", 2)], wide=True, folded=say("all-rows"))


def energy_picture(found: list[energy.PowerComparison], lang: str) -> Figure:
    """Energy per token, predicted against measured, with intervals and a band of a quarter."""
    index = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.9, width=5.4)
    ends = np.array([0.15, 16])
    axes.plot(ends, ends, color=figures.INK, lw=0.8)
    axes.fill_between(ends, 0.75 * ends, 1.25 * ends, color=figures.INK, alpha=0.12, lw=0)
    for held, colour in zip(found, figures.PALETTE, strict=False):
        of = held.predictions["energy_per_token"]
        axes.errorbar(of.measured, of.predicted,
                      yerr=[of.predicted - of.low, of.high - of.predicted], fmt="o", ms=4,
                      lw=1, color=colour, label=TASKS[held.table][index])
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends,
             xlabel=say("measured-j-per-token")[index], ylabel=say("predicted-j-per-token")[index])
    for axis in (axes.xaxis, axes.yaxis):
        figures.log_ticks(axis, 0.2, 16)
    axes.legend(fontsize=9)
    return drawing


def kinds_table() -> None:
    """What a card draws by kind of work, of those that were measured, and where from."""
    def share(device: str, kind: str) -> str:
        of = getattr(powers_of(device), kind)
        return f"{100 * of.value:.0f}% ({100 * of.low:.0f}–{100 * of.high:.0f})"

    table(KINDS, [Column(KINDS.get, say("while-it-is")), *(
        Column(partial(share, device), pair(catalogue.load_device(device).name))
        for device in ("nvidia-h200-sxm", "nvidia-b200", "nvidia-gb200", "ascend-910b2"))])


def meter_numbers(page: Priced) -> None:
    """What stands between the cards and the meter at full load, of the page's one server."""
    rest = around(page.scenario, prices_of(page.scenario.device.id))
    assert rest is not None
    assert own_cards(page.scenario.inputs()) == rest.cards
    cards = page.cost.amounts["cards_power"].value
    heat, fans = heat_of_server(cards, 1, rest)
    meter = site_power(cards, rest.cards, rest)
    numbers({"m-cards": cards / KILO, "m-host": (rest.host + rest.network) / KILO,
             "m-fans": fans / KILO, "m-site": meter / KILO, "m-pue": rest.pue}, fmt_fixed, digits=1)
    number("m-supply", (heat + fans) * rest.pue / meter, fmt_percent, digits=0)


def step_table(page: Priced) -> None:
    """How long kernels of each kind run in a decode step of the page's deployment."""
    quantities = page.answer.everything
    times = busy_times(page.scenario.inputs(), quantities)
    step = float(quantities["decode_step_time"])
    rows = [(name, float(times[name])) for name in BUSY]
    rows.append(("awake", step - sum(float(time) for time in times.values())))
    table(rows, [Column(lambda row: KINDS[row[0]], say("decode-step-of-this-server")),
                 Column(lambda row: 1e3 * row[1], "ms", fmt_fixed),
                 Column(lambda row: row[1] / step, common("share"), fmt_percent, digits=0)])


def per_million(price: catalogue.Value) -> float:
    """What a service takes for a million tokens [USD]."""
    return Amount.stated(price).per("USD/Mtoken")[0]
