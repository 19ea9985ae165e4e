"""``dev audit``: every claim of the documents with a computed verdict, and what is right."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from calc.commands import BAD_INPUT, OK
from calc.commands.check import first_problems
from calc.commands.options import cli_command
from calc.commands.view import Block, Table, View, joined
from catalogue import ParamsError
from catalogue.messages import plural

DOCUMENTS = ("s0", "s1", "s2", "s3")
KINDS = {"values": "one quantity", "numbers": "law", "settings": "setting"}


@cli_command("dev audit", "--document s2 --verdict wrong-input", "--claim S1-046", table=False)
@click.option("--document", type=click.Choice(DOCUMENTS), help="Claims of this document only.")
@click.option("--verdict", metavar="NAME", help="Claims with this verdict, or with it beside it.")
@click.option("--cause", metavar="NAME", help="Claims explained by this cause only.")
@click.option("--claim", metavar="ID", help="This claim only, such as S1-046.")
@click.option("--contradictions", is_flag=True, help="Claims that exclude each other instead.")
def command(document: str | None, verdict: str | None, cause: str | None, claim: str | None,
            contradictions: bool) -> View:
    """Judge every claim of the documents: is it right, and what is right instead?"""
    from calc.auditing.audit import audit  # builds deployments
    from calc.auditing.judging import VERDICTS

    result = audit()
    for name, wanted, choices in (("claim", claim, [row.id for row in result.rows]),
                                  ("verdict", verdict, list(VERDICTS)),
                                  ("cause", cause, list(result.causes))):
        if wanted is not None and wanted not in choices:
            near = difflib.get_close_matches(wanted[:40], choices, n=3, cutoff=0.3) or choices[:8]
            raise ParamsError(f"--{name} {wanted[:40]}: there is none, the nearest are "
                              f"{joined(near)}.")
    rows = [row for row in result.rows
            if document in (None, row.case.listed.document) and cause in (None, row.cause)
            and claim in (None, row.id) and (verdict is None or verdict in (
                row.judgement.verdict, *row.judgement.also))]
    ids = {row.id for row in rows}
    among = [one for one in result.contradictions if ids.intersection(one.claims)]
    claims = [row.as_json() for row in rows]
    data = {"counts": {name: dict(count) for name, count in result.counts.items()},
            "causes": dict(result.causes.most_common()),
            "contradictions": [one.as_json() for one in among],
            "claims": claims}
    filtered = any((document, verdict, cause, claim))
    counts = Table(("document", "claims", "verdicts"), [
        (name.upper(), count.total(), joined(f"{number} {verdict_}" for verdict_, number
                                             in count.most_common()))
        for name, count in result.counts.items()])
    causes = "Causes: " + joined(f"{name} {count}" for name, count in result.causes.most_common())
    body: list[Block] = (
        [*contradiction_lines(among)] if contradictions else
        [counts, causes, *map(claim_line, claims if filtered else ())])
    return View(f"{plural(len(rows), 'claim')}, {plural(len(among), 'contradiction')}", data,
                body=body, problems=first_problems(result.problems),
                code=BAD_INPUT if result.problems else OK)


def claim_line(row: dict[str, Any]) -> str:
    """A claim with its verdict and reason."""
    documented = row["documented"].get("written") or row["documented"]["value"]
    also = f" ({joined(row['also'])})" if row["also"] else ""
    return (f"{row['id']} [{row['section']}] {row['what']['en']}: {documented}: {row['verdict']}"
            f"{also}. {row['why']['en']}")


def contradiction_lines(contradictions: Sequence[Any]) -> list[str]:
    """Statements that exclude each other, and which of them is right."""
    counts = Counter(KINDS.get(one.kind, "setting") for one in contradictions)
    lines = [joined(f"{count} of {kind}" for kind, count in counts.items())] if counts else []
    for one in contradictions:
        stated = joined(f"{claim} {value}" for claim, value
                        in zip(one.claims, one.values, strict=True))
        right = f"; right: {joined(one.right)}" if one.right else ""
        lines.append(f"{one.id} {KINDS.get(one.kind, 'setting')}: {one.name['en'].rstrip('.')}: "
                     f"{stated}{right}")
    return lines
