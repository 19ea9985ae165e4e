"""What the command line shows: tables for people, plain data for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from calc.choosing.answers import (
    CAPACITY,
    Comparison,
    Estimate,
    Quantity,
    parameters,
    parameters_by_class,
)
from catalogue import ROOT, ParamsError, Scenario, Value, sources, symbols
from catalogue.deployments.physics_inputs import SCALARS
from catalogue.library import KINDS
from catalogue.reading import yamlfile
from catalogue.reading.amounts import human
from catalogue.reading.shared import Symbol

_TELLING_KEYS = {
    "calibrations": ("protocols",), "discrepancies": ("extrapolation",), "claims": ("formulas",),
    "mechanisms": (*SCALARS, "gemm_efficiency", "grouped_gemm_efficiency", "all_to_all",
                   "host_stream_efficiency", "host_sync"),
    "scenarios": ("parallelism",), "models": ("attention",),
    "nodes": ("devices_per_node", "device_link", "network_link", "ports_per_node", "host_memory"),
    "links": ("topology",), "formats": ("bits",), "precisions": ("weights",),
    "measurements": ("columns",),
    "microbenchmarks": ("rates", "times", "collectives", "expert_exchange"),
    "devices": ("memory_bandwidth", "like"), "engines": ("releases",),
}

_LISTED = {
    "devices": ("type", "memory_capacity", "memory_bandwidth"),
    "links": ("topology", "device_bandwidth", "pair_bandwidth"),
    "nodes": ("devices_per_node", "device_link", "fabric_link", "network_link"),
}


def kind_of(file: str) -> str:
    """The kind of a parameter file: by its folder in ``params/``, else by a telling key.

    Besides the kinds of entries: ``engines``, ``documents`` (their launch blocks), ``sources``,
    and the names of the shared files, ``symbols.yml`` and ``glossary.yml``.
    """
    path = Path(file)
    folder, inside = path.parent, ""
    try:
        folder = path.absolute().parent
        inside = folder.resolve().relative_to(ROOT).as_posix()
    except (OSError, RuntimeError, ValueError):
        pass  # elsewhere, a loop of links, a current folder that is gone
    if inside == "." and path.name in ("symbols.yml", "glossary.yml"):
        return path.name
    if inside in ("engines", "engines/documents", "sources") and path.suffix == ".yml":
        return folder.name
    if folder.name in KINDS:
        return folder.name
    found = yamlfile.read(path)
    for kind, keys in _TELLING_KEYS.items():
        if any(key in found.data for key in keys):
            return kind
    raise ParamsError(f"{found.where()}: not recognised as any of {', '.join(KINDS)}.")


def console() -> Console:
    """Where tables are printed; a text is printed as it stands, whatever brackets it has."""
    return Console(markup=False, emoji=False)


def plain(value: Any) -> Any:
    """Any entry as JSON data; a value keeps its unit, source and kind."""
    if isinstance(value, Value):
        data: dict[str, Any] = {"value": value.value, "unit": value.unit, "written": value.written,
                "source": value.source, "kind": value.kind}
        if value.low < value.high:
            data |= {"low": value.low, "high": value.high}
        for name in ("date", "section", "note"):
            if getattr(value, name) is not None:
                data[name] = getattr(value, name)
        if value.source in sources():
            data["url"] = sources()[value.source].get("url")
        if value.others:
            data["others"] = [plain(other) for other in value.others]
        return data
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return {name: plain(item) for name, item in fields.items()
                if item is not None and name != "defaults"}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def summary(kind: str, entry: Any) -> dict[str, Any]:
    """The line that a listing shows of an entry."""
    if kind == "models":
        return {"name": entry.name["en"], "attention": entry.attention,
                "parameters": parameters(entry)}
    if kind in _LISTED:
        shown = {"name": entry.name["en"]}
        for name in _LISTED[kind]:
            value = getattr(entry, name)
            shown |= {name: value.value if isinstance(value, Value) else value}
        return shown
    return {"title": entry.title["en"], "model": entry.model, "device": entry.device,
            "precision": entry.precision}


def details(kind: str, entry: Any) -> dict[str, Any]:
    """Everything of an entry, each value with its source."""
    data = plain(entry)
    if kind == "models":
        data["parameters"] = parameters(entry)
        data["parameters_by_class"] = parameters_by_class(entry)
    return data


def print_list(kind: str, entries: list[Any]) -> None:
    """One row per entry."""
    rows = [summary(kind, entry) for entry in entries]
    table = Table(title=kind)
    table.add_column("identifier", no_wrap=True)
    for name in rows[0] if rows else ():
        table.add_column(name.replace("_", " "), overflow="fold")
    for entry, row in zip(entries, rows, strict=True):
        table.add_row(entry.id, *(_cell(getattr(entry, name, None), item)
                                  for name, item in row.items()))
    console().print(table)


def _cell(stored: Any, item: Any) -> str:
    """A cell of a listing; a value of the entry as its file writes it."""
    if isinstance(stored, Value):
        return stored.written
    if isinstance(item, dict):
        return "\n".join(f"{key} {value:,}" for key, value in item.items())
    return "–" if item is None else str(item)


def print_entry(kind: str, entry: Any) -> None:
    """Each value of an entry with its kind and source; then the sources, to be opened."""
    screen = console()
    table = Table(title=(entry.title if kind == "scenarios" else entry.name)["en"])
    table.add_column("key", overflow="fold")
    table.add_column("value", overflow="fold")
    table.add_column("kind", no_wrap=True)
    table.add_column("source", overflow="fold")
    cited: dict[str, None] = {}
    for name, value in _flatten("", entry):
        if not isinstance(value, Value):
            table.add_row(name, str(value), "", "")
            continue
        for label, item in ((name, value), *(("  also printed", it) for it in value.others)):
            table.add_row(label, item.shown, item.kind, _citation(item))
            cited.setdefault(item.source)
    screen.print(table)
    for key in cited:
        source = sources().get(key, {})
        screen.print(f"{key}: {source.get('title', key)} {source.get('url', '')}",
                     highlight=False, soft_wrap=True)
    if kind == "models":
        total = parameters(entry)
        counts = Table(title="parameters, counted from the shapes")
        counts.add_column("class")
        counts.add_column("parameters", justify="right")
        counts.add_column("share", justify="right")
        for name, count in (parameters_by_class(entry) | total).items():
            counts.add_row(name.replace("_", " "), f"{count:,}", f"{count / total['total']:.2%}")
        screen.print(counts)


def _flatten(prefix: str, item: Any) -> list[tuple[str, Any]]:
    if isinstance(item, BaseModel):
        pairs: Any = [(name, getattr(item, name)) for name in type(item).model_fields
                      if name not in ("id", "name", "title", "note", "defaults", "documented")]
    elif isinstance(item, dict):
        pairs = item.items()
    else:
        return [] if item is None else [(prefix, item)]
    return [row for name, value in pairs
            for row in _flatten(f"{prefix}.{name}" if prefix else str(name), value)]


def _citation(value: Value) -> str:
    """Key, section and date of a value's source."""
    parts = [value.source, value.section and f"section {value.section}", value.date]
    return ", ".join(part for part in parts if part)


