"""The chapter on a card of one's own: the example's files, its answers, and what is misread."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import calc
import catalogue
from calc.uncertainty import interval
from catalogue.messages import Pair, messages
from catalogue.reading.files import display_path
from catalogue.reading.units import human
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables import hardware, mechanisms
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.pages.deployments import views
from notebooks.pages.deployments.answers import Deployed
from notebooks.show.columns import Column
from notebooks.show.display import cited, markdown, number, numbers, table, written
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deployments/own-hardware")

EXAMPLES = catalogue.ROOT / "templates"
CARD, PLAN = EXAMPLES / "example-card.yml", EXAMPLES / "example-deployment.yml"
MEASURED = EXAMPLES / "example-measured.yml"
QUANTITIES = ("headroom_per_device", "max_concurrency", "ttft", "tpot", "output_throughput")
MISTAKES = (("256 GiB ", "256 GiB/s "), ("kind: vendor", "kind: vender"),
            ("memory_bandwidth", "memory_bandwith"), ("like: amd-mi300x", "like: amd-mi30x"))
MECHANISMS = 6  # that are listed, by how far each moves the answer
KNOWN = 3  # of them taken as known exactly
OF_OTHER_UNITS = ("host_peak", "core_peak")  # peaks that a sparse one does not stand for


def the_card() -> None:
    """The file of the example's card, and how much of it is its own."""
    _file(CARD)
    card = catalogue.load_device(CARD)
    assert card.like is not None
    own = dict(hardware.values_of(card))
    relative = dict(hardware.values_of(catalogue.load_device(card.like)))
    stated = [label for label, value in own.items() if relative.get(label) != value]
    numbers({"own-stated": len(stated), "own-inherited": len(own) - len(stated)})


def _file(path: Path) -> None:
    """A file as the reader writes it, without the comments at its head."""
    lines = path.read_text(encoding="utf-8").splitlines()
    while lines[0].startswith("#"):
        lines.pop(0)
    text = "\n".join(lines)
    markdown(*[f"```yaml\n{text}\n```"] * 2)


def misreadings(deployed: Deployed) -> None:
    """What a deployment would come to if its card's data sheet were misread."""
    symbols, inputs, attention = catalogue.symbols(), deployed.inputs, deployed.attention
    first = (symbols["ttft"].en, symbols["ttft"].zh)

    def row(trap: Pair, right: Value, wrong: Value, what: Pair, result: str,
            shown: Callable[[Any], str], **misread: Any) -> dict[str, Any]:
        """One trap: a value read rightly and wrongly, and what follows from each."""
        wrongly = calc.evaluate(inputs | misread, attention)
        return {"trap": trap, "right": written(right), "wrong": written(wrong), "what": what,
                "ours": shown(deployed.quantities[result]), "theirs": shown(wrongly[result])}

    card = catalogue.load_device(CARD)
    assert card.sparse_peak is not None
    printed = card.memory_capacity.others[0]
    dense, sparse = card.matrix_peak.fp8, card.sparse_peak.fp8
    link = catalogue.load_link(deployed.scenario.node.device_link).device_bandwidth
    assert dense is not None
    assert sparse is not None
    assert link is not None
    peaks = [name for name in inputs if name.endswith("_peak") and name not in OF_OTHER_UNITS]
    die, package = (catalogue.load_device(f"ascend-910c-{part}") for part in ("die", "package"))
    sizes = die.memory_capacity.value, package.memory_capacity.value
    table([
        row(say("gib-printed-as-gb"), card.memory_capacity, printed, say("requests-that-fit"),
            "max_concurrency", lambda count: fmt_int(int(count)), memory_capacity=printed.value),
        row(say("sparse-peak-for-dense-fp8"), dense, sparse, first, "ttft", fmt_time,
            **{name: inputs[name] * sparse.value / dense.value for name in peaks}),
        row(say("both-directions-of-link-for"), link, link.others[1], first, "ttft", fmt_time,
            **{name: 2 * inputs[name] for name in ("pair_bandwidth", "device_link_bandwidth")}),
        {"trap": say("package-for-die", package=entry_label(package)),
         "right": fmt_bytes(sizes[0], "GiB", 0), "wrong": fmt_bytes(sizes[1], "GiB", 0),
         "what": say("memory-of-what-software-sees"),
         "ours": fmt_bytes(sizes[0]), "theirs": fmt_bytes(sizes[1])},
    ], {"trap": say("misreading"), "right": say("meant"), "wrong": say("read-as"),
        "what": say("what-follows"), "ours": say("rightly"), "theirs": say("misread")}, wide=True)


