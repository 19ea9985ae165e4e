"""Where the flags of a deployment differ from a published recipe of its model and card, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calc.launching.deployed_pools import Pool, checkpoint_of
from calc.launching.server import Release, own_code, plain
from catalogue import library, load_device, load_precision
from catalogue.entries.deployments import Condition, Recipe, Recipes, Unset
from catalogue.entries.profiles import in_order
from catalogue.messages import Pair, messages
from catalogue.reading.values import sources

say = messages("calc/launching/recipes")

FILE = "RECIPE.md"
ADDRESSES = frozenset({
    "--served-model-name", "--host", "--port", "--nnodes", "--node-rank", "--dist-init-addr",
    "--master-addr", "--master-port", "--data-parallel-address", "--data-parallel-rpc-port",
    "--data-parallel-start-rank", "--headless", "--disaggregation-bootstrap-port",
    "--base-gpu-id", "--nccl-init-addr", "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES",
    "VLLM_HOST_IP", "PHYSICAL_DEVICES", "VLLM_NIXL_SIDE_CHANNEL_HOST",
    "VLLM_NIXL_SIDE_CHANNEL_PORT"})
"""Names, addresses and ports: of whoever starts a server, in no recipe's data."""
DP_ATTENTION, DP, ATTENTION_DP = "--enable-dp-attention", "--dp-size", "--attn-dp-size"


@dataclass(frozen=True)
class Difference:
    """One setting that a deployment and a recipe do not have alike.

    Attributes:
        name: of the flag or variable; a key of a JSON value after a dot.
        here, there: values as text; None where it is not set.
        why: the reason in both languages; None where none is known.
    """

    name: str
    here: str | None
    there: str | None
    why: Pair | None


@dataclass(frozen=True)
class Comparison:
    """A pool of a deployment beside the nearest recipe.

    Attributes:
        pool: name of the pool.
        recipe, of: name of the recipe and its entry.
        more, fewer, other: settings of the pool alone, of the recipe alone, and of both with
            different values, each sorted by name.
        line: recipe, address, date, and how many settings differ.
        about: what the recipe is for: cards, format, and the release that it names.
    """

    pool: str
    recipe: str
    of: Recipe
    more: tuple[Difference, ...]
    fewer: tuple[Difference, ...]
    other: tuple[Difference, ...]
    line: Pair
    about: Pair


def compare(pool: Pool) -> Comparison | None:
    """Return the settings of a pool beside those of the nearest recipe; None without a recipe.

    >>> from calc.launching.launch import deployment
    >>> compare(deployment("h200-r1-vllm-tp8").pools[0]).recipe
    'r1-h200-tp-ep'
    """
    match = nearest_recipe(pool)
    if match is None:
        return None
    name, recipe, of = match
    differences = list(differences_of(pool, recipe, of))
    more, fewer, other = (tuple(difference for difference in differences if test(difference))
                          for test in (lambda row: row.there is None, lambda row: row.here is None,
                                       lambda row: None not in (row.here, row.there)))
    source = sources()[recipe.source]
    names = [load_device(card).name for card in recipe.cards]
    return Comparison(pool.name, name, recipe, more, fewer, other, say(
        "beside", pool=pool.name, recipe=name, url=source.get("url", ""),
        date=str(source.get("date", source.get("read", ""))), more=len(more), fewer=len(fewer),
        other=len(other), file=FILE), say(
        "of-recipe", count=recipe.count, precision=recipe.precision,
        cards=(", ".join(card["en"] for card in names), "、".join(card["zh"] for card in names)),
        named=bool(recipe.checkpoint), checkpoint=recipe.checkpoint or "",
        known=bool(recipe.release), release=recipe.release or ""))


def differences_of(pool: Pool, recipe: Recipe, of: Recipes) -> Iterator[Difference]:
    """Settings that a pool's first node and a recipe do not have alike, by name."""
    release, settings = pool.release, (*pool.flags[0], *pool.variables[0])
    theirs: dict[str, Any] = {**recipe.flags, **recipe.variables}
    if DP_ATTENTION in theirs and release.has(ATTENTION_DP, 1):  # says replicas in one flag
        theirs = {name: value for name, value in theirs.items() if name not in (DP_ATTENTION, DP)
                  } | {ATTENTION_DP: theirs.get(DP, 1)}
    ours = _flat(release, {setting.name: setting.value for setting in settings})
    whys = {_name(release, setting.name): setting.why for setting in settings}
    published = _flat(release, theirs)
    for key in sorted(ours.keys() | published.keys()):
        here, there = ours.get(key), published.get(key)
        if key.partition(".")[0] in ADDRESSES or (
                here is not None and there is not None and _alike(here, there)):
            continue
        if here is None:
            why = reason_unset(of, pool, key, there)
        else:
            cause = cause_of(of, key)
            why = (_reason(of.added, pool, key, here) if there is None else None) or (
                say("because", cause=cause, why=whys[key.partition(".")[0]]) if cause else None)
        yield Difference(key, here, there, why)