def taken_from_document(scenario: Scenario) -> dict[str, Any]:
    """The inputs that a document states of the scenario's device."""
    found = {name: getattr(scenario.device, name) for name in type(scenario.device).model_fields}
    return {name: plain(value) for name, value in found.items()
            if isinstance(value, Value) and value.kind == "documented"}


def print_estimate(scenario: Scenario, result: Estimate) -> None:
    """Verdict and what would run; quantities with intervals; parts; the document beside ours."""
    screen = console()
    headroom = result.quantities["headroom_per_device"]
    spare = headroom.value >= 0
    verdict = "fits" if result.fits else "does not fit" if not spare else "does not run as asked"
    screen.print(f"{scenario.heading['en']}: {verdict}, {human(abs(headroom.value), 'B')} "
                 f"per device {'to spare' if spare else 'short'}.")
    for line in _explained(result):
        screen.print(line, highlight=False, soft_wrap=True)
    known = symbols()
    table = Table()
    for column in ("quantity", "value", "80% interval", "kind"):
        table.add_column(column)
    for name, quantity in result.quantities.items():
        table.add_row(known[name].en, human(quantity.value, quantity.unit), _spread(quantity),
                      quantity.kind.replace("_", " "))
    screen.print(table)
    _print_parts(screen, result)
    if result.documented:
        _print_documented(screen, known, result.documented)


def _explained(result: Estimate) -> list[str]:
    """Why it does not run and what does; what was calibrated; sentences."""
    lines = [reason.text["en"] for reason in result.reasons]
    for number, change in enumerate(result.changes):
        settings = " ".join(f"--set {key}={value}" for key, value in change.settings.items())
        lines += [("Nearest: " if number == 0 else "Or: ") + change.text["en"], f"    {settings}"]
    if result.reasons and not result.changes:
        lines.append("No precision, cut or number of these cards was found that runs it.")
    applied = result.applied
    if applied is not None:
        lines.append(f"Calibrated to {symbols()[applied.metric].en} of {applied.scenario} "
                     f"({applied.name}).")
        for item in applied.outside:
            name, unit = symbols()[item.quantity].en, symbols()[item.quantity].unit
            low, high = item.fitted_range
            fitted = f"{low:,g} to " * (low < high) + human(high, unit)
            lines.append(f"Outside of what it was fitted to: {name} {human(item.value, unit)}, "
                         f"fitted at {fitted}; the interval is wider for it.")
    return lines


def _print_parts(screen: Console, result: Estimate) -> None:
    """What a token and a step of prefill are made of, and what binds each; no part of nothing."""
    for whole, phase, title in (("tpot", "decode", "time per output token"),
                                ("prefill_chunk", "prefill", "a step of prefill")):
        parts = result.parts[whole]
        total = sum(parts.values())
        binds = result.bottleneck[phase]
        named = binds.replace("_", " ").replace("l2", "L2")
        by = "" if binds == CAPACITY else f", bound by {named}"
        table = Table(title=f"{title}: {human(total, 's')}{by}")
        for column in ("part", "time", "share"):
            table.add_column(column, justify="left" if column == "part" else "right")
        for name, part in sorted(parts.items(), key=lambda item: -abs(item[1])):
            if part:
                table.add_row(name.replace("_", " "), human(part, "s"), f"{part / total:.1%}")
        screen.print(table)


def _spread(quantity: Quantity) -> str:
    if quantity.low == quantity.high:
        return ""
    return f"{human(quantity.low, quantity.unit)} – {human(quantity.high, quantity.unit)}"


def _print_documented(screen: Console, known: dict[str, Symbol],
                      rows: tuple[Comparison, ...]) -> None:
    table = Table(title="what the document says")
    for column in ("quantity", "section", "printed", "its formula gives", "derived here"):
        table.add_column(column)
    for row in rows:
        name = known[row.quantity].en if row.quantity in known else row.quantity
        table.add_row(name, row.section or "", human(row.printed, row.unit),
                      human(row.recomputed, row.unit), human(row.derived, row.unit))
    screen.print(table)
