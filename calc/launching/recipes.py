"""Where the flags of a deployment differ from a published recipe of its model and card, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calc.launching.server import Release, plain
from calc.launching.starting import Pool, checkpoint_of
from catalogue import library, load_device, load_precision
from catalogue.entries.deployments import Recipe, Recipes, Unset
from catalogue.entries.profiles import in_order
from catalogue.messages import Pair
from catalogue.reading.values import sources

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
POOLS = {"serve": ("", ""), "prefill": (" (prefill pool)", "（预填充池）"),
         "decode": (" (decode pool)", "（解码池）")}
CAUSES = {
    "layout": ("layout that the plan chose", "方案所选的并行方式"),
    "limits": ("lengths and limits of the plan", "方案的长度与上限"),
    "kernels": ("predictions rest on this format or kernel", "预测以该格式或内核为准"),
    "steps": ("how the plan fills steps", "方案的组批与单步执行方式"),
    "drafts": ("drafts of the plan", "方案的草稿设置"),
    "pools": ("pools of the plan", "方案的预填充池与解码池"),
    "chat": ("parsers of answers", "输出解析"),
    "monitoring": ("monitoring", "监控")}
FEATURE = ("feature of the plan", "方案启用的功能")


@dataclass(frozen=True)
class Difference:
    """One setting that a deployment and a recipe do not have alike.

    Attributes:
        name: of the flag or variable; a key of a JSON value after a dot.
        kind: ``more``, ``fewer`` or ``other``: of the deployment alone, of the recipe alone, of
            both with different values.
        here, there: values as text; None where it is not set.
        why: the reason in both languages; None where none is known.
    """

    name: str
    kind: str
    here: str | None
    there: str | None
    why: Pair | None


@dataclass(frozen=True)
class Comparison:
    """A pool of a deployment beside the nearest recipe.

    Attributes:
        pool: name of the pool.
        recipe, of: name of the recipe and its entry.
        differences: sorted by name.
        counts: of differences by their kind.
        line: recipe, address, date, and how many settings differ.
        about: what the recipe is for: cards, format, and the release that it names.
    """

    pool: str
    recipe: str
    of: Recipe
    differences: tuple[Difference, ...]
    counts: Mapping[str, int]
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
    differences = tuple(differences_of(pool, recipe, of))
    counter = Counter(difference.kind for difference in differences)
    counts = {kind: counter[kind] for kind in ("more", "fewer", "other")}
    return Comparison(pool.name, name, recipe, differences, counts,
                      _line(pool.name, name, recipe, counts), _purpose(recipe))


def _line(pool: str, name: str, recipe: Recipe, counts: Mapping[str, int]) -> Pair:
    """The recipe, its address and date, and how many settings differ."""
    source, (en, zh) = sources()[recipe.source], POOLS.get(pool, POOLS["decode"])
    url, date = source.get("url", ""), source.get("date", source.get("read", ""))
    more, fewer, other = (counts[kind] for kind in ("more", "fewer", "other"))
    return (f"Compared with the published recipe {name}{en} ({url}, {date}): {more} settings "
            f"added, {fewer} left out, {other} with other values.",
            f"与官方配方 {name}{zh}（{url}，{date}）相比：多设 {more} 项，少设 {fewer} 项，"
            f"取值不同 {other} 项。")


def _purpose(recipe: Recipe) -> Pair:
    """What a recipe is for: cards, format, checkpoint and release."""
    names = [load_device(card).name for card in recipe.cards]
    en = (f"The recipe is for {recipe.count} × {', '.join(name['en'] for name in names)}, weights "
          f"as in {recipe.precision}")
    zh = (f"该配方用于 {recipe.count} × {'、'.join(name['zh'] for name in names)}，"
          f"权重格式 {recipe.precision}")
    if recipe.checkpoint:
        en, zh = f"{en} ({recipe.checkpoint})", f"{zh}（{recipe.checkpoint}）"
    if recipe.release:
        en, zh = (f"{en}, release {recipe.release} or later",
                  f"{zh}，引擎版本 {recipe.release} 及以上")
    return f"{en}.", f"{zh}。"


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
    for name in sorted(ours.keys() | published.keys()):
        flag, here, there = name.partition(".")[0], ours.get(name), published.get(name)
        if flag in ADDRESSES:
            continue
        if here is None:
            kind, why = "fewer", (release_reason(release, name, there)
                                  or _reason(of.unset, pool, name, there))
        elif there is not None and _alike(here, there):
            continue
        else:
            kind = "more" if there is None else "other"
            why = _reason(of.added, pool, name, here) if there is None else None
            cause = next((cause for cause, names in of.causes.items()
                          if name in names or flag in names), None)
            if why is None and cause is not None:
                en, zh = CAUSES.get(cause, FEATURE)
                why = f"{en}: {whys[flag]}", zh
        yield Difference(name, kind, here, there, why)


def nearest_recipe(pool: Pool) -> tuple[str, Recipe, Recipes] | None:
    """Return name, entry and file of the recipe nearest to a pool.

    It is of the same model and engine, on the same card or one of the same architecture; of
    several the one on the same card, of the same checkpoint, role, format, cards, replicas, drafts.
    """
    scenario, release = pool.scenario, pool.release
    checkpoint, _ = checkpoint_of(pool)
    repository = checkpoint.repository if checkpoint else None
    cards = sum(part.cards for part in pool.layout.parts if part.server == 0)

    def distance(candidate: tuple[str, Recipe, Recipes]) -> tuple[Any, ...]:
        _, recipe, _ = candidate
        replicas = int(recipe.flags.get("--data-parallel-size") or recipe.flags.get(DP) or 1)
        drafts = any(name.startswith("--speculative") for name in recipe.flags)
        return (scenario.device.id not in recipe.cards, recipe.checkpoint != repository,
                recipe.role != pool.role,
                load_precision(recipe.precision).weights != scenario.precision.weights,
                recipe.precision != scenario.precision.id, abs(recipe.count - cards),
                (replicas > 1) != (pool.layout.joined > 1),
                drafts != bool(scenario.inputs()["draft_tokens"]))

    files: list[Recipes] = [library.load("recipes", name) for name in library.names("recipes")]
    return min(((name, recipe, of) for of in files if of.engine == release.name
                for name, recipe in of.recipes.items() if scenario.model.id in recipe.models
                and any(load_device(card).architecture == scenario.device.architecture
                        for card in recipe.cards)), key=distance, default=None)


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


def release_reason(release: Release, name: str, value: str | None) -> Pair | None:
    """Why a recipe's setting is left out by any deployment: the release lacks it, or has it so."""
    flag = name.partition(".")[0]
    if flag in release.by[0][0].index and release.judge(flag) == "unknown":
        return f"{release} has no such setting", f"{release} 已无此设置"
    default = next((state.default for engine, version in release.by
                    if (state := engine.state(flag, version)) is not None and not state.dynamic),
                   None)
    if name == flag and None not in (value, default) and _alike(_text(default), str(value)):
        return f"the default of {release}", f"{release} 的默认值"
    return None


def _reason(rows: Sequence[Unset], pool: Pool, name: str, value: str | None) -> Pair | None:
    """The reason that a recipes file gives for a setting of this pool; None if it gives none."""
    flags = {setting.name for setting in pool.flags[0]}
    for row in rows:
        if ({name, name.partition(".")[0]} & {*row.names} and flags.issuperset(row.given)
                and flags.isdisjoint(row.without)
                and (row.value is None or _alike(_text(row.value), value or ""))
                and in_order(row.since or "0") <= in_order(pool.release.version)):
            return row.why["en"], row.why["zh"]
    return None


def lines(comparisons: Mapping[str, Comparison | None]) -> list[Pair]:
    """What is printed: a line per pool, one for all where no recipe is known."""
    if not any(comparisons.values()):
        return [("No published recipe of this engine is known for the model on such cards.",
                 "未见该引擎在此类卡上部署该模型的官方配方。")]
    return [comparison.line if comparison else (
        f"No published recipe is known for the {name} pool.",
        f"{'预填充池' if name == 'prefill' else '解码池'}未见官方配方。")
        for name, comparison in comparisons.items()]
