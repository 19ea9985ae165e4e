"""Where the flags of a deployment differ from a published recipe of its model and card, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calc.launching.published import own_code
from calc.launching.scripts import Pool, loaded
from calc.launching.settings import Release, Setting, Variable, comment
from catalogue import library, load_device, load_precision
from catalogue.entries.deployments import Condition, Recipe, Recipes, Unset
from catalogue.entries.profiles import in_order
from catalogue.messages import Pair, messages
from catalogue.reading.shared import sources

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
        title: of the file of recipes.
        differences: sorted by name.
    """

    pool: str
    recipe: str
    of: Recipe
    title: Pair
    differences: tuple[Difference, ...]

    @property
    def more(self) -> list[Difference]:
        """Set here, not in the recipe."""
        return [each for each in self.differences if each.there is None]

    @property
    def fewer(self) -> list[Difference]:
        """Set in the recipe, not here."""
        return [each for each in self.differences if each.here is None]

    @property
    def other(self) -> list[Difference]:
        """Set in both to different values."""
        return [each for each in self.differences
                if each.here is not None and each.there is not None]

    @property
    def line(self) -> Pair:
        """The comparison in one line: recipe, address, date, and how many settings differ."""
        source = sources()[self.of.source]
        return say("beside", pool=self.pool, recipe=self.recipe, url=source.get("url", ""),
                   date=str(source.get("date", source.get("read", ""))), more=len(self.more),
                   fewer=len(self.fewer), other=len(self.other), file=FILE)

    @property
    def about(self) -> Pair:
        """What the recipe is for: cards, format, and the release that it names."""
        names = [load_device(card).name for card in self.of.cards]
        cards = (", ".join(name["en"] for name in names), "、".join(name["zh"] for name in names))
        return say("of-recipe", count=self.of.count, precision=self.of.precision, cards=cards,
                   named=bool(self.of.checkpoint), checkpoint=self.of.checkpoint or "",
                   known=bool(self.of.release), release=self.of.release or "")


def compare(pool: Pool) -> Comparison | None:
    """Return the settings of a pool beside those of the nearest recipe; None without a recipe.

    >>> from calc.launching.deployment import deployment
    >>> compare(deployment("h200-r1-vllm-tp8").pools[0]).recipe
    'r1-h200-tp-ep'
    """
    found = nearest_recipe(pool)
    if found is None:
        return None
    name, recipe, of = found
    release = pool.release
    mine = _flat(release, ((each.name, each.value) for each in _settings(pool)))
    whys = {_name(release, each.name): each.why for each in _settings(pool)}
    theirs = _flat(release, _renamed(release, {**recipe.flags, **recipe.variables}).items())
    differences = []
    for key in sorted(mine.keys() | theirs.keys()):
        here, there = mine.get(key), theirs.get(key)
        if key.partition(".")[0] in ADDRESSES or (
                here is not None and there is not None and _alike(here, there)):
            continue
        added = _reason(of.added, pool, key, here) if there is None else None
        why = (_why_unset(of, pool, key, there) if here is None
               else added or _why_set(of, key, whys[key.partition(".")[0]]))
        differences.append(Difference(key, here, there, why))
    return Comparison(pool.name, name, recipe, (of.name["en"], of.name["zh"]),
                      tuple(differences))


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

    starts, _ = loaded(pool)
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


def _settings(pool: Pool) -> Sequence[Setting]:
    """Flags and variables of a pool's first node."""
    return (*pool.flags[0], *pool.variables[0])


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


def _renamed(release: Release, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a recipe in a release that says attention's replicas in one flag."""
    if DP_ATTENTION in settings and release.has(ATTENTION_DP, 1):
        rest = {name: value for name, value in settings.items() if name not in (DP_ATTENTION, DP)}
        return rest | {ATTENTION_DP: settings.get(DP, 1)}
    return dict(settings)


def _flat(release: Release, settings: Any) -> dict[str, str]:
    """Values as text by name; keys of a JSON value each by themselves, ``--no-`` as off."""
    found: dict[str, str] = {}
    for name, value in settings:
        own = _name(release, name)
        off = name.startswith("--no-") and own != name
        for key, inner in _leaves(own, False if off else value):
            found[key] = _text(inner)
    return found


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    else:
        yield name, value


def _text(value: Any) -> str:
    if isinstance(value, Variable):
        return f"${value.name}{value.after}"
    if value is None or isinstance(value, bool):
        return "off" if value is False else "on"
    return value if isinstance(value, str) else json.dumps(value)


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


def _why_set(of: Recipes, name: str, why: str) -> Pair | None:
    """Why a setting is as it is here: its cause, and what it follows from."""
    cause = cause_of(of, name)
    return say("because", cause=cause, why=why) if cause else None


def _why_unset(of: Recipes, pool: Pool, name: str, value: str | None) -> Pair | None:
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


def _reason(told: Sequence[Unset], pool: Pool, name: str, value: str | None) -> Pair | None:
    """The reason that a recipes file gives for a setting of this pool; None if it gives none."""
    for each in told:
        if (name in each.names or name.partition(".")[0] in each.names) and (
                each.value is None or _alike(_text(each.value), value or "")) and (
                each.since is None
                or in_order(each.since) <= in_order(pool.release.version)) and all(
                CONDITIONS[condition](pool) for condition in each.when):
            return each.why["en"], each.why["zh"]
    return None


def _has(pool: Pool, name: str) -> bool:
    return any(each.name == name for each in pool.flags[0])


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


def comparisons(pools: Sequence[Pool]) -> dict[str, Comparison | None]:
    """Return the comparison of each pool by its name."""
    return {pool.name: compare(pool) for pool in pools}


def lines(found: Mapping[str, Comparison | None]) -> list[Pair]:
    """What is printed: a line per pool, one for all where no recipe is known."""
    if not any(found.values()):
        return [say("none")]
    return [each.line if each else say("none-of-pool", pool=name) for name, each in found.items()]


def page(found: Mapping[str, Comparison | None]) -> str:
    """The whole list as Markdown, in English and in Chinese."""
    told = []
    for language in (0, 1):
        told += [f"# {say('heading')[language]}", "", say("left-out")[language], ""]
        for each, line in zip(found.values() if any(found.values()) else [None], lines(found),
                              strict=True):
            told += [_escaped(line[language]), ""]
            if each is None:
                continue
            told += [_escaped(each.about[language]), ""]
            for kind, group in (("here", each.more), ("there", each.fewer),
                                ("other", each.other)):
                if group:
                    told += [f"## {say('group', kind=kind, pool=each.pool)[language]}", "",
                             say("columns")[language], "|---|---|---|---|",
                             *(_row(difference, language) for difference in group), ""]
    return "\n".join(told)


def _row(difference: Difference, language: int) -> str:
    why = (difference.why or say("no-reason"))[language]
    cells = (f"`{_code(difference.name)}`", _value(difference.here), _value(difference.there),
             _escaped(why))
    return f"| {' | '.join(cells)} |"


def _value(value: str | None) -> str:
    return "" if value is None else f"`{_code(value)}`"


def _code(text: str) -> str:
    """A text within backticks in a table: nothing in it ends either."""
    return comment(text).replace("`", "'").replace("|", "¦")


def _escaped(text: str) -> str:
    """A text of a file as Markdown shows it, its addresses left whole."""
    return comment(text).replace("|", "\\|").replace("<", "\\<")
