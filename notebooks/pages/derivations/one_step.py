"""One captured decode step as a timeline: what runs after what, and what beside it."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

import catalogue
from catalogue import library
from catalogue.deployments.loading import made_scenario
from catalogue.deployments.scenario import Scenario
from catalogue.entries.hardware import Device
from catalogue.entries.measurements import MeasuredStep
from catalogue.messages import Pair, messages
from catalogue.reading.words import revealed
from notebooks.pages.derivations.latency_steps import MILLISECONDS, Steps
from notebooks.show import figures
from notebooks.show.display import LANGUAGES, figure, number
from notebooks.show.numbers import fmt_time

common = messages("common")
say = messages("pages/derivations/one-step")

ENGINE = "tensorrt-llm"
MAIN, ASIDE, MEASURED = 0, 1, 2  # rows of the picture, from above
# in the order of the schedule of ``params/profiles/``: words, times of a step, colour
BLOCKS: tuple[tuple[Pair, tuple[str, ...], int], ...] = (
    (common("attention-projections"), ("attention",), figures.READ),
    (common("attention-core"), ("core", "index"), figures.CACHE),
    (say("all-reduce"), ("all_reduce",), figures.LINKS),
    (common("dense-mlp"), ("dense_mlp",), figures.READ),
    (common("router"), ("router",), figures.COMPUTE),
    (common("routed-experts"), ("routed_expert",), figures.READ),
    (common("output-head"), ("head",), figures.COMPUTE))
BESIDE = common("router"), common("routed-experts")
TOKENS = 1024  # of the requests of a measured step, and of their answers


def deployment_of(step: MeasuredStep) -> Scenario:
    """The deployment of a measured step."""
    device: Device = library.load("devices", step.device)
    ranks = int(step.tensor_parallel.value)
    data: dict[str, Any] = {
        "id": "measured-step", "title": {"en": "measured step", "zh": "实测的一步"},
        "defaults": {"source": step.tpot.source, "kind": "measured"},
        "model": step.model, "device": step.device, "precision": step.precision,
        "engine": revealed(step.engine),
        "cluster": {"node": device.node, "nodes": 1, "devices": ranks},
        "parallelism": {"tensor_parallel": ranks, "pipeline_parallel": 1, "data_parallel": 1,
                        "expert_parallel": 1},
        "scheduling": "mixed",
        "workload": {
            "concurrency": f"{step.users.value:g} request",
            "input_tokens": f"{TOKENS} token", "output_tokens": f"{TOKENS} token",
            "max_num_batched_tokens": "8192 token", "block_size": "64 token",
            "memory_utilization": 0.9}}
    return made_scenario(data, library.locate("bounds", "nvidia"))


def timeline(step: Steps) -> None:
    """Steps of four requests on both servers, by the formulas, over the measured ones."""
    bounds = [each for each in library.load("bounds", "nvidia").steps
              if each.engine.startswith(ENGINE)]
    steps = [step(deployment_of(each).inputs()) for each in bounds]
    for each, values in zip(bounds, steps, strict=True):
        number(f"timeline-{each.device}", values["decode_step_time"], fmt_time)
        number(f"timeline-measured-{each.device}", each.tpot.value, fmt_time)

    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, axes = figures.panels(4.4, rows=len(bounds), sharex=True)
        for ax, each, values in zip(axes, bounds, steps, strict=True):
            _lanes(ax, values, each.tpot.value, at)
            ax.set_title(say("step-of", cards=f"{each.tensor_parallel.value:g}",
                             card=catalogue.load_device(each.device).name[lang],
                             precision=each.precision)[at], fontsize=9)
        axes[-1].set_xlabel(say("ms-since-the-step-began")[at])
        axes[-1].legend(*axes[0].get_legend_handles_labels(), loc="upper center",
                        bbox_to_anchor=(0.5, -0.42), ncols=4, fontsize=8)
        return fig

    figure("step-timeline-measured", picture)


def _lanes(ax: Any, values: Any, measured: float, at: int) -> None:
    """Main stream, second stream and the measured step, one above the other [ms]."""
    def bar(row: int, begin: float, time: float, label: Pair, colour: str, tint: float) -> None:
        ax.barh(row, MILLISECONDS * time, left=MILLISECONDS * begin, height=0.6, label=label[at],
                color=colour, alpha=tint)

    now, kinds = 0.0, [colour for _, _, colour in BLOCKS]
    for (label, names, colour), tint in zip(BLOCKS, figures.tints(kinds), strict=True):
        time = sum(values[f"decode_{name}_time"] for name in names)
        if label == BESIDE[0]:
            bar(ASIDE, now, values["decode_hidden_time"], common("shared-expert"),
                figures.PALETTE[figures.READ], 0.35)
        bar(MAIN, now, time, label, figures.PALETTE[colour], tint)
        now += time
    rest = values["decode_device_time"] - now
    bar(MAIN, now, rest, say("other-kernels"), figures.PALETTE[figures.HOST], 1.0)
    bar(MAIN, now + rest, values["host_gap_per_step"], say("gap"), figures.PALETTE[figures.HOST],
        0.4)
    bar(MEASURED, 0.0, measured, say("measured"), figures.INK, 0.8)
    ax.set_yticks([MAIN, ASIDE, MEASURED], [
        words[at] for words in (say("main-stream"), say("second-stream"), say("measured"))])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