def nearest_recipe(pool: Pool) -> tuple[str, Recipe, Recipes] | None:
    """Return name, entry and file of the recipe nearest to a pool.

    It is of the same model and engine, on the same card or one of the same architecture; of
    several the one on the same card, of the same checkpoint, role, format, cards, replicas, drafts.
    """
    scenario = pool.scenario
    files: list[Recipes] = [library.load("recipes", name) for name in library.names("recipes")]
    fits = [(name, recipe, of) for of in files if of.engine == pool.release.name
            for name, recipe in of.recipes.items() if scenario.model.id in recipe.models
            and any(load_device(card).architecture == scenario.device.architecture
                    for card in recipe.cards)]

    starts, _ = checkpoint_of(pool)
    repository = starts.repository if starts else None
    cards = sum(part.cards for part in pool.layout.parts if part.server == 0)

    def distance(candidate: tuple[str, Recipe, Recipes]) -> tuple[Any, ...]:
        _, recipe, _ = candidate
        flags = recipe.flags
        replicas = int(flags.get("--data-parallel-size") or flags.get(DP) or 1)
        drafts = any(name.startswith("--speculative") for name in flags)
        weights = load_precision(recipe.precision).weights
        return (scenario.device.id not in recipe.cards, recipe.checkpoint != repository,
                recipe.role != pool.role, weights != scenario.precision.weights,
                recipe.precision != scenario.precision.id, abs(recipe.count - cards),
                (replicas > 1) != (pool.layout.joined > 1),
                drafts != bool(scenario.inputs()["draft_tokens"]))

    return min(fits, key=distance, default=None)


def _name(release: Release, name: str) -> str:
    """A flag by the engine's own name of it, the newest that the release takes."""
    for engine, version in release.by:
        entry = engine.find(name)
        if entry is None:
            continue
        state = entry.at(version) or next(reversed(entry.states.values()))
        if entry.at(version) is None and state.use and engine.exists(state.use, version):
            return state.use
        return entry.name
    return name


def _flat(release: Release, settings: Mapping[str, Any]) -> dict[str, str]:
    """Values as text by name; keys of a JSON value each by themselves, ``--no-`` as off."""
    result: dict[str, str] = {}
    for name, value in settings.items():
        own = _name(release, name)
        rows = [(own, False if name.startswith("--no-") and own != name else value)]
        for key, inner in rows:
            if isinstance(inner, Mapping) and inner:
                rows += [(f"{key}.{nested}", leaf) for nested, leaf in inner.items()]
            else:
                result[key] = _text(inner)
    return result


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "off" if value is False else "on"
    text = plain(value)
    return text if isinstance(text, str) else json.dumps(text)


def _alike(here: str, there: str) -> bool:
    """Whether two values are the same to an engine: 0.9 and 0.90, EAGLE and its older name."""
    try:
        return float(here) == float(there)
    except ValueError:
        return here.lower() == there.lower() or {here, there} == {"EAGLE", "NEXTN"}


def cause_of(of: Recipes, name: str) -> str | None:
    """The kind of decision that a setting belongs to, by its name or that of its flag."""
    return next((cause for cause, names in of.causes.items()
                 if name in names or name.partition(".")[0] in names), None)


def reason_unset(of: Recipes, pool: Pool, name: str, value: str | None) -> Pair | None:
    """Why a recipe's setting is left out: the release lacks it, or does so by itself, or what the
    file of recipes says of such deployments."""
    release, flag = pool.release, name.partition(".")[0]
    by = release.by[0][0]
    if flag in by.index and release.judge(flag) == "unknown":
        return say("release-lacks", release=str(release))
    defaults = [state.default for engine, version in release.by
                if (state := engine.state(flag, version)) is not None and not state.dynamic]
    if defaults and "." not in name and value is not None and defaults[0] is not None and _alike(
            _text(defaults[0]), value):
        return say("by-default", release=str(release))
    return _reason(of.unset, pool, name, value)


def _reason(rows: Sequence[Unset], pool: Pool, name: str, value: str | None) -> Pair | None:
    """The reason that a recipes file gives for a setting of this pool; None if it gives none."""
    for row in rows:
        if (name in row.names or name.partition(".")[0] in row.names) and (
                row.value is None or _alike(_text(row.value), value or "")) and (
                row.since is None or in_order(row.since) <= in_order(pool.release.version)) and all(
                CONDITIONS[condition](pool) for condition in row.when):
            return row.why["en"], row.why["zh"]
    return None


def _has(pool: Pool, name: str) -> bool:
    return any(flag.name == name for flag in pool.flags[0])


CONDITIONS: Mapping[Condition, Callable[[Pool], bool]] = {
    "no-drafts": lambda pool: not pool.scenario.inputs()["draft_tokens"],
    "one-pool": lambda pool: pool.role == "both",
    "one-replica": lambda pool: pool.layout.joined == 1,
    "no-code": lambda pool: not own_code(pool.scenario),
    "prefixes": lambda pool: bool(pool.scenario.inputs()["prefix_hit_share"]),
    "eager": lambda pool: _has(pool, "--enforce-eager"),
    "blocks": lambda pool: _has(pool, "--speculative-dspark-block-size"),
    "joined": lambda pool: pool.layout.joined > 1,
    "sent": lambda pool: _has(pool, "--moe-a2a-backend"),
    "gathered": lambda pool: not _has(pool, "--moe-a2a-backend")}


def lines(comparisons: Mapping[str, Comparison | None]) -> list[Pair]:
    """What is printed: a line per pool, one for all where no recipe is known."""
    if not any(comparisons.values()):
        return [say("none")]
    return [comparison.line if comparison else say("none-of-pool", pool=name)
            for name, comparison in comparisons.items()]
