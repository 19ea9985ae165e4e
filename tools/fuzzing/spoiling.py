"""Good input made bad: values, keys and shapes by a schema's word, and letters by nobody's."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

DEEP = "<deep>"  # stands for more levels than a parser may follow
LONE = "<lone>"  # for half a letter
LEVELS = 100_000
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"),
    float("-inf"), 2**31, 2**53 + 1, 2**63, 2**64, 10**30, 10**400, -10**400, 1e9, 1e15, 1e24,
    "", " ", "0", "-1", "nan", "inf", "1e400", "1e-400", "1/0", "9" * 5000, "0x10", "1_000", "١٢",
    "5 kg", "1 GB/s", "-3 ms", "0 s", "1e308 TB/s", "1..0", "2 USD", "1e12 request", "1e300 token",
    "x" * 6000, "long words " * 900, "it's 'quoted' " * 400, "\x1b[2J", "\0", "a\nb", "\u202e",
    LONE, "\u2028", "{0}", "%s", "${HOME}", "`id`", "$(id)", "<b>", "~", "-", "--help",
    ".", "..", "/", "../../etc/passwd", "/dev/zero", "/dev/null", "spoilt.yml", "nothing.yml",
    "deepseek-v3", "nvidia-h200-sxm", "bf16", "vllm@0.11.0", "2026-02-30", "en", "mean",
    [], {}, [[]], [None], {"": ""}, [1, "a", None], {"en": 1}, {"value": 1}, [0] * 3000,
    {"value": "5 kg", "source": "x", "kind": "assumed", "range": [2, 1]},
    {f"key {number}": number for number in range(600)}, DEEP)
SIGNS = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\t", b"\n\n", b"\r", b"&a ", b"*a", b"!!python ",
         b"---\n", b"{", b"[", b"]", b"}", b":", b": ", b"- ", b'"', b"'", b",", b"#", b"|\n",
         b"<<: ", b"9" * 5000, b"\xe2\x80\xae", b"NaN", b"-Infinity", b"1e999", b"e", b".", b"-")

Place = tuple[Any, Any, Mapping[str, Any]]  # what holds it, its key there, its schema


def spoilt(data: Any, schema: Mapping[str, Any], random: Random) -> Any:
    """A copy of a file's data with one to three things in it made wrong, or odd.

    Args:
        data: of a good file, plain.
        schema: its JSON Schema; empty where there is none.
        random: what is drawn from.
    """
    data = copy.deepcopy(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = list(_places(data, schema, schema))
        if places:
            random.choice(_WAYS)(*random.choice(places), schema, random)
    return random.choice(HOSTILE) if random.random() < 0.01 else data


def scrambled(text: bytes, random: Random) -> bytes:
    """A copy of a text with one to three spans of it lost, doubled, moved or overwritten."""
    for _ in range(random.choice((1, 1, 2, 3))):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((0, 0, 1, 1, 4, 40)))
        lines = text.split(b"\n")
        line = random.choice(lines)
        text = random.choice((
            text[:start] + random.choice(SIGNS) + text[end:], text[:start] + text[end:],
            text[:start], text[:start] + text[start:end] * 2 + text[end:],
            text[:start] + line + b"\n" + text[start:], text.replace(line, b"", 1),
            b"\n".join(random.sample(lines, len(lines)) if len(lines) < 50 else lines[::-1])))
    return text


def written(data: Any, dumped: Any) -> bytes:
    """Data as a file has them, with the deepest of nests where one is asked for.

    Args:
        data: plain.
        dumped: makes a text of them.
    """
    nest = "[" * LEVELS + "]" * LEVELS
    text: str = dumped(data)
    return text.replace(json.dumps(DEEP), nest).replace(DEEP, nest).replace(
        LONE, r"\ud800").encode()


def _places(data: Any, schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[Place]:
    """Every value below some data, with what its schema says of it."""
    held = data.items() if isinstance(data, dict) else enumerate(
        data) if isinstance(data, list) else ()
    for key, value in held:
        below = _below(schema, key, whole)
        yield data, key, below
        yield from _places(value, below, whole)


def _meant(schema: Any, whole: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The plain schemas that one stands for: what it refers to, each of several."""
    if not isinstance(schema, Mapping):
        return []
    if "$ref" in schema:
        return _meant(whole.get("$defs", {}).get(schema["$ref"].rpartition("/")[2]), whole)
    several = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    return [each for one in several for each in _meant(one, whole)] or [schema]


