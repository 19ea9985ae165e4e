"""Predicted and measured: errors, pictures, every row, and what other tools predict."""

from __future__ import annotations

from typing import Any

import numpy as np

import calc
import catalogue
from calc.evidence.systems import System
from catalogue.entries.measurements import Measurements, PeerPrediction
from catalogue.reading.amounts import human
from notebooks.pages.catalogue.tables import deployments
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.sections.page import Page
from notebooks.pages.validation import measured
from notebooks.pages.validation.measured import Results
from notebooks.show.display import citation, draw, show, table
from notebooks.show.numbers import fmt_int, fmt_sig

PEER_METRICS = {"prefill_rate": ("prompt tokens", "提示 token 速率"),
                "output_throughput": ("output throughput", "输出吞吐")}
MANY = 12  # rows beyond which the table is folded


def predicted_and_measured(page: Page) -> None:
    """Every prediction beside its measurement, where this deployment was measured."""
    system, of = page.deployed.seen, page.deployment.measured
    if of is None:
        show("This deployment has not been measured.", "该部署没有实测数据。")
        return
    if system is None:
        show("What was measured is of another card.", "已有的实测用的是另一种卡。")
        return
    results = Results(system.rows, system.suspect, system.unequal, page.deployed.predictions)
    _errors(page, of, results)
    if "tpot" in results.predictions:
        _above_the_floor(page, system, results)
    if measured.panels(results):
        draw(measured.against(results))
        if results.suspect:
            show("Bars are 80% intervals; circled points are of rows in doubt.",
                 "竖线为 80% 区间；加圈的点属于存疑的行。")
        else:
            show("Bars are 80% intervals.", "竖线为 80% 区间。")
    table(*measured.every_row(results), wide=True,
          folded=("Every row", "逐行") if results.count > MANY else None)
    for remark in measured.remarks(results):
        show(*remark)
    if of.peer_predictions:
        _other_tools(system, of)
    if of.note:
        show(of.note["en"], of.note["zh"])
    if of.definitions:
        table([{"column": f"`{name}`", "meaning": (text["en"], text["zh"])}
               for name, text in of.definitions.items()],
              {"column": ("column", "列"), "meaning": ("meaning in the source", "在来源中的含义")},
              folded=("What the columns mean", "各列的含义"))


def rows_of(deployed: Deployed) -> None:
    """The measured rows of a deployment beside their predictions, if it was measured."""
    if deployed.seen is not None:
        of = deployed.seen
        table(*measured.every_row(Results(of.rows, of.suspect, of.unequal, deployed.predictions)),
              wide=True)


def _errors(page: Page, of: Measurements, results: Results) -> None:
    """Where the measurement is from, and how far the predictions are off."""
    en, zh = deployments.origin(of.source)
    show(f"{of.name['en']}: {en}. Nothing is fitted: predictions use only priors and each row's "
         "lengths and number of requests.",
         f"{of.name['zh']}：{zh}。预测不作任何拟合：各系统都只用先验，每一行只取其长度与请求数。")
    table(*measured.errors(results))
    if any(catalogue.load("calibrations", name).scenario == page.deployment.id
           for name in catalogue.names("calibrations")):
        show("Errors after a calibration, on rows that it was not fitted to: "
             "[all errors](#validation).",
             "标定之后、未参与拟合的行上还剩多少误差，见[误差一页](#validation)。")


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
            show(f"Prompts of {rest[0]} tokens have too few rows for a line; they still "
                 "count.",
                 f"输入 {rest[1]} token 的行数太少，未画成曲线，但仍计入误差。")
    ratio = pace.measured / lowest
    ends = list(dict.fromkeys(fmt_sig(float(end), 2) for end in (ratio.min(), ratio.max())))
    of_cards = bool(page.inputs["offloaded_share"])
    show(f"The measured time per output token is {' to '.join(ends)} times the floor"
         f"{' of the cards' * of_cards}.",
         f"实测的每输出 token 时间为{'卡上读取' * of_cards}下界的 {' 至 '.join(ends)} 倍。")


def _other_tools(system: System, of: Measurements) -> None:
    """What other tools predict of the same rows, beside the measurement and ours."""
    show("What another tool predicts of it:", "另一工具对它的预测：")
    table([_peer(system, of, peer) for peer in of.peer_predictions],
          {"tool": ("tool", "工具"), "row": ("row", "行"), "what": ("quantity", "量"),
           "measured": ("measured", "实测"), "peer": ("its prediction (error)", "其预测（误差）"),
           "here": ("predicted here (error)", "本书预测（误差）"), "source": ("source", "来源")})


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
