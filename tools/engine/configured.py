"""Command lines of all shipped deployments before the engine's own parser and configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.engine import lines, model
from tools.engine.environment import WRITTEN, Environment
from tools.engine.rows import Row

LONGEST = 160  # characters of a refusal
# each is refused by the engine itself: were it not, the others would say nothing
BROKEN = {
    "an unknown flag": ["--tensor-parallel-sizes", "2"],
    "a value of another type": ["--max-num-seqs", "many"],
    "heads that do not divide": ["--tensor-parallel-size", "3"],
    "longer than the model's positions": ["--max-model-len", str(2 * model.POSITIONS)],
    "experts balanced without their ranks": ["--enable-eplb", "--tensor-parallel-size", "1"]}


def rows(environment: Environment, _: Path, folder: Path) -> Iterator[Row]:
    """Lines that have to be refused, then all lines of shipped deployments."""
    checkpoint = model.write(folder / "small", model.CONFIG)
    broken = lines.checked(environment, [
        lines.Line(name, [str(checkpoint), *argv]) for name, argv in BROKEN.items()])
    yield refusals(broken, len(BROKEN))
    yield from _judged(environment, folder, lines.candidates(), "deployments")


def of_answers(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Lines of the first answers to the shipped goals."""
    yield from _judged(environment, folder / "made", lines.answers(python, folder / "answers"),
                       "first answers to goals")


def _judged(environment: Environment, folder: Path, names: Iterable[str], kind: str
            ) -> Iterator[Row]:
    made, refused = lines.written(f"{lines.ENGINE}@{WRITTEN}", folder, names)
    servers = [line for of in made.values() for line in of if line.program == lines.ENGINE]
    yield from judged(lines.checked(environment, servers), refused, kind)


def refusals(found: list[dict[str, Any]], expected: int) -> Row:
    """Whether the engine refuses all lines that are broken on purpose."""
    accepted = [row["name"] for row in found if row["configured"] and not row["left_out"]]
    return Row("broken", "command lines that are broken on purpose",
               f"{len(found) - len(accepted)} refused", f"{expected} refused",
               not accepted and len(found) == expected, None,
               [*(f"'{name}' is not refused" for name in accepted),
                *(f"{row['name']}: {row['refused'][0]}" for row in found if row["refused"])])


def judged(found: list[dict[str, Any]], refused: dict[str, str], kind: str,
           place: str = "this processor") -> Iterator[Row]:
    """What the engine made of lines.

    Args:
        found: as ``inside`` writes them.
        refused: deployments that are not written, with the sentence.
        kind: what they are lines of.
        place: for what they were configured.
    """
    parsed = [row for row in found if row["parsed"]]
    whole = [row for row in parsed if row["configured"] and not row["left_out"]]
    partly = [row for row in parsed if row["configured"] and row["left_out"]]
    not_at_all = [row for row in found if not row["configured"]]
    deployments = {row["name"].partition("/")[0] for row in found}
    yield Row("parsed", f"{len(found)} command lines of {len(deployments)} {kind}, parsed",
              f"{len(parsed)}", f"{len(found)}", bool(found) and len(parsed) == len(found),
              {"lines": len(found), "deployments": len(deployments), "parsed": len(parsed)},
              [f"{row['name']}: {row['refused'][0]}" for row in found if not row["parsed"]])
    left = Counter(name for row in partly for name in row["left_out"])
    yield Row("configured", f"{kind}, configured by the engine for {place}",
              f"{len(whole)} as written, {len(partly)} without what is of a card",
              f"{len(found)}", len(whole) + len(partly) == len(found),
              {"whole": len(whole), "partly": len(partly)},
              [*(f"{name} is left out of {count}" for name, count in left.most_common()),
               *reasons((row["name"], row["refused"][0]) for row in (*partly, *not_at_all))])
    crashes = {name: why for name, why in refused.items() if "Error" in why.split(":")[0]}
    yield Row("refused", f"{kind} that deploy refuses, each in a sentence",
              f"{len(refused) - len(crashes)} of {len(refused)}", f"{len(refused)}", not crashes,
              {"refused": len(refused)}, [f"{name}: {why[:LONGEST]}"
                                          for name, why in refused.items()])


def reasons(of: Iterable[tuple[str, str]]) -> list[str]:
    """Each reason once, with the deployments of which it is told.

    >>> reasons([("a/serve-0", "no"), ("a/serve-1", "no"), ("b/serve-0", "no")])
    ['no: 3 lines of a, b']
    """
    found: dict[str, list[str]] = {}
    for name, why in of:
        found.setdefault(why, []).append(name.partition("/")[0])
    return [f"{why}: {len(names)} lines of {', '.join(dict.fromkeys(names))}"
            for why, names in found.items()]