def _below(schema: Mapping[str, Any], key: Any, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    for each in _meant(schema, whole):
        if isinstance(key, int) and isinstance(each.get("items"), Mapping):
            return each["items"]
        found = each.get("properties", {}).get(key, each.get("additionalProperties"))
        if isinstance(found, Mapping):
            return found
    return {}


def drawn(schema: Any, whole: Mapping[str, Any], random: Random, depth: int = 0) -> Any:
    """Something that a schema allows, as far as its types and words go, or almost.

    Args:
        schema: of the value.
        whole: the schema that it stands in.
        random: what is drawn from.
        depth: levels above it.
    """
    plain = random.choice(_meant(schema, whole) or [{}])
    if "enum" in plain or "const" in plain:
        return random.choice(plain.get("enum") or [plain.get("const")])
    kinds = plain.get("type", "string")
    kind = kinds if isinstance(kinds, str) else random.choice(kinds)
    if kind == "object" and depth < 6:
        fields = plain.get("properties", {})
        chosen = {*plain.get("required", ()), *random.sample(list(fields), len(fields) // 3)}
        return {name: drawn(each, whole, random, depth + 1)
                for name, each in fields.items() if name in chosen}
    if kind == "array" and depth < 6:
        return [drawn(plain.get("items", {}), whole, random, depth + 1)
                for _ in range(random.randrange(4))]
    numbers = (0, 1, 2, 7, 64, 1000, 0.5, plain.get("minimum", 3), plain.get("maximum", 5))
    return {"null": None, "boolean": random.random() < 0.5, "integer": random.randrange(-2, 99),
            "number": random.choice(numbers)}.get(kind, random.choice(
                ("3 ms", "8", "2 GB", "1 TB/s", "40 token", "50%", "4 USD/h", "word")))


def _overwritten(held: Any, key: Any, _: Mapping[str, Any], __: Mapping[str, Any],
                 random: Random) -> None:
    held[key] = copy.deepcopy(random.choice(HOSTILE))


def _of_its_kind(held: Any, key: Any, schema: Mapping[str, Any], whole: Mapping[str, Any],
                 random: Random) -> None:
    held[key] = drawn(schema, whole, random)


def _lost(held: Any, key: Any, *_: Any) -> None:
    del held[key]


def _added(held: Any, key: Any, schema: Mapping[str, Any], whole: Mapping[str, Any],
           random: Random) -> None:
    """A field that the schema knows and the file lacks, or one that nobody knows."""
    inside = held[key]
    if isinstance(inside, dict):
        fields = [field for each in _meant(schema, whole)
                  for field in each.get("properties", {}).items()]
        name, of = random.choice(fields) if fields else ("foreign", {})
        inside[name] = drawn(of, whole, random)
    elif isinstance(inside, list) and inside:
        inside.insert(random.randrange(len(inside)), copy.deepcopy(random.choice(inside)))
    else:
        held[key] = [inside, inside]


def _renamed(held: Any, key: Any, _: Mapping[str, Any], __: Mapping[str, Any],
             random: Random) -> None:
    if isinstance(held, dict):
        name = random.choice((f"{key}s", str(key)[:-1], "", "x" * 300, "\x1b", "'", "a b", "0"))
        held[name] = held.pop(key)


def _swapped(held: Any, key: Any, _: Mapping[str, Any], __: Mapping[str, Any],
             random: Random) -> None:
    other = random.choice(list(held) if isinstance(held, dict) else range(len(held)))
    held[key], held[other] = held[other], held[key]


_SCALES = (0, -1, 1e-9, 1e-3, 0.1, 3, 10, 1e3, 1e6, 1e12, 1e300)


def _scaled(held: Any, key: Any, _: Mapping[str, Any], __: Mapping[str, Any],
            random: Random) -> None:
    """A number of another size, its unit kept."""
    factor, (number, space, unit) = random.choice(_SCALES), str(held[key]).partition(" ")
    try:
        scaled = float(number) * factor
    except (ValueError, OverflowError):
        return
    whole = int(scaled) if scaled.is_integer() and abs(scaled) < 1e15 else scaled
    held[key] = f"{whole}{space}{unit}" if isinstance(held[key], str) else whole


_WAYS = (_overwritten, _overwritten, _of_its_kind, _of_its_kind, _lost, _added, _renamed, _swapped,
         _scaled, _scaled, _scaled)
