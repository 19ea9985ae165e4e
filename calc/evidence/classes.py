"""Classes of deployments that share the formulas' own error, and what a deployment gets of it.

A class is a path: under which load it runs, what kind of system it is, the vendor of its cards, and
the engine. Each is a part of the one before; ``all`` is every system. The load comes first: where
requests wait for each other, whatever runs them, predictions are off by twice as much as elsewhere.

What was measured near a deployment widens its error: on each axis, what was measured of the same
kind of system on cards of the same vendor covers a range, or some names. A deployment is as far
beyond as the logarithm, to base 2, of the factor by which it leaves the ranges; a format, a card or
an arrangement in pools of which nothing was measured counts like one doubling. Each doubling adds
an independent error (``calc.evidence.discrepancy``).

Source: notebooks/validation.md, section Are the intervals honest?
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, cast, get_args

import numpy as np

from calc.uncertainty import Sides
from catalogue import Scenario, library
from catalogue.deployments.physics_inputs import USUAL, priors_of
from catalogue.deployments.physics_inputs import widened as widened_weights
from catalogue.entries.calibrations import (
    ALONE,
    CONCURRENT,
    QUEUED,
    VARYING,
    Covered,
    Discrepancy,
    Growth,
    Load,
    Metric,
)
from catalogue.entries.profiles import Measured
from catalogue.messages import Pair, capitalised, ended, join, plural, sentences
from catalogue.reading.units import plain

AXES = ("requests", "tensor", "pipeline", "expert", "drafts")
NAMES = ("precision", "device", "pools")
EITHER = ("tensor", "pipeline", "expert", "precision", "device")  # what each pool has of its own
UNNAMED = 1.0  # doublings that count for a name of which nothing was measured


@dataclass(frozen=True)
class Axis:
    """A deployment on one axis beside what was measured.

    Attributes:
        name: of ``AXES`` or ``NAMES``.
        value: its own: a number, requests per card and ranks, or a name.
        covered: the least and the most that was measured, or the names.
        beyond: how far outside it lies [doubling]; 0 inside.
    """

    name: str
    value: Any
    covered: tuple[Any, ...]
    beyond: Any


@dataclass(frozen=True)
class Nearness:
    """What was measured near a deployment.

    Attributes:
        of: the class whose systems it is compared with.
        axes: the deployment on each of them.
        nearest: the measured system with the fewest doublings between them; None of none.
    """

    of: str
    axes: tuple[Axis, ...] = ()
    nearest: str | None = None

    @property
    def distance(self) -> Any:
        """Doublings beyond what was measured, over all axes; 0 inside."""
        return sum((axis.beyond for axis in self.axes), 0.0)

    @property
    def outside(self) -> list[Axis]:
        """Axes on which it lies outside of what was measured."""
        return [axis for axis in self.axes if np.any(axis.beyond)]

    @property
    def text(self) -> str:
        """The nearest measured system, and on which axes nothing measured reaches as far."""
        if self.nearest is None:
            return "nothing of its kind was measured"
        outside = ", ".join(
            f"{axis_label(axis.name)[0]} "
            f"{plain(axis.value) if isinstance(axis.value, float) else axis.value}"
            for axis in self.outside)
        return f"nearest measured: {self.nearest}" + (
            f"; outside of what was measured: {outside}" if outside else "")

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"class": self.of, "distance": float(self.distance), "nearest": self.nearest,
                "axes": [{"axis": axis.name, "value": axis.value, "covered": list(axis.covered),
                          "beyond": float(axis.beyond), "inside": not np.any(axis.beyond)}
                         for axis in self.axes]}


def covered(scenario: Scenario, of: str, requests: tuple[float, float]) -> Covered:
    """What the rows of a measured system cover.

    Args:
        scenario: the deployment that was measured.
        of: its class.
        requests: fewest and most in flight, over all cards [request].
    """
    own = position(scenario)
    fewest, most = (round(number / scenario.devices, 4) for number in requests)
    return Covered(of=of, device=scenario.device.id, precision=scenario.precision.id,
                   requests=(fewest, most), pools=own["pools"],
                   **{name: own[name] for name in AXES[1:]})


def position(scenario: Scenario, requests: Any = None) -> dict[str, Any]:
    """Where a deployment stands on each axis.

    Args:
        scenario: the deployment.
        requests: in flight over all cards, a number or an array [request]; None for its own.
    """
    own = scenario.inputs()
    flight = own["concurrency"] if requests is None else requests
    return {"requests": flight / scenario.devices,
            "tensor": int(own["tensor_parallel"]), "pipeline": int(own["pipeline_parallel"]),
            "expert": int(own["expert_parallel"]), "drafts": int(own["draft_tokens"]),
            "pools": 2 if own["separate_pools"] else 1,
            "precision": scenario.precision.id, "device": scenario.device.id}


def nearness(at: Mapping[str, Any], of: str, steps: Sequence[str],
             measured: Mapping[str, Covered]) -> Nearness:
    """A deployment beside what was measured of its class, or of the next wider that has systems.

    Args:
        at: where it stands, as :func:`position` gives it.
        of: its class.
        steps: that class and those that it is a part of, the narrowest first.
        measured: what each system covers; the deployment itself is none of them.
    """
    name, near = within(steps, measured)
    if not near:
        return Nearness(of)
    between = {key: sum(float(np.mean(axis.beyond)) for axis in axes_beside(at, [one]))
               for key, one in near.items()}
    return Nearness(name, axes_beside(at, near.values()),
                    min(between, key=lambda key: (between[key], key)))


def axes_beside(at: Mapping[str, Any], near: Collection[Covered]) -> tuple[Axis, ...]:
    """A deployment beside what some systems cover together.

    Args:
        at: where it stands, as :func:`position` gives it.
        near: coverage of each system.
    """
    covers = ranges(near)
    return (*(Axis(axis, at[axis], covers[axis],
                   doublings_beyond(axis, at[axis], *covers[axis])) for axis in AXES),
            *(Axis(axis, at[axis], covers[axis], 0.0 if at[axis] in covers[axis] else UNNAMED)
              for axis in NAMES))


def both(prefill: Nearness, decode: Nearness) -> Nearness:
    """What was measured near two pools: near the one that decodes, and on each of ``EITHER`` where
    that of the two stands which lies farther outside.

    Args:
        prefill, decode: each of them beside what was measured.
    """
    first = {axis.name: axis for axis in prefill.axes}
    return replace(decode, axes=tuple(
        other if axis.name in EITHER and (other := first.get(axis.name, axis)).beyond > axis.beyond
        else axis for axis in decode.axes))


def within(steps: Sequence[str], measured: Mapping[str, Covered]
           ) -> tuple[str, dict[str, Covered]]:
    """Of some classes the first that was measured, and what each of its systems covers.

    Args:
        steps: classes, the narrowest first.
        measured: what each system covers.
    """
    for step in steps:
        if near := {key: one for key, one in measured.items()
                    if step == "all" or f"{one.of}/".startswith(f"{step}/")}:
            return step, near
    return "", {}


def ranges(near: Collection[Covered]) -> dict[str, tuple[Any, ...]]:
    """What some systems cover together: the least and the most on ``AXES``, the ``NAMES``.

    Args:
        near: coverage of each.
    """
    ends = {axis: [getattr(one, axis) for one in near] for axis in AXES}
    ends["requests"] = [end for both in ends["requests"] for end in both]
    return {axis: (min(values), max(values)) for axis, values in ends.items()} | {
        axis: tuple(sorted({getattr(one, axis) for one in near})) for axis in NAMES}


def doublings_beyond(name: str, value: Any, low: float, high: float) -> Any:
    """How far a value lies beyond a range [doubling]; of drafts, of the tokens that are checked."""
    one = 1 if name == "drafts" else 0
    least, most = math.log2(low + one), math.log2(high + one)
    own = np.log2(value + one)
    if isinstance(own, float):  # one deployment, of which a search asks a million times
        return max(own - most, least - own, 0.0)
    return np.maximum(np.maximum(own - most, least - own), 0.0)


def widened(sides: Sides, growth: Sides, distance: Any) -> tuple[Any, Any]:
    """Deviations of a class at a distance from what was measured.

    >>> widened((0.3, 0.0), (0.4, 0.0), 1.0)
    (0.5, 0.0)

    Args:
        sides: of the class, downwards and upwards [1].
        growth: of one doubling, likewise [1].
        distance: in doublings, a number or an array.
    """
    down, up = (np.hypot(side, size * np.sqrt(distance))
                for side, size in zip(sides, growth, strict=True))
    return (down, up) if np.ndim(distance) else (float(down), float(up))


say = sentences("calc/evidence/classes")

UNCALIBRATED = "uncalibrated"  # the protocol without a fit, and its entry of params/discrepancies
ALL, SERVERS, SPARSE, HOSTS = "all", "servers", "sparse", "hosts"
WIDENED = "widened"
ENGINE_LEVEL = 4  # parts of the name of a class that knows its engine
NORMAL_MIDDLE = 0.6744897501960817  # median distance of a normal variable, in deviations [1]
# what is taken where a quantity was not measured: latency is nearly all later tokens, and rates of
# either phase are taken to be as sure
RATE, LATENCY = "output_throughput", "e2e"  # of as many requests as there are, by Little's law
STAND_IN = {LATENCY: "tpot", "prefill_throughput": RATE}
REPORTED = {"tpot": "TPOT", "ttft": "TTFT", RATE: "throughput"}  # whose evidence is printed
AXIS_LABELS = {"requests": "requests per card", "tensor": "TP", "pipeline": "PP", "expert": "EP",
               "drafts": "drafts", "precision": "format", "device": "card", "pools": "pools"}
# formulas know least of what kernels of sparse attention reach, kernels that widen weights as they
# multiply and are in no table, and hosts that multiply: apart, so that no other deployment pays
KINDS = (ALL, SERVERS, SPARSE, WIDENED, HOSTS)
# a server under as many requests as users; one phase without the other: prompts, or a pool that
# decodes; a run of many requests that wait for each other; the same of which only the mean of many
# lengths is known: how the last and longest answer ends such a run is not in it
LOADS: tuple[Load, ...] = (CONCURRENT, ALONE, QUEUED, VARYING)


def load_label(load: Load) -> Pair:
    """A load in words."""
    english = {CONCURRENT: "fixed concurrency", ALONE: "one phase alone",
               QUEUED: "sent all at once", VARYING: "sent all at once, many lengths"}
    return say("load", english[load], name=load)


def kind_label(kind: str) -> Pair:
    """A kind of deployments in words, of ``KINDS``."""
    english = {
        ALL: "all systems", SERVERS: "servers", SPARSE: "servers with sparse attention",
        WIDENED: "servers with weight-only kernels that are in no table",
        HOSTS: "experts on the host"}
    return say("kind", english[kind], name=kind)


@dataclass(frozen=True)
class Own:
    """The formulas' own error of one quantity of a deployment.

    Attributes:
        of_class: standard deviations of the logarithm in the class, downwards and upwards [1].
        of: the class that it is taken from: the narrowest that was measured.
        metric: what was measured of it; not the quantity itself where that has no rows.
        systems, rows, inside: of that class: measured, and rows inside of their intervals.
        within: deviation of rows about what their system shares [1]; of ``of_class`` at most that.
        growth: deviations of one doubling of distance from what was measured, likewise [1].
        distance: from what was measured [doubling].
    """

    of_class: Sides
    of: str
    metric: str
    systems: int
    rows: int
    inside: int
    within: float = 0.0
    growth: Sides = (0.0, 0.0)
    distance: Any = 0.0

    @property
    def sides(self) -> tuple[Any, Any]:
        """Standard deviations of the logarithm at its distance, downwards and upwards [1]."""
        return widened(self.of_class, self.growth, self.distance)

    @property
    def beyond(self) -> tuple[Any, Any]:
        """What the distance alone adds to those of the class, likewise [1]."""
        return widened((0.0, 0.0), self.growth, self.distance)

    @property
    def parts(self) -> tuple[Any, ...]:
        """Those of the class, and what the distance adds to them, as an interval takes them."""
        return (*self.of_class, *self.beyond)

    def as_json(self) -> dict[str, Any]:
        """Plain data; the class is ``class``."""
        own = {"sides": self.sides} | vars(self)
        return {"class" if name == "of" else name: value for name, value in own.items()}


@functools.cache
def discrepancy() -> Discrepancy:
    """The formulas' own error, beyond what ranges explain, set on the systems of this repository.

    Source: ``params/discrepancies/uncalibrated.yml``.
    """
    stored: Discrepancy = library.load("discrepancies", UNCALIBRATED)
    return stored


def class_of(scenario: Scenario) -> str:
    """The class of a deployment, as narrow as it is known.

    >>> import catalogue
    >>> class_of(catalogue.load_scenario("h200-r1-vllm-tp8"))
    'servers/NVIDIA/vllm'
    >>> class_of(catalogue.load_scenario("s3-hybrid-910b4"))
    'hosts/Huawei'
    """
    offload, vendor = scenario.file.offload, scenario.device.vendor.replace("/", "-")
    if offload and not offload.fetched:
        return f"{HOSTS}/{vendor}"
    kind = (SPARSE if scenario.model.index_topk else
            WIDENED if dequantises_in_kernel(scenario) else SERVERS)
    return "/".join([kind, vendor, *([scenario.engine.split("@")[0]] if scenario.engine else [])])


def dequantises_in_kernel(scenario: Scenario) -> bool:
    """Whether expert weights are dequantised inside a matmul kernel that was benchmarked for no
    release of the engine; a dequantisation pass before the matmul has a formula of its own."""
    return ("routed_expert_latency" not in scenario.given
            and widened_weights(scenario.precision, scenario.multiplied).get(
                "routed_expert", False)
            and not priors_of(scenario.device).dequantisation_traffic.value)


def load_of(scenario: Scenario) -> Load:
    """Under which load a deployment is: ``alone`` where it only prefills or only decodes.

    >>> import catalogue
    >>> load_of(catalogue.load_scenario("h200-r1-vllm-tp8"))
    'concurrent'
    """
    inputs = scenario.inputs()
    return ALONE if inputs["separate_pools"] or inputs["output_tokens"] <= 1 else CONCURRENT


def under(load: Load, name: str) -> str:
    """The class of an own error: that of a system, under a load.

    >>> under("concurrent", "servers/NVIDIA/vllm")
    'concurrent/servers/NVIDIA/vllm'
    """
    return f"{load}/{name}"


def estimated_from(load: str, metric: str) -> str:
    """The quantity from whose rows an own error is estimated: by Little's law the rate of a fixed
    number of requests errs as their latency does.

    >>> estimated_from("concurrent", "output_throughput"), estimated_from("concurrent", "tpot")
    ('e2e', 'tpot')
    """
    return LATENCY if (load, metric) == (CONCURRENT, RATE) else metric


def ladder(name: str) -> list[str]:
    """A class and those that it is a part of, the narrowest first.

    >>> ladder("queued/servers/NVIDIA")
    ['queued/servers/NVIDIA', 'queued/servers', 'queued', 'all']
    """
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)] + [ALL] * (name != ALL)


def of_maker(name: str) -> str:
    """The class of a system whatever its engine.

    >>> of_maker("servers/NVIDIA/vllm")
    'servers/NVIDIA'
    """
    return "/".join(name.split("/")[:2])


def applied_error(classes: Mapping[str, Mapping[Any, Any]], name: str, metric: str,
                  ) -> tuple[str, str, Sides] | None:
    """What a deployment of a class gets: of which class, of which quantity, and how much.

    A class that does not know its engine is as much wider as engines of it differ: by their
    median distance from it, so that one that is far from all others widens none of these. So is
    the class of a maker, or of a kind, of which nothing was measured under a load.

    Args:
        classes: own errors by class and quantity, with deviations ``down`` and ``up`` [1].
        name: of the class; where it was not measured, one that it is a part of is taken.
        metric: the quantity; where it was not measured, ``STAND_IN``.

    Returns None if nothing is known.
    """
    def parts(step: str) -> list[Any]:
        """Errors of the classes that a class is divided into."""
        return [one[of] for name, one in classes.items()
                if of in one and ladder(name)[1:2] == [step]]

    at, of = next(((step, one) for step in ladder(name)
                   for one in (metric, STAND_IN.get(metric, metric))
                   if one in classes.get(step, {})), ("", ""))
    if not at:
        return None
    level, above, beside = at.count("/") + 1, at, parts(at)
    if len(beside) < 2 and level < ENGINE_LEVEL - 1:  # makers differ as far as known
        above = under(CONCURRENT, SERVERS)
        beside = parts(above)
    sides = []
    for which in ("down", "up"):
        own = float(getattr(classes[at][of], which))
        if HOSTS not in at.split("/") and level < ENGINE_LEVEL and len(beside) > 1:
            size = getattr(classes[above][of], which)
            own = math.hypot(own, median(abs(getattr(one, which) - size) for one in beside)
                             / NORMAL_MIDDLE)
        sides.append(own)
    return at, of, (sides[0], sides[1])


def stand_ins(scenario: Scenario) -> Pair | None:
    """A sentence, in English and in Chinese, that names the values borrowed from other cards or
    releases because the deployment's own are unknown or rejected; None if there are none.

    Args:
        scenario: the deployment.
    """
    device, name = scenario.device, class_of(scenario)
    borrowed = USUAL.get(device.type) if device.mechanisms is None else None
    measured = {of_maker(own.of) for own in discrepancy().left_out.values()}
    parts = [] if borrowed is None else [say(
        "mechanisms-of",
        f"'{device.id}' has no 'mechanisms': efficiencies and overheads are those of '{borrowed}' "
        "(mechanisms: NAME in its file selects others)",
        device=device.id, borrowed=borrowed)]
    # of hosts a maker says little
    if of_maker(name) not in measured and not name.startswith(HOSTS):
        kind = kind_label(name.split("/", maxsplit=1)[0])
        parts.append(say("none-measured",
                         f"no measurements of {kind[0]} on cards of {device.vendor}: intervals are "
                         "those of other vendors, widened by the spread between vendors",
                         kind=kind, vendor=device.vendor))
    parts += [rejected_words(law, str(scenario.engine)) for law in (
        scenario.running.rejected[scenario.way] if scenario.running else ()) if law.rejected]
    return ended(capitalised(join(("; ", "；"), parts))) if parts else None


def rejected_words(law: Measured, engine: str) -> Pair:
    """Why a fitted kernel law is not used, a clause."""
    rejected = law.rejected
    assert rejected is not None
    reason, factor, against = rejected.reason, plain(rejected.factor, 2), rejected.against
    slow = (f"with one token it takes {factor} times that of {against}" if reason == "neighbour"
            else f"it takes {factor} times what a measured step leaves ({against})")
    return say("law-rejected",
               f"the law of {law.operator} ({law.dtype}) measured under {engine} is rejected: "
               f"{slow}, and its fixed time is that of {rejected.instead or 'the card'}",
               operator=law.operator, dtype=law.dtype, engine=engine, reason=reason,
               against=against, factor=factor, instead=str(rejected.instead),
               known=rejected.instead is not None)


def own_errors(scenario: Scenario, requests: Any = None, load: Load | None = None
               ) -> dict[str, Own]:
    """The own error of each quantity that has one, for a deployment.

    It is that of its class at its distance from what was measured. A measured system gets what all
    the others say: its rows take no part in it.

    Args:
        scenario: the deployment.
        requests: in flight over all cards, a number or an array [request]; None for its own.
        load: of ``LOADS``; None for its own, which is none of a queue.
    """
    of, near = within(*_measured_beside(scenario))
    distance = Nearness(of, axes_beside(position(scenario, requests), near.values())
                        if near else ()).distance
    return {name: replace(own, distance=distance)
            for name, own in errors_of_class(scenario, load).items()}


def errors_of_class(scenario: Scenario, load: Load | None = None) -> dict[str, Own]:
    """As :func:`own_errors`, wherever the deployment lies: at no distance from what was measured.
    """
    return dict(errors_of(class_of(scenario), load or load_of(scenario),
                          scenario.file.measured or scenario.id))


@functools.lru_cache
def errors_of(of: str, load: Load, itself: str = "") -> dict[str, Own]:
    """The own error of each quantity of a class under a load, as a system of this name has it."""
    stored, result = discrepancy(), {}
    without = stored.left_out.get(itself)
    alone = without.deviation.get(load, {}) if without and without.of == of else {}
    for quantity in get_args(Metric):
        if error := applied_error(stored.classes, under(load, of), quantity):
            at, metric, sides = error
            entry = stored.classes[at][cast("Metric", metric)]
            result[str(quantity)] = Own(
                alone.get(quantity, sides), at, metric, entry.systems, entry.rows, entry.inside,
                entry.within, grown_without(growth_under(stored.growth, load), quantity, itself))
    return result


def growth_under(growth: Mapping[Load, Mapping[Any, Growth]], load: Load) -> Mapping[Any, Growth]:
    """How errors grow with distance under a load, by quantity; where it was not measured with
    several numbers of requests, as under ``concurrent``."""
    return growth.get(load) or growth.get(CONCURRENT, {})


def grown_without(growth: Mapping[Any, Growth], quantity: str, system: str) -> Sides:
    """How the error of a quantity grows with a doubling of distance, without one system [1].

    Args:
        growth: by quantity, under a load.
        quantity: where its growth was not measured, that of ``STAND_IN``; of a rate, that of the
            latency of which it is the inverse.
        system: that is left out, if it was one of those that were measured.
    """
    match = next((growth[one] for one in (quantity, STAND_IN.get(quantity, quantity))
                  if one in growth), None)
    if match is None and quantity == RATE:
        return grown_without(growth, LATENCY, system)[::-1]
    return match.without.get(system, (match.down, match.up)) if match else (0.0, 0.0)


def near(scenario: Scenario, requests: Any = None,
         measured: Mapping[str, Covered] | None = None) -> Nearness:
    """What was measured near a deployment; not by its own rows, if it was measured.

    Args:
        scenario: the deployment.
        requests: in flight over all cards, a number or an array [request]; None for its own.
        measured: what each system covers; None for what is stored.
    """
    return nearness(position(scenario, requests), class_of(scenario),
                    *_measured_beside(scenario, measured))


def _measured_beside(scenario: Scenario, measured: Mapping[str, Covered] | None = None
                     ) -> tuple[Sequence[str], dict[str, Covered]]:
    """Classes that a deployment is compared with, and the measured systems other than itself."""
    systems = discrepancy().measured if measured is None else measured
    itself = scenario.file.measured or scenario.id
    return ladder(of_maker(class_of(scenario))), {
        key: one for key, one in systems.items() if key != itself}


def deviations(scenario: Scenario, requests: Any = None, load: Load | None = None
               ) -> dict[str, tuple[Any, ...]]:
    """The deviations of each quantity's logarithm for a deployment, as an interval takes them [1].

    Args:
        scenario: the deployment.
        requests, load: as :func:`own_errors` takes them.
    """
    return {name: own.parts for name, own in own_errors(scenario, requests, load).items()}


def class_label(name: str) -> Pair:
    """A class of an own error in English and in Chinese.

    >>> class_label("concurrent/servers/NVIDIA/vllm")[0]
    'servers, NVIDIA, vLLM, fixed concurrency'
    """
    if name == ALL:
        return kind_label(ALL)
    first, kind, *others = (*name.split("/"), *[ALL] * ("/" not in name))
    load = cast("Load", first)
    engines = library.names("profiles")
    en, zh = ([library.load("profiles", one).name[lang] if one in engines else one
               for one in others] for lang in ("en", "zh"))
    return join((", ", "，"), [kind_label(kind), *zip(en, zh, strict=True), load_label(load)])


def axis_label(name: str) -> Pair:
    """What a deployment is compared with measured ones by, of ``nearness.AXES`` or ``NAMES``."""
    return say("axis", AXIS_LABELS[name], name=name)


def evidence(own: Mapping[str, Own]) -> Pair:
    """Rows and systems that were measured of TPOT, TTFT and throughput, and how many rows were
    inside their 80% intervals: by class, equal counts once; empty where no errors are given.

    >>> print(evidence(errors_of("sparse/NVIDIA/vllm", CONCURRENT))[0].partition("; ")[2])
    throughput 2 of 4 runs of 3 systems (servers with sparse attention, fixed concurrency)

    Args:
        own: the own errors of a deployment, of the quantities that it is asked for.
    """
    of: dict[str, dict[Pair, list[Pair]]] = {}
    for name in REPORTED:
        if one := own.get(name):
            counts = say("runs", f"{one.inside} of {plural(one.rows, 'run')} of "
                         f"{plural(one.systems, 'system')}",
                         inside=one.inside, rows=one.rows, systems=one.systems)
            of.setdefault(one.of, {}).setdefault(counts, []).append(
                say("measured", REPORTED[name], name=name))
    return join(("; ", "；"), itertools.starmap(_class_evidence, of.items()))


def _class_evidence(name: str, by: Mapping[Pair, list[Pair]]) -> Pair:
    """Quantities with their counts, and the class."""
    listed = [(join((", ", "、"), labels), counts) for counts, labels in by.items()]
    every = join((", ", "，"), [
        say("runs-of", f"{labels[0]} {counts[0]}", quantities=labels, counts=counts)
        for labels, counts in listed])
    kind = class_label(name)
    return say("of-class", f"{every[0]} ({kind[0]})", kind=kind, counts=every)


def inside_words(own: Mapping[str, Own]) -> Pair:
    """The same as a sentence."""
    runs = evidence(own)
    return say("inside", f"Measured inside 80% intervals: {runs[0]}.", runs=runs)


def outside_words(axes: Iterable[Pair]) -> Pair:
    """A sentence: by which axes a deployment lies outside what was measured."""
    listed = join((", ", "、"), axes)
    return say("outside", f"Outside the measured range: {listed[0]}.", axes=listed)
