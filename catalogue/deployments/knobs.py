"""A knob: one mechanism with its range, and the inputs that it moves; those of matmuls by dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from catalogue.deployments.resolved import Resolved
from catalogue.deployments.stand_ins import efficiency, latency
from catalogue.reading.values import Value

DENSE = ("attention", "dense_mlp", "shared_expert", "router", "head")
CLASSES = (*DENSE[:3], "routed_expert", *DENSE[3:])
LATENCIES = ("matmul_latency", "depth_latency")  # of dense matmuls, by what is multiplied
TRAFFIC = ("activation_traffic",)  # the same, where it is known
NORMAL_90 = 1.2815515655446004  # 90% point of the standard normal distribution


class Knob(NamedTuple):
    """One mechanism: its value, its range, and the inputs that it sets.

    Attributes:
        name: as the mechanisms' files have it; of a dtype, ``gemm_efficiency.bf16``.
        value: with provenance and range.
        symbols: input symbols that hold this value.
    """

    name: str
    value: Value
    symbols: tuple[str, ...]

    def at(self, score: Any) -> Any:
        """The value so many standard deviations from its median, under its prior.

        The value is the median, and a range holds 80%: its ends are the 10% and 90% points of a
        normal variable that is stretched differently on either side of the value, in logarithms
        where the range does not begin at zero. Below zero there is nothing.

        Args:
            score: of the standard normal distribution, a number or an array [1].
        """
        return moved(float(self.value.low), float(self.value.value), float(self.value.high), score)


def moved(low: float, median: float, high: float, score: Any) -> Any:
    """What stands so many standard deviations from its median; see :meth:`Knob.at`.

    Args:
        low, median, high: of its range.
        score: of the standard normal distribution, a number or an array [1].
    """
    above, far = score > 0, abs(score) / NORMAL_90
    end = high * above + low * (1 - above)
    if low > 0:
        return median * (end / median) ** far
    stretched = median + (end - median) * far
    return (stretched + abs(stretched)) / 2


def by_dtype(scenario: Resolved, priors: Any) -> list[Knob]:
    """What matmuls reach and take: one knob per dtype, which moves all classes that multiply it.

    Args:
        scenario: the deployment.
        priors: of its class of cards.
    """
    dtypes = scenario.multiplied
    knobs: list[Knob] = []
    for dtype in dict.fromkeys(dtypes[name] for name in CLASSES):
        for table, members in (("gemm_efficiency", DENSE),
                               ("grouped_gemm_efficiency", ("routed_expert",))):
            if symbols := _symbols("gemm_efficiency", dtype, dtypes, members):
                value = efficiency(getattr(priors, table), dtype, scenario.device)
                knobs.append(Knob(f"{table}.{dtype}", value, symbols))
        for table in (*LATENCIES, *TRAFFIC):
            symbols = _symbols(table, dtype, dtypes)
            key, known = f"{table}.{dtype}", getattr(priors, table)
            # rows of another dtype may not be quantised at all
            prior = (getattr(known, dtype, None) or scenario.mechanisms.get(key)
                     if table in TRAFFIC else latency(known, dtype))
            if symbols and prior:
                knobs.append(Knob(key, prior, symbols))
    dtype = dtypes["routed_expert"]
    value = (getattr(priors.sliced_gemm_efficiency, dtype, None)
             or efficiency(priors.grouped_gemm_efficiency, dtype, scenario.device))
    return [*knobs, Knob(f"sliced_gemm_efficiency.{dtype}", value,
                         ("sliced_expert_gemm_efficiency",))]


def traffic_symbols(dtypes: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Input symbols of each mechanism of ``TRAFFIC``, by its name with the dtype.

    Args:
        dtypes: what is multiplied, by class of tensors.
    """
    return {f"{table}.{dtype}": _symbols(table, dtype, dtypes)
            for table in TRAFFIC for dtype in {dtypes[name] for name in DENSE}}


def _symbols(table: str, dtype: str, dtypes: Mapping[str, str], members: Sequence[str] = DENSE
             ) -> tuple[str, ...]:
    """Input symbols that a table moves, of the classes of tensors that multiply a dtype."""
    return tuple(f"{name}_{table}" for name in members if dtypes[name] == dtype)
