"""``dev audit``: every claim of the documents with a computed verdict, and what is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from calc.auditing.judging import VERDICTS
from calc.commands import BAD_INPUT, OK
from calc.commands.options import cli_command
from calc.commands.view import Block, Table, View, joined
from catalogue import ParamsError
from catalogue.messages import plural

DOCUMENTS = ("s0", "s1", "s2", "s3")


@cli_command("dev audit", "--document s3 --verdict wrong-input", "--claim S1-046", table=False)
@click.option("--document", type=click.Choice(DOCUMENTS), help="Only claims in this document.")
@click.option("--verdict", type=click.Choice(VERDICTS), metavar="NAME",
              help=f"Only this verdict: {', '.join(VERDICTS)}.")
@click.option("--claim", metavar="ID", help="Only this claim, e.g. S1-046.")
def command(**wanted: str | None) -> View:
    """Check each claim in vendors' deployment plans and give the corrected value.

    \b
    s0  R1 on Ascend 910B2 under vLLM
    s1  V3 on 32 H20
    s2  R1 quantised with AWQ on eight 910B1
    s3  R1 on two 910B4-1, experts on a Kunpeng host CPU
    """
    from calc.auditing.audit import audit  # builds deployments

    result = audit()
    filters = [value for value in wanted.values() if value]
    claims = [row for row in (one.as_json() for one in result.rows) if all(
        value in (row["id"], row["document"], row["verdict"], *row["also"]) for value in filters)]
    if not claims:
        raise ParamsError(f"no claim is {joined(filters)}; `dev audit --document NAME` lists them.")
    ids = {row["id"] for row in claims}
    among = [one.as_json() for one in result.contradictions if ids.intersection(one.claims)]
    counts = [{"verdict": verdict} | {
        document: count[verdict] for document, count in result.counts.items()}
        for verdict in VERDICTS]
    body: list[Block] = [
        Table.of(counts, "verdict", *result.counts),
        "Causes: " + joined(f"{name} {count}" for name, count in result.causes.most_common()),
        *map(claim_line, claims if filters else ())]
    return View(
        f"{plural(len(claims), 'claim')}, {plural(len(among), 'contradiction')}", {
            "counts": {name: dict(count) for name, count in result.counts.items()},
            "causes": dict(result.causes.most_common()), "contradictions": among,
            "claims": claims},
        body=body, problems=result.problems, code=BAD_INPUT if result.problems else OK)


def claim_line(row: Mapping[str, Any]) -> str:
    """A claim with its verdict and reason."""
    documented = row["documented"].get("written") or row["documented"]["value"]
    return (f"{row['id']} [{row['section']}] {row['what']['en']}: {documented}: "
            f"{joined([row['verdict'], *row['also']])}. {row['why']['en']}")
