"""The page of a device: its data with sources, and what its kernels and links were measured at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import catalogue
from catalogue.deployments.admission import announced
from catalogue.entries.hardware import Device
from catalogue.messages import Pair, messages, pair
from catalogue.reading.units import human
from catalogue.reading.values import Value
from notebooks.pages.catalogue.dated import as_of
from notebooks.pages.catalogue.runs import formats_table
from notebooks.pages.catalogue.tables import hardware, mechanisms
from notebooks.show.display import Footnotes, citation, draw, markdown, sourced, table, written
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_percent, fmt_written

common = messages("common")
say = messages("pages/catalogue/device")

PHASES: dict[str, Pair] = {
    "dispatch": common("dispatch"), "combine": common("combine"), "both": say("dispatch-combine")}
MODES: dict[str, Pair] = {"low-latency": common("low-latency"), "normal": common("normal")}
RATE: dict[str, Pair] = {
    "kernel": common("kernel"), "dtype": say("dtype"), "rows": common("rows"),
    "rate": say("median-range"), "share": common("share"),
    "samples": say("samples"), "source": common("source")}
COLLECTIVE: dict[str, Pair] = {
    "operation": common("operation"), "ranks": common("ranks"),
    "nodes": say("nodes"), "payload": common("payload"), "time": common("time"),
    "rate": say("bus-bandwidth"), "algorithm": say("algorithm-path"), "source": common("source")}
EXCHANGE: dict[str, Pair] = {
    "phase": common("phase"), "mode": say("mode"), "ranks": common("ranks"),
    "tokens": say("tokens-per-rank"), "dtype": say("sent-as"),
    "time": common("time"), "rate": common("bandwidth"), "source": common("source")}


def at_a_glance(card: Device) -> None:
    """The card in a sentence: memory, bandwidth, peak, where the one gives way to the other.

    Then from when its data are, and what was measured on it.
    """
    maker = hardware.vendor(card)
    by = maker[0], f"{maker[1]} " if maker[1].isascii() else maker[1]
    if card.type == "host":
        speed = human(card.memory_bandwidth.value, "B/s", digits=4)
        markdown(*say("host-in-a-sentence", speed=speed, maker=by))
    else:
        _accelerator(card, by)
    if told := announced([card]):
        markdown(*told)
    if card.announced and card.announced.note:
        markdown(card.announced.note["en"], card.announced.note["zh"])
    if card.note:
        markdown(card.note["en"], card.note["zh"])
    if card.dies and card.die:
        die = catalogue.load_device(card.die)
        markdown(*say("package-of-dies", dies=int(card.dies.value), die=die.id,
                  name=(die.name["en"], die.name["zh"])))
    as_of(card, hardware.benchmarks(card))


def deployments(card: Device) -> None:
    """What runs on the card in this book, each with a link to its page; nothing if nothing does."""
    families = map(catalogue.load_family, catalogue.names("scenarios"))
    first = ((family, next((one for one in family.deployments if one.device.id == card.id), None))
             for family in families)
    rows = [{"title": tuple(f"[{family.title[lang]}](#{family.id})" for lang in ("en", "zh")),
             "model": pair(one.model.name), "cards": one.devices,
             "stored": pair(one.precision.name)} for family, one in first if one]
    if not rows:
        markdown(*say("no-deployment-names-this-card"))
        return
    markdown(*say("deployments-that-name-this-card"))
    table(rows, {"title": common("deployment"), "cards": common("number-of-cards"),
                 "model": common("model"), "stored": common("stored-as")})


def _accelerator(card: Device, maker: Pair) -> None:
    peaks = {name: peak for name in hardware.WEIGHT_BYTES
             if (peak := getattr(card.matrix_peak, name))}
    dtype = next(name for name in ("bf16", "fp16", *peaks) if name in peaks)
    peak, ridge = fmt_written(peaks[dtype].written), hardware.ridge(card, dtype)
    assert ridge is not None  # of a dtype that has a peak
    assert card.memory_capacity  # every card has one, a host need not
    size, bandwidth = card.memory_capacity.value, card.memory_bandwidth.value
    memory = fmt_bytes(size, "GiB", 0 if size % 2**30 == 0 else 1)
    speed, once = human(bandwidth, "B/s", digits=4), fmt_fixed(size / bandwidth * 1e3, 0)
    rows = fmt_fixed(ridge * hardware.WEIGHT_BYTES[dtype] / 2, 0)
    markdown(*say("card-in-a-sentence", memory=memory, speed=speed, peak=peak, dtype=dtype.upper(),
              once=once, rows=rows, ridge=fmt_fixed(ridge, 0),
              package=card.dies is not None, maker=maker))


def values_and_sources(card: Device) -> None:
    """Every value of its file."""
    sourced(dict(hardware.values_of(card)).items(), wide=True)


def disagreements(card: Device) -> None:
    """Other figures that sources give for the same values."""
    disputed = hardware.disagreements(card)
    if not disputed:
        markdown(*say("no-other-figures-were-found"))
        return
    markdown(*say("factor-is-other-figure-over"))
    table(map(hardware.disputed_row, disputed), hardware.DISPUTED, wide=True)


def roofline(card: Device) -> None:
    """Attainable rate over operations per byte, with the matmuls measured on it."""
    if not hardware.levels_of(card):
        markdown(*say("no-peak-has-a-source"))
        return
    measured = hardware.benchmarks(card)
    draw(hardware.roofline(card, measured))
    if hardware.matmuls(card, measured):
        markdown(*say("points-of-roofline"))


def kernels(card: Device) -> None:
    """What its kernels were measured to reach, or those of the card that stands in for it."""
    if card.type != "host":
        formats_table(card, folded=say("which-precisions-run-on-it"))
    measured = hardware.benchmarks(card)
    if measured is None:
        markdown(*say("no-measurement-of-its-kernels"))
        return
    origin = hardware.measured_on(measured, card)
    _where_measured(card, origin)
    if measured.note:
        markdown(measured.note["en"], measured.note["zh"])
    if measured.rates:
        markdown(*say("rows-and-shares-of-kernels"))
        notes = Footnotes()
        marks = _marks(notes, (((rate.kernel, rate.dtype, rate.weights, rate.rate.unit), rate.rate)
                               for rate in measured.rates))
        _noted([_rate_row(rate, mark, origin)
                for rate, mark in zip(measured.rates, marks, strict=True)], RATE, notes)
    if measured.times:
        markdown(*say("fixed-costs"))
        table([{"kernel": hardware.KERNELS[entry.kernel], "time": written(entry.time),
                "source": citation(entry.time)} for entry in measured.times],
              {"kernel": say("cost"), "time": say("time-range"),
               "source": common("source")}, wide=True)


def _where_measured(card: Device, origin: Device) -> None:
    """On which card the rates were measured, where it is another one."""
    if card.die == origin.id:
        markdown(*say("measured-on-one-die", origin=origin.id,
                  name=(origin.name["en"], origin.name["zh"])))
    elif origin is not card:
        markdown(*say("measured-on-another-card", origin=origin.id,
                  name=(origin.name["en"], origin.name["zh"])))


def _marks(notes: Footnotes, entries: Iterable[tuple[Any, Value]]) -> Iterator[str]:
    """The footnote of each entry; one without a note of its own continues the one before."""
    last: dict[Any, Value] = {}
    for key, value in entries:
        if value.note or (key, value.source) not in last:
            last[key, value.source] = value
        yield notes.mark(last[key, value.source])


def _timed(time: Value | None, rate: Value | None, notes: Footnotes) -> dict[str, str]:
    """Time and rate of a message, of which an entry has at least one, and its footnote."""
    value = time or rate
    return {"time": written(time) if time else "", "rate": written(rate) if rate else "",
            "source": notes.mark(value) if value else ""}


def _rate_row(rate: Any, mark: str, origin: Device) -> dict[str, Any]:
    """A measured rate, and its share of what the card that it was measured on has."""
    share = rate.share(origin)
    return {"kernel": hardware.KERNELS[rate.kernel],
            "dtype": " · ".join(filter(None, [(rate.dtype or "").upper(), rate.weights])),
            "rows": hardware.rows_of(rate), "rate": written(rate.rate),
            "share": "" if share is None else fmt_percent(share, 0),
            "samples": rate.samples or "", "source": mark}


def _noted(rows: list[dict[str, Any]], columns: dict[str, Pair], notes: Footnotes) -> None:
    """A table of measurements without its empty columns, and its footnotes."""
    table(rows, hardware.filled(rows, columns), sortable=True, wide=True)
    notes.show()


def collectives(card: Device) -> None:
    """Collectives and the exchange of experts, as measured."""
    measured = hardware.benchmarks(card)
    operations = measured.collectives if measured else []
    exchanges = measured.expert_exchange if measured else []
    if operations:
        markdown(*say("bus-bandwidth-explained"))
        notes = Footnotes()
        _noted([{"operation": entry.operation, "ranks": entry.ranks, "nodes": entry.nodes,
                 "payload": entry.payload.written if entry.payload else "",
                 "algorithm": entry.algorithm or "",
                 **_timed(entry.time, entry.bus_bandwidth, notes)}
                for entry in operations], COLLECTIVE, notes)
    if exchanges:
        markdown(*say("expert-exchange-explained"))
        notes = Footnotes()
        _noted([{"phase": PHASES[entry.phase], "mode": MODES[entry.mode], "ranks": entry.ranks,
                 "tokens": entry.tokens, "dtype": (entry.dtype or "").upper(),
                 **_timed(entry.time, entry.bandwidth, notes)} for entry in exchanges],
               EXCHANGE, notes)
    if card.type == "host":
        markdown(*say("host-takes-no-part"))
    elif not operations and not exchanges:
        markdown(*say("no-collectives-were-found"))


def _sharing(identifier: str) -> int:
    """How many devices of the catalogue take the same mechanisms."""
    priors = (mechanisms.of_device(catalogue.load_device(name))
              for name in catalogue.names("devices"))
    return sum(prior is not None and prior.id == identifier for prior in priors)


def priors_of_mechanisms(card: Device) -> None:
    """The mechanisms that an estimate takes for it, with ranges and sources."""
    priors = mechanisms.of_device(card)
    if priors is None:
        markdown(*say("no-mechanisms-for-this-type"))
        return
    sharing = _sharing(priors.id)
    if card.mechanisms is None or sharing > 1:
        markdown(*say("values-of-a-class", sharing=sharing,
                  name=(priors.name["en"], priors.name["zh"])))
    if priors.note:
        markdown(priors.note["en"], priors.note["zh"])
    sourced(mechanisms.rows(priors), wide=True, folded=say("every-mechanism"))
    as_of(priors)
