"""``audit``: every claim of the documents with a computed verdict, and what is right instead."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from calc.commands.check import first_problems
from calc.commands.printing import BAD_INPUT, OK, listing, print_json, spoken
from catalogue import ParamsError
from catalogue.messages import Pair, messages
from catalogue.reading.values import causes

say = messages("calc/commands/evidence/audit")

DOCUMENTS = ("s0", "s1", "s2", "s3")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``audit`` takes, besides ``--json``."""
    command.add_argument("--document", choices=DOCUMENTS, help=spoken(say("help-document")))
    for name, meaning in (("verdict", say("help-verdict")), ("cause", say("help-cause")),
                          ("claim", say("help-claim"))):
        command.add_argument(f"--{name}", help=spoken(meaning))
    command.add_argument("--contradictions", action="store_true",
                         help=spoken(say("help-contradictions")))


def run(args: argparse.Namespace) -> int:
    """Print counts by document and verdict, the causes, and the claims that are asked for.

    Returns 2 where a claim could not be judged; the others are printed. Raises ParamsError for a
    claim, a verdict or a cause that there is none of.
    """
    from calc.auditing.audit import audit  # builds deployments
    from calc.auditing.judging import VERDICTS

    result = audit()
    rows = [row for row in result.rows
            if args.document in (None, row.case.listed.document)
            and args.cause in (None, row.cause) and args.claim in (None, row.id)
            and (args.verdict is None
                 or args.verdict in (row.judgement.verdict, *row.judgement.also))]
    for name, wanted, choices in (
            ("claim", args.claim, [row.id for row in result.rows]),
            ("verdict", args.verdict, list(VERDICTS)),
            ("cause", args.cause, list(result.causes))):
        if wanted is not None and wanted not in choices:
            near = difflib.get_close_matches(wanted[:40], choices, n=3, cutoff=0.3) or choices[:8]
            raise ParamsError(spoken(say("none-such", option=f"--{name} {wanted[:40]}",
                                         names=listing(near))))
    for problem in first_problems(result.problems):
        print(problem, file=sys.stderr)
    if args.json:
        print_json({"counts": {document: dict(count) for document, count
                               in result.counts.items()},
                    "causes": dict(result.causes.most_common()),
                    "contradictions": [one.as_json() for one in _among(result, rows)],
                    "claims": [row.as_json() for row in rows]})
    elif args.contradictions:
        print_contradictions(_among(result, rows))
    else:
        print_claims(result, rows, any((args.document, args.verdict, args.cause, args.claim)))
    return BAD_INPUT if result.problems else OK


def print_claims(result: Any, rows: list[Any], wanted: bool) -> None:
    """Counts of each document, causes, and the claims that are asked for."""
    for document, count in result.counts.items():
        listed = listing(spoken(say("counted", count=number, name=name, words=_verdict(name)))
                         for name, number in count.most_common())
        print(spoken(say("claims", document=document.upper(), count=count.total(),
                         listed=listed)))
    if by_cause := result.causes:
        print(spoken(say("causes", listed=listing(
            spoken(say("cause", name=name, count=count, title=_pair(causes()[name]["title"])))
            for name, count in by_cause.most_common()))))
    for row in rows if wanted else ():
        data = row.as_json()
        documented = data["documented"].get("written") or data["documented"]["value"]
        print(spoken(say(
            "claim", id=row.id, section=data["section"], what=_pair(data["what"]),
            documented=str(documented),
            verdict=_verdict(data["verdict"]), also=bool(data["also"]),
            others=listing(spoken(_verdict(one)) for one in data["also"]),
            why=_pair(row.why))))


def _among(result: Any, rows: Iterable[Any]) -> list[Any]:
    """The contradictions that one of some claims stands in."""
    wanted = {row.id for row in rows}
    return [one for one in result.contradictions if wanted.intersection(one.claims)]


def print_contradictions(contradictions: list[Any]) -> None:
    """What is said beside what else, and which of it holds."""
    counts = Counter(one.kind for one in contradictions)
    print(spoken(say("contradictions", count=len(contradictions), listed=listing(
        spoken(say("of-kind", kind=kind, count=count)) for kind, count in counts.items()))))
    for one in contradictions:
        print(spoken(say(
            "contradiction", id=one.id, kind=one.kind,
            name=(one.name["en"].rstrip("."), one.name["zh"].rstrip("。")),
            said=listing(f"{claim} {value}" for claim, value
                         in zip(one.claims, one.values, strict=True)),
            some=bool(one.right), right=listing(one.right))))


def _pair(texts: Mapping[str, str]) -> Pair:
    return texts["en"], texts["zh"]


def _verdict(name: str) -> Pair:
    return say("verdict", name=name, plain=name)
