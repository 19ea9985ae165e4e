"""What engines, launchers and benchmarks call the keys of a deployment and of a goal.

Their words are in ``params/synonyms.yml``, which is read when one is looked up.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from catalogue.reading import units, yamlfile
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
POOLS = ("prefill", "decode")
"""Names of the two pools of a deployment, in this order."""
_PERCENTILE = re.compile(r"(?:^|_)(p[1-9]\d)(?:_|$)")
_OF_NUMBERS = re.compile(  # words of keys that say no more than that a number follows
    r"^(?:(?:number|no|count)_of_|(?:num|total|average|avg|mean|typical|peak|max|target)_|平均|最大)")
LONG, SURE = 6, 0.88  # letters of a word that may be mistyped, and similarity


@functools.cache
def _section(name: str) -> dict[str, str]:
    """A section of the file, read once."""
    section: dict[str, str] = yamlfile.read(ROOT / "synonyms.yml").data[name]
    return section


@functools.cache
def _keys(section: str) -> dict[str, str]:
    """Word of other tools -> what a section of the file says that it means."""
    return {word: str(key) for key, words in _section(section).items() for word in words.split()}


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
    words = re.sub(r"(?<=[a-z]{2})(?=[A-Z][a-z])", "_", word.strip("-"))  # maxSeqLen
    return re.sub(r"(?:[\s-]|\.\s)+", "_", words).casefold()


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
    experts = sizes.get("expert_parallel", tensor if "experts" in switched else 0)
    if experts:
        sizes["expert_parallel"] = tensor if tensor % experts else experts
    return sizes | {"tensor_parallel": tensor // data, "data_parallel": data}


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
    if advice or name in {*_keys("deployments"), *OPTIONS} or name not in _engine_options():
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
    if name not in keys and (part := _OF_NUMBERS.sub("", name)) in keys:
        name = part
    near = [name] if name in keys or len(name) < LONG else nearest_names(name, keys, 1, SURE)
    key = keys.get(near[0]) if near else None
    return _section("goals").get(key or name, key) if goal else key


def pool_meant(word: str) -> str | None:
    """Return which of ``POOLS`` a key names, such as ``prefill_nodes``; None if it names none."""
    return next((pool for pool in POOLS if re.match(rf"{pool}(_|$)", _plain(word))), None)


def value_meant(word: str, choices: Collection[str]) -> str | None:
    """Return the choice that another word for it means; None if it means none."""
    choice = _keys("values").get(_plain(word))
    return choice if choice in choices else None


def is_switch_on(value: Any) -> bool:
    """Whether a value switches something on: ``true``, ``开``."""
    return value is True or str(value).casefold() in (
        "on", "yes", "enabled", "true", "开", "开启", "启用", "是")


def names_group(word: str) -> bool:
    """Whether a key inside a group says what the group as a whole is."""
    return _plain(word) in (
        "name", "type", "id", "model", "path", "model_path", "名称", "型号", "名字")


def _written(text: str, section: str) -> str:
    """A text with its words replaced as a section of the file says, the longest first."""
    meant = _keys(section)
    parts = sorted((re.escape(word).replace("_", r"\s+") for word in meant), key=len, reverse=True)
    pattern = "|".join(rf"(?<![a-z]){part}(?![a-z])" if part[0].isascii() else part
                       for part in parts)
    return re.sub(pattern, lambda word: meant[re.sub(r"\s+", "_", word[0].casefold())],
                  unicodedata.normalize("NFKC", text), flags=re.IGNORECASE)


def name_meant(text: str) -> str:
    """The name of a card or a model with its foreign words as the catalogue writes them."""
    return re.sub(r"-[\s-]+", "-", _written(text, "names")).strip()


def tokens_meant(text: str) -> str | None:
    """Return about how many tokens a length of text has, with power of ten or not.

    >>> tokens_meant("6 KB"), tokens_meant("1千字"), tokens_meant("6 GB")
    ('1500', '600', None)
    """
    length = re.fullmatch(r"\W*(\d{1,9}(?:\.\d*)?)\s*([千万]?)([^\W\d]+)\W*", text)
    tokens = _keys("texts").get(length[3].casefold()) if length else None
    if length is None or tokens is None:
        return None
    return f"{float(length[1]) * {'千': 1e3, '万': 1e4}.get(length[2], 1.0) * float(tokens):.0f}"


def amount_meant(text: str, unit: str) -> str | None:
    """Return the quantity that a text in other words means; None if it means none.

    >>> amount_meant("0.8万", "token"), amount_meant("50毫秒以内", "s"), amount_meant("two", "1")
    ('8000', '50 ms', '2')
    >>> amount_meant("1.5 mio/day", "request/s")
    '17.4 request/s'
    """
    if len(text) > units.LONGEST:
        return None
    plain = re.sub(r"(?<=\d)\s*e(?=-?\d)", "e", _written(text, "amounts"))
    plain = re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", plain).strip(" []()~≈<>≤≥=+")
    plain = re.sub(r"^(\d+),(?=\d{1,2}(?!\d))", r"\1.", plain)  # a decimal comma
    counted, _, per = unit.partition("/")
    plain = re.sub(r"(?<=\d)\s*/", f" {counted}/", plain) if per else plain
    if remark := re.fullmatch(r"(\d[\d.]*\s*[^\W\d][\w/]*)\s+(?:\(.*|[A-Z]\w*)", plain):
        plain = remark[1]  # 128 GB HBM3e, 2 PFLOPS (dense)
    try:
        value = units.parse(plain, unit)
        number, written = units.split(plain)
    except ValueError:
        return None
    if plain == text:
        return None
    if unit in (*units.COUNTING, units.DIMENSIONLESS):
        return plain.replace(" ", "") if "%" in plain else f"{value:.12g}"
    return f"{value:.3g} {unit}" if counted in units.COUNTING else f"{float(number):g} {written}"