def mistakes() -> None:
    """What ``check`` answers to slips in the card's file."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for right, wrong in MISTAKES:
            Path("my-card.yml").write_text(
                CARD.read_text(encoding="utf-8").replace(right, wrong, 1), encoding="utf-8")
            try:
                catalogue.load_device("my-card.yml")
            except catalogue.ParamsError as error:
                says = [text.replace(display_path(Path("my-card.yml")), "my-card.yml")
                        for text in error.problems]
                rows.append({"wrong": f"`{wrong.strip()}`",
                             "says": " ".join(f"`{text}`" for text in says)})
    table(rows, {"wrong": say("written"), "says": say("answer")}, wide=True)


def the_plan() -> None:
    """The file of the example's deployment, and the answers for each of its variants."""
    _file(PLAN)
    markdown(*say("python-m-calc-estimate-my"))
    symbols = catalogue.symbols()

    def columns(of: Deployed) -> list[Column]:
        title = of.scenario.title
        return [Column(lambda name: of.quantity(name).text, (title["en"], title["zh"])),
                Column(lambda name: of.quantity(name).reach, common("interval"))]

    table(QUANTITIES, [
        Column(lambda name: (symbols[name].en, symbols[name].zh), common("quantity")),
        *(column for plan in catalogue.load_family(PLAN).deployments
          for column in columns(Deployed(plan)))], wide=True)


def what_a_page_lacks(deployed: Deployed) -> None:
    """What the example's page lacks, and which key of a file brings it."""
    absent = views.three(deployed).absent
    markdown(*("\n".join(f"- {text[at]}" for text in absent) for at in (0, 1)))
    table([{"key": "`documented`", "absent": say("document-numbers-beside-ours")},
           {"key": "`measured`", "absent": say("predicted-against-measured")},
           {"key": "`output_tokens`", "absent": say("time-to-first-token-decode")},
           {"key": "`microbenchmarks`", "absent": say("on-card-own-page-what")},
           {"key": "`mechanisms`", "absent": say("nothing-those-of-card-class")}],
          {"key": say("key-left-out"), "absent": say("what-is-then-absent")})


def what_to_measure(deployed: Deployed) -> None:
    """Which assumed values move the time per token most, and what knowing some would bring."""
    inputs, attention = deployed.questions["tpot"], deployed.attention
    labels = dict(zip((knob.name for knob in deployed.scenario.mechanism_knobs),
                      mechanisms.of_deployment(deployed.scenario), strict=True))
    alone = {knob.name: interval(inputs, [knob], attention, ["tpot"])["tpot"]
             for knob in deployed.knobs if knob.name in labels}
    ranked = sorted(alone, key=lambda name: alone[name].high / alone[name].low, reverse=True)
    table(ranked[:MECHANISMS], [
        Column(lambda name: labels[name][0], say("assumed-value")),
        Column(lambda name: labels[name][1], common("value-range"), written),
        Column(lambda name: alone[name].reach, say("time-per-output-token-from"))], wide=True)
    rest = interval(inputs, [knob for knob in deployed.knobs if knob.name not in ranked[:KNOWN]],
                    attention, ["tpot"], deployed.own_deviations)["tpot"]
    number("own-known", KNOWN)
    told = deployed.answers["tpot"]
    numbers({"own-before": told.reach, "own-after": rest.reach, "own-median": told.text,
             "own-median-after": rest.text}, str)
    numbers({"own-central": told.value, "own-wide": told.high - told.low,
             "own-narrow": rest.high - rest.low}, fmt_time)


def against_a_measurement() -> None:
    """What others measured of such a card: how many requests can have been in flight."""
    run = catalogue.load_measurements(MEASURED)
    answer, prompt = (run.column(name)[0] for name in ("output_tokens", "input_tokens"))
    both = prompt + answer
    levels = list(zip(run.column("concurrency"), run.column("throughput"),
                      run.column("latency_p99"), strict=True))
    table([{"count": fmt_int(int(count)), "rate": fmt_quantity(rate, "token/s"),
            "late": human(late, "s"), "answer": fmt_sig(rate * late / answer, 2),
            "both": fmt_sig(rate * late / both, 2)} for count, rate, late in levels],
          {"count": say("requests-as-printed"), "rate": common("throughput"),
           "late": say("latency-percentile"), "both": say("in-flight-if-prompts-count"),
           "answer": say("in-flight-if-answers-alone")}, wide=True)
    requests, rate, late = levels[1]
    twin = Deployed(catalogue.load_scenario(PLAN, overrides=[
        "model=deepseek-v3.2", f"workload.concurrency={requests:g}"]))
    mean = requests * both / rate
    error = twin.answers["e2e"].value / mean - 1
    numbers({"own-asked": int(requests), "own-prompt": int(prompt), "own-answer": int(answer)})
    numbers({"own-mean": human(mean, "s"), "own-alone": human(requests * answer / rate, "s"),
             "own-late": human(late, "s"), "own-e2e": twin.answers["e2e"].text,
             "own-e2e-reach": twin.answers["e2e"].reach,
             "own-error": f"{error:+.0%}".replace("-", "−"),
             "own-most": fmt_sig(max(rate * late / both for _, rate, late in levels[1:]), 2)}, str)
    markdown(*say("measured-by-others", source=cited(run.source)))
