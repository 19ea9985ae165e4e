"""What engines, launchers and benchmarks call the keys of a deployment and of a goal.

Their words are in ``params/synonyms.yml``, which is read when one is looked up.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from typing import Any

from catalogue.reading import yamlfile
from catalogue.reading.files import ROOT
from catalogue.reading.near import nearest_names

OPTIONS = {"model": "model", "device": "card", "engine": "engine", "precision": "precision",
           "cluster.devices": "cards", "workload.concurrency": "users",
           "workload.input_tokens": "input", "workload.output_tokens": "output",
           "workload.arrival_rate": "rate", "mechanisms.prefix_hit_share": "hits",
           "limits.ttft": "ttft", "limits.tpot": "tpot",
           **dict.fromkeys((f"parallelism.{name}_parallel" for name in (
               "tensor", "pipeline", "data", "expert")), "layout")}
"""Key of a deployment -> option of a command, or argument of a function, that says the same."""
_PERCENTILE = re.compile(r"(?:^|_)(p[1-9]\d)(?:_|$)")
LONG, SURE = 6, 0.88  # letters of a word that may be mistyped, and similarity


@functools.cache
def _keys(section: str) -> dict[str, str]:
    """Word of other tools -> what a section of the file says that it means."""
    stated = yamlfile.read(ROOT / "synonyms.yml").data[section]
    return {word: key for key, words in stated.items() for word in words.split()}


@functools.cache
def _engine_options() -> dict[str, str]:
    """Command-line options of engines, written as words -> file name of the engine."""
    return {_plain(option): file.stem for file in sorted((ROOT / "engines").glob("*.yml"))
            for option in re.findall(r"--[a-z][\w-]+", file.read_text("utf-8"))}


def entry_key_meant(word: str, keys: Collection[str]) -> tuple[str, ...]:
    """Return the key that a word of data sheets means, with its group if only that is one of some
    keys; empty if it means none."""
    group, _, key = _keys("entries").get(_plain(word), "").rpartition(".")
    return (key,) if key in keys else (group, key) if group in keys else ()


def is_cache_format(word: str) -> bool:
    """Whether a word is an option of engines for the format of the cache."""
    return _keys("switches").get(_plain(word)) == "cache"


def card_way(word: str) -> str | None:
    """Return what to write in place of a key that no card has; None without advice."""
    return _keys("instead_in_cards").get(_plain(word))


def present_name(section: str, word: str) -> str | None:
    """Return the present name of an earlier release's command or option; None of others.

    Args:
        section: of the file, ``commands`` or ``options``.
        word: name in the earlier release.
    """
    return _keys(section).get(word)


def _plain(word: str) -> str:
    return re.sub(r"[\s-]+", "_", word.strip("-")).casefold()


def attention_layout(words: Mapping[Any, Any]) -> dict[str, int]:
    """Return the parallel sizes of an engine that counts data parallel ranks of attention inside
    its tensor parallel size; empty if its options do not switch that on.

    >>> attention_layout({"tp-size": 8, "dp-size": 4, "enable-dp-attention": True})
    {'tensor_parallel': 2, 'data_parallel': 4}
    """
    switched = {_keys("switches").get(_plain(str(word))) for word, value in words.items()
                if value not in (None, False, "none")}
    sizes = {key.removeprefix("parallelism."): size for word, size in words.items()
             if (key := key_meant(str(word)) or "").startswith("parallelism.")
             and type(size) is int and size > 0}
    tensor = sizes.get("tensor_parallel", 0)
    data = sizes.get("data_parallel", tensor)
    if "attention" not in switched or not data or tensor % data:
        return {}
    experts = {"expert_parallel": tensor} if "experts" in switched else {}
    return {"tensor_parallel": tensor // data, "data_parallel": data} | experts | {
        key: size for key, size in sizes.items() if key not in ("tensor_parallel", "data_parallel")}


def way(word: str, goal: bool = False, beside: Mapping[Any, Any] | None = None) -> str | None:
    """Return what to write in place of a key that a deployment or a goal has not, where some others
    stand ``beside`` it; None without advice."""
    name, layout = _plain(word), attention_layout(beside) if beside else {}
    if _keys("deployments").get(name, "").removeprefix("parallelism.") in layout:
        return ("dp attention changes its meaning, write the parallelism that is named with "
                "enable_dp_attention")
    if _keys("switches").get(name) == "attention":
        sizes = layout or {"tensor_parallel": 1, "data_parallel": 8}
        return ("dp attention counts dp inside tp: write parallelism: {"
                f"{', '.join(f'{key}: {size}' for key, size in sizes.items())}}}")
    if goal and name in _keys("searches"):
        return None
    advice = (_keys("instead_in_goals").get(name) if goal else None) or _keys("instead").get(name)
    if advice or name in _keys("deployments") or name not in _engine_options():
        return advice
    return f"no prediction depends on this option of {_engine_options()[name]}, remove it"


def key_meant(word: str, goal: bool = False) -> str | None:
    """Return the key that other tools' option or key means; None for one that is not known.

    >>> key_meant("--max-running-requests"), key_meant("p95_ttft"), key_meant("tp", goal=True)
    ('workload.max_num_seqs', 'limits.ttft.p95', 'space.tensor')
    """
    name, keys = _plain(word), _keys("deployments") | (_keys("searches") if goal else {})
    if name not in keys and way(name, goal):
        return None
    if at := _PERCENTILE.search(name):
        limit = key_meant(_PERCENTILE.sub("", name), goal) or ""
        return f"{limit}.{at[1]}" if limit.startswith("limits.") else None
    near = [name] if name in keys or len(name) < LONG else nearest_names(name, keys, 1, SURE)
    key = keys.get(near[0]) if near else None
    of_goals = yamlfile.read(ROOT / "synonyms.yml").data["goals"] if goal else {}
    return of_goals.get(key or name, key)


def value_meant(word: str, choices: Collection[str]) -> str | None:
    """Return the choice that another word for it means; None if it means none."""
    choice = _keys("values").get(_plain(word))
    return choice if choice in choices else None
