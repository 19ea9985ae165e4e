"""``list``, ``show`` and ``new``: entries of the catalogue, and templates for one's own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from calc.answer.model_sizes import parameters, parameters_by_class
from calc.commands.options import cli_command, output_option
from calc.commands.view import Block, Table, View, joined, pools_line
from calc.commands.view import cell_text as plain_cell
from catalogue import (
    ROOT,
    ParamsError,
    Value,
    deployment_names,
    library,
    load,
    load_deployment,
    load_scenario,
    names,
    sources,
    symbols,
)
from catalogue.deployments.loading import find_scenario
from catalogue.engine import KINDS as ENGINE_KINDS
from catalogue.engine import Engine, engine_names, history, load_engine
from catalogue.kinds import TEMPLATES, kind_of, usual_name
from catalogue.messages import plural
from catalogue.reading.files import is_file, store
from catalogue.reading.near import nearest_names
from catalogue.reading.units import DIMENSIONLESS, human
from catalogue.reading.values import as_data, is_path, with_range
from catalogue.reading.yamlfile import is_own

COLUMNS = {
    "devices": ("type", "memory_capacity", "memory_bandwidth"),
    "links": ("topology", "device_bandwidth", "pair_bandwidth"),
    "nodes": ("devices_per_node", "device_link", "fabric_link", "network_link"),
    "scenarios": ("model", "device", "precision"), "models": ("attention",)}
"""Kind -> what its list has besides identifier and name."""
LISTED = ("models", "devices", "nodes", "links", "precisions", "scenarios", "goals", "loads",
          "prices", "powers", "failures", "mechanisms", "calibrations", "measurements", "engines")
ALIASES = {"card": "device", "gpu": "device", "server": "node", "deployment": "scenario",
           "plan": "scenario", "format": "precision"}
SCHEMA_LINE = re.compile(r"\A# yaml-language-server.*\n")  # relative to the catalogue
TITLES = ("id", "name", "title", "note", "documented")  # what no table shows
PRINTED = (*TEMPLATES, "kernels")  # templates that `new` prints
FIRST = {
    "models": ("family", "weights.precision", "attention", "num_hidden_layers", "hidden_size",
               "num_attention_heads", "num_key_value_heads", "head_dim", "kv_lora_rank",
               "n_routed_experts", "n_shared_experts", "num_experts_per_tok",
               "moe_intermediate_size", "intermediate_size", "index_topk", "sliding_window",
               "num_nextn_predict_layers", "max_position_embeddings", "parameters"),
    "devices": ("vendor", "type", "architecture", "memory_capacity", "memory_bandwidth",
                "matrix_peak", "hbm_efficiency", "power", "price", "node"),
    "precisions": ("weights", "multiply", "kv_cache", "kv_rope", "kv_index", "activation")}
"""Kind -> keys that `show` prints without --details; of other kinds all."""


def named_choice(text: str, choices: tuple[str, ...], what: str) -> str:
    """The choice of that name, in singular or plural. Raises ParamsError with the nearest."""
    stem = text.lower().removesuffix("s")
    for name in (ALIASES.get(stem, stem), f"{ALIASES.get(stem, stem)}s"):
        if name in choices:
            return name
    known = [usual_name(choice) for choice in choices]
    near = nearest_names(text.lower(), known, 1)
    raise ParamsError(f"there is no {what} '{text[:40]}', expected one of {joined(known)}"
                      + (f"; did you mean {near[0]}." if near else
                         f"; `will-it-fit show {text[:40]}` shows an entry." if what == "kind"
                         else "."))


@cli_command("list", "cards", "deployments", "models --csv")
@click.argument("kind", required=False)
def list_command(kind: str | None) -> View:
    """List the entries of a kind, e.g. models, cards, servers, deployments, goals or engines.

    Without KIND, list the kinds and their entry counts.
    """
    if kind is None:
        counts = {name: len(names(name)) for name in LISTED if name != "engines"}
        counts["scenarios"] = len(deployment_names())
        counts["engines"] = len(engine_names())
        return View(f"{sum(counts.values())} entries", {"kinds": counts},
                    body=[Table(("kind", "entries"), [
                        (usual_name(name), count) for name, count in counts.items()])])
    kind = named_choice(kind, LISTED, "kind")
    if kind == "engines":
        return engines_view()
    entries = ([load_scenario(name).file for name in deployment_names()] if kind == "scenarios"
               else [load(kind, name) for name in names(kind)])
    entries.sort(key=listed_last)
    data = {entry.id: summary(kind, entry) for entry in entries}
    return View(f"{len(entries)} {usual_name(kind)}", {"entries": data}, body=[Table(
        ("identifier", *(name.replace("device", "card") for name in next(iter(data.values())))),
        [(name, *(cell_text(cell) if isinstance(cell, dict | list) else cell
                  for cell in row.values())) for name, row in data.items()],
        units={"card_bandwidth": "B/s"})])


def summary(kind: str, entry: Any) -> dict[str, Any]:
    """The line that a list has of an entry."""
    title = "title" if kind in ("scenarios", "goals") else "name"
    row: dict[str, Any] = {title: getattr(entry, title)["en"]}
    for name in COLUMNS.get(kind, ()):
        value = getattr(entry, name)
        row[name] = value.value if isinstance(value, Value) else value
    return row | ({"parameters": parameters(entry)} if kind == "models" else {})


def listed_last(entry: Any) -> bool:
    """Whether an entry follows the others in a list: a host, or one of a published document."""
    return getattr(entry, "type", None) == "host" or bool(
        library.OF_A_DOCUMENT.match(entry.id))


def cell_text(item: Any) -> str:
    """An item of an entry that is no value."""
    if isinstance(item, dict):
        return joined(f"{key} {cell_text(part)}" for key, part in item.items())
    return joined(map(str, item)) if isinstance(item, list) else plain_cell(item, DIMENSIONLESS)


@cli_command("show", "h200", "deepseek-v3", "vllm max-num-seqs", "card.yml",
             sections=("details",))
@click.argument("name")
@click.argument("flags", nargs=-1, metavar="[SYMBOL]...")
@click.option("--release", metavar="RELEASE", help="For an engine, show only this release.")
def show_command(name: str, flags: tuple[str, ...], release: str | None) -> View:
    """Show an entry: each value with its source and provenance (vendor, measured, ...).

    NAME may also be a file, or KIND/NAME if the name exists in several kinds.

    For an engine, SYMBOL is an argument, environment variable or metric; the command prints the
    releases that have it.
    """
    kind, reference = kind_and_reference(name)
    if kind == "engines":
        reference, _, version = reference.partition("@")
        release = release or version or None
        return engine_view(load_engine(reference), flags, release)
    if flags or release:
        raise ParamsError(f"{name} is no engine, expected neither flags nor --release.")
    pools = load_deployment(reference) if kind == "scenarios" else ()
    entries: list[Any] = [pool.file for pool in pools] or [load(kind, reference)]
    data = {entry.id: as_data(entry) for entry in entries}
    if kind == "models":
        data[entries[0].id] |= {"parameters": parameters(entries[0]),
                                "parameters_by_class": parameters_by_class(entries[0])}
    title = pools_line(pools) if pools else entries[0].title["en"] if kind == "goals" else (
        entries[0].name["en"])
    tables = [Table(("key", "value", "kind", "source"), list(flattened("", item)),
                    name if len(data) > 1 else "") for name, item in data.items()]
    keys = tuple(f"{key}." for key in FIRST.get(kind, ()))
    first: list[Block] = [replace(table, rows=[
        row for row in table.rows if f"{row[0]}.".startswith(keys)]) if keys else table
        for table in tables]
    cited = dict.fromkeys(row[3].partition(",")[0] for table in tables for row in table.rows)
    return View(f"{usual_name(kind.removesuffix('s'))} {joined(data)}: {title}",
                {"entries": data} if len(data) > 1 else next(iter(data.values())), body=first,
                rows=tables[0], sections={"details": [*tables, *(
                    f"{key}: {sources()[key]['title']} {sources()[key].get('url', '')}".rstrip()
                    for key in cited if key in sources())]})


def kind_and_reference(text: str) -> tuple[str, str]:
    """Kind of an entry and what it is loaded by: of several the first of ``LISTED``.

    Raises ParamsError where there is none.
    """
    kind, slash, name = text.partition("/")
    if slash and name and not text.endswith((".yml", ".yaml")) and not is_file(Path(text)):
        return named_choice(kind, LISTED, "kind"), name
    if is_path(text):
        return kind_of(text), text
    own = Path(f"{text}.yml")
    if is_file(own) and is_own(own):
        for kind in LISTED[:-1]:
            library.refuse_named_twice(kind, text, own)
        return kind_of(str(own)), str(own)
    if text.partition("@")[0] in engine_names():
        return "engines", text
    for kind in LISTED[:-1]:
        with contextlib.suppress(ParamsError):
            find_scenario(text) if kind == "scenarios" else library.locate(kind, text)
            return kind, text
    if any(text.lower() in (one, one.removesuffix("s")) for kind in LISTED
           for one in (kind, usual_name(kind))):
        raise ParamsError(f"'{text}' is a kind of entries: `will-it-fit list {text}` lists their "
                          "names, expected one of these.")
    also = {name: library.also(kind, name) for kind in reversed(LISTED[:-1])
            for name in names(kind)}
    near = nearest_names(text, [*also, *engine_names()], also=also)
    raise ParamsError(f"there is no entry '{text[:60]}'"
                      + (f", the nearest are {joined(near)}." if near else "; see `list`."))


def flattened(prefix: str, item: Any) -> Iterator[tuple[str, str, str, str]]:
    """Key, value, kind and source of every value of an entry, those of other sources below."""
    if isinstance(item, dict) and "written" in item:
        section = item.get("section", "")
        source = (item["source"], f"section {section}" if section and section.isascii() else "",
                  item.get("date"))
        yield (prefix, with_range(item["written"], item.get("low", 0), item.get("high", 0)),
               item["kind"], joined(filter(None, source)))
        for other in item.get("others", ()):
            yield from flattened("  also printed", other)
    elif isinstance(item, dict) or (isinstance(item, list) and any(
            isinstance(part, dict) for part in item)):
        for name, part in item.items() if isinstance(item, dict) else enumerate(item):
            if name not in TITLES:
                yield from flattened(f"{prefix}.{name}" if prefix else str(name), part)
    elif item != []:
        limit = re.match(r"limits\.(\w+)", prefix)
        symbol = symbols().get(limit[1]) if limit and isinstance(item, float) else None
        yield prefix, human(item, symbol.unit) if symbol else cell_text(item), "", ""


def engines_view() -> View:
    """Engines with their releases and the number of arguments, variables and metrics."""
    engines = [load_engine(name) for name in engine_names()]
    data: dict[str, dict[str, Any]] = {
        engine.name: {"title": engine.title,
                      "releases": {item.version: item.date for item in engine.releases},
                      "entries": {kind: len(engine.entries[kind]) for kind in ENGINE_KINDS}}
            for engine in engines}
    rows = [(name, f"{len(entry['releases'])}, {next(iter(entry['releases']))} to "
             f"{next(reversed(entry['releases']))}", *entry["entries"].values())
            for name, entry in data.items()]
    return View(f"{len(rows)} engines", {"entries": data},
                body=[Table(("engine", "release range", *ENGINE_KINDS), rows)])


def engine_view(engine: Engine, flags: tuple[str, ...], release: str | None) -> View:
    """Arguments, variables and metrics of an engine, or the history of some of them."""
    version = engine.release(release).version if release else None
    entries = [engine.lookup(flag) for flag in flags] or [
        entry for kind in ENGINE_KINDS for entry in engine.entries[kind].values()
        if version is None or entry.at(version)]
    data = {entry.name: history(engine, entry, version) for entry in entries}
    every = Table(("name", "kind", "since", "until"), [
        (name, entry["kind"], entry["since"], entry["until"] or "")
        for name, entry in data.items()])
    versions = version or f"{engine.versions[0]} to {engine.versions[-1]}"
    first = [Table(("name", "since", "definition", "until"), [
        (name, state, joined(f"{key} {cell_text(value)}" for key, value in it.items()),
         (entry["until"] or "") if state == list(entry["states"])[-1] else "")
        for name, entry in data.items() for state, it in entry["states"].items()])] if flags else []
    return View(f"{engine.title} {versions}: {plural(len(data), 'name')}", {"entries": data},
                body=first, rows=[*first, every][0], sections={"details": [every]})


@cli_command("new", "card -o card.yml", "deployment -o plan.yml", table=False)
@click.argument("kind")
@output_option("Write to FILE (default: standard output).")
def new_command(kind: str, output: str | None) -> View:
    """Print or write a commented template.

    KIND is deployment, goal, card, server, link, model, load, prices, mechanisms, measurements,
    calibration or kernels.
    """
    name = named_choice(kind, PRINTED, "template")
    path = next((ROOT / "templates").glob(f"{name}.*"))
    text = SCHEMA_LINE.sub("", path.read_text("utf-8"))
    if output is None:
        return View(text.rstrip("\n"), {"template": name, "text": text})
    store(Path(output), text, replace=False)
    then = "dev kernels list --tables" if name == "kernels" else "check"
    return View(f"{output} written; edit it, then `will-it-fit {then} {output}`.",
                {"template": name, "files": [output]})
