"""``audit``: every claim of the documents with a computed verdict, and what is right instead."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from calc.commands.check import told
from calc.commands.printing import BAD_INPUT, OK, listing, print_json, spoken
from catalogue import ParamsError
from catalogue.messages import Pair, messages
from catalogue.reading.shared import causes

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

    Returns 2 where a claim could not be judged; the others are printed.
    """
    from calc.auditing.audit import audit  # builds deployments
    from calc.auditing.judging import VERDICTS

    whole = audit()
    rows = [row for row in whole.rows
            if args.document in (None, row.case.listed.document)
            and args.cause in (None, row.cause) and args.claim in (None, row.id)
            and (args.verdict is None
                 or args.verdict in (row.judgement.verdict, *row.judgement.also))]
    _known(whole, args, VERDICTS)
    for problem in told(whole.problems):
        print(problem, file=sys.stderr)
    if args.json:
        print_json({"counts": {document: dict(count) for document, count
                               in whole.counts().items()},
                    "causes": dict(whole.causes().most_common()),
                    "contradictions": [each.as_json() for each in _among(whole, rows)],
                    "claims": [row.as_json() for row in rows]})
    elif args.contradictions:
        _excluding(_among(whole, rows))
    else:
        _told(whole, rows, any((args.document, args.verdict, args.cause, args.claim)))
    return BAD_INPUT if whole.problems else OK


def _known(whole: Any, args: argparse.Namespace, verdicts: Iterable[str]) -> None:
    """Raises ParamsError for a claim, a verdict or a cause that there is none of."""
    for name, asked, known in (
            ("claim", args.claim, [row.id for row in whole.rows]),
            ("verdict", args.verdict, list(verdicts)), ("cause", args.cause, list(whole.causes()))):
        if asked is not None and asked not in known:
            near = difflib.get_close_matches(asked[:40], known, n=3, cutoff=0.3) or known[:8]
            raise ParamsError(spoken(say("none-such", option=f"--{name} {asked[:40]}",
                                         names=listing(near))))


def _told(whole: Any, rows: list[Any], asked: bool) -> None:
    for document, count in whole.counts().items():
        listed = listing(spoken(say("counted", count=number, name=name, words=_verdict(name)))
                         for name, number in count.most_common())
        print(spoken(say("claims", document=document.upper(), count=count.total(),
                         listed=listed)))
    if found := whole.causes():
        print(spoken(say("causes", listed=listing(
            spoken(say("cause", name=name, count=count, title=_title(name)))
            for name, count in found.most_common()))))
    for row in rows if asked else ():
        said = row.as_json()
        documented = said["documented"].get("written") or said["documented"]["value"]
        print(spoken(say(
            "claim", id=row.id, section=said["section"], what=_pair(said["what"]),
            documented=str(documented),
            verdict=_verdict(said["verdict"]), also=bool(said["also"]),
            others=listing(spoken(_verdict(each)) for each in said["also"]),
            why=_pair(said["why"]))))


def _among(whole: Any, rows: Iterable[Any]) -> list[Any]:
    """The contradictions that one of some claims stands in."""
    asked = {row.id for row in rows}
    return [each for each in whole.contradictions if asked.intersection(each.claims)]


def _excluding(found: list[Any]) -> None:
    """What is said beside what else, and which of it holds."""
    counts = Counter(each.kind for each in found)
    print(spoken(say("contradictions", count=len(found), listed=listing(
        spoken(say("of-kind", kind=kind, count=count)) for kind, count in counts.items()))))
    for each in found:
        print(spoken(say(
            "contradiction", id=each.id, kind=each.kind,
            name=(each.name["en"].rstrip("."), each.name["zh"].rstrip("。")),
            said=listing(f"{claim} {value}" for claim, value
                         in zip(each.claims, each.values, strict=True)),
            some=bool(each.right), right=listing(each.right))))


def _pair(texts: Mapping[str, str]) -> Pair:
    return texts["en"], texts["zh"]


def _title(cause: str) -> Pair:
    return _pair(causes()[cause]["title"])


def _verdict(name: str) -> Pair:
    return say("verdict", name=name, plain=name)
