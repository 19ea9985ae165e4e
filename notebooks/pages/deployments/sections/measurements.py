"""Predicted and measured: errors, pictures, every row, and what other tools predict."""

from __future__ import annotations

from typing import Any

import numpy as np

import calc
import catalogue
from calc.evidence.systems import System
from catalogue.entries.measurements import Measurements, PeerPrediction
from catalogue.messages import messages
from catalogue.reading.units import human
from notebooks.pages.catalogue.tables import deployments
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.sections.page import Page
from notebooks.pages.validation import measured
from notebooks.pages.validation.measured import Results
from notebooks.show.display import citation, draw, markdown, table
from notebooks.show.numbers import fmt_int, fmt_sig

common = messages("common")
say = messages("pages/deployments/sections/measurements")

PEER_METRICS = {"prefill_rate": say("prompt-tokens"),
                "output_throughput": common("output-throughput")}
MANY = 12  # rows beyond which the table is folded


def predicted_and_measured(page: Page) -> None:
    """Every prediction beside its measurement, where this deployment was measured."""
    system, of = page.deployed.seen, page.deployment.measured
    if of is None:
        markdown(*say("this-deployment-has-not-been"))
        return
    if system is None:
        markdown(*common("what-was-measured-is-of"))
        return
    results = Results(system.rows, system.suspect, system.unequal, page.deployed.predictions)
    _errors(page, of, results)
    if "tpot" in results.predictions:
        _above_the_floor(page, system, results)
    if measured.panels(results):
        draw(measured.against(results))
        if results.suspect:
            markdown(*say("bars-are-intervals-circled-points"))
        else:
            markdown(*say("bars-are-intervals"))
    table(*measured.every_row(results), wide=True,
          folded=common("every-row") if results.count > MANY else None)
    for remark in measured.remarks(results):
        markdown(*remark)
    if of.peer_predictions:
        _other_tools(system, of)
    if of.note:
        markdown(of.note["en"], of.note["zh"])
    if of.definitions:
        table([{"column": f"`{name}`", "meaning": (text["en"], text["zh"])}
               for name, text in of.definitions.items()],
              {"column": say("column"), "meaning": say("meaning-in-source")},
              folded=say("what-columns-mean"))


def rows_of(deployed: Deployed) -> None:
    """The measured rows of a deployment beside their predictions, if it was measured."""
    if deployed.seen is not None:
        of = deployed.seen
        table(*measured.every_row(Results(of.rows, of.suspect, of.unequal, deployed.predictions)),
              wide=True)


def _errors(page: Page, of: Measurements, results: Results) -> None:
    """Where the measurement is from, and how far the predictions are off."""
    en, zh = deployments.origin(of.source)
    markdown(*say("nothing-is-fitted-predictions-use", of=(of.name["en"], of.name["zh"]),
              text=(en, zh)))
    table(*measured.errors(results))
    if any(catalogue.load("calibrations", name).scenario == page.deployment.id
           for name in catalogue.names("calibrations")):
        markdown(*say("errors-after-calibration-on-rows"))


def _above_the_floor(page: Page, system: System, results: Results) -> None:
    """How many times the floor the measured time per output token is."""
    pace = results.predictions["tpot"]
    quantities = calc.evaluate(system.at(pace.row), page.deployed.attention)
    lowest = np.broadcast_to(quantities["tpot_floor"], pace.row.shape)
    lengths = measured.lengths(results)
    if lengths and not system.scheduled:
        draw(measured.by_requests(results, lowest))
        if few := sorted({*system.rows["input_tokens"][pace.row]} - {*lengths}):
            rest = ", ".join(map(fmt_int, few)), "、".join(map(fmt_int, few))
            markdown(*say("prompts-of-tokens-have-too", rest=rest))
    ratio = pace.measured / lowest
    ends = list(dict.fromkeys(fmt_sig(float(end), 2) for end in (ratio.min(), ratio.max())))
    markdown(*say("measured-time-per-output-token", low=ends[0], high=ends[-1],
              spans=len(ends) > 1))


def _other_tools(system: System, of: Measurements) -> None:
    """What other tools predict of the same rows, beside the measurement and ours."""
    markdown(*say("what-another-tool-predicts-of"))
    table([_peer(system, of, peer) for peer in of.peer_predictions],
          {"tool": say("tool"), "row": common("row"), "what": common("quantity"),
           "measured": common("measured"), "peer": say("its-prediction-error"),
           "here": say("predicted-here-error"), "source": common("source")})


def _peer(system: System, of: Measurements, peer: PeerPrediction) -> dict[str, Any]:
    row, unit = peer.row - 1, peer.value.unit
    if peer.metric == "prefill_rate":  # one step: the tokens of its prompts over their TTFT
        ours = system.rows["concurrency"][row] * system.rows["input_tokens"][row] / float(
            system.predict("ttft", np.array([row]))[0])
    else:
        ours = float(system.predict(peer.metric, np.array([row]))[0])
    result, theirs = of.column(peer.metric)[row], peer.value.value
    return {"tool": peer.tool, "row": peer.row,
            "what": PEER_METRICS.get(peer.metric, (peer.metric, peer.metric)),
            "measured": human(result, unit),
            "peer": f"{human(theirs, unit)} ({measured.signed(theirs / result - 1)})",
            "here": f"{human(ours, unit)} ({measured.signed(ours / result - 1)})",
            "source": citation(peer.value)}
