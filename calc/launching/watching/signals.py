"""What an alert looks at: an expression over metrics, and series of them that give it a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Series = list[tuple[str, str]]  # of a unit test: a series, and its values in promtool's notation
STEPS = 400  # of a series


def _ramp(slope: float) -> str:
    return f"0+{slope:.9g}x{STEPS}"


def _level(value: float) -> str:
    return f"{value:.9g}+0x{STEPS}"


@dataclass(frozen=True)
class Signal:
    """A value over the servers of a pool; its subclasses say of which metrics.

    Attributes:
        job: the pool, as it is scraped.
    """

    job: str

    @property
    def where(self) -> str:
        """The selector of the pool's series."""
        return f'{{job="{self.job}"}}'

    def expression(self, window: str) -> str:
        """In PromQL, over a window such as ``5m``."""
        raise NotImplementedError

    def series(self, value: float, step: float) -> Series:
        """Series that give the expression a value, one sample every ``step`` seconds."""
        raise NotImplementedError


@dataclass(frozen=True)
class Mean(Signal):
    """The mean of what a histogram counts."""

    histogram: str

    def expression(self, window: str) -> str:
        """Sum over count, of what came in the window."""
        return (f"sum(rate({self.histogram}_sum{self.where}[{window}])) / "
                f"sum(rate({self.histogram}_count{self.where}[{window}]))")

    def series(self, value: float, step: float) -> Series:
        """One observation a second."""
        return [(f"{self.histogram}_sum{self.where}", _ramp(value * step)),
                (f"{self.histogram}_count{self.where}", _ramp(step))]


@dataclass(frozen=True)
class Quantile(Signal):
    """A quantile of what a histogram counts, straight between two of its bounds.

    Attributes:
        histogram: by name.
        share: of the observations that are below [1].
    """

    histogram: str
    share: float

    def expression(self, window: str) -> str:
        """Of what came in the window."""
        return (f"histogram_quantile({self.share:.6g}, sum by (le) "
                f"(rate({self.histogram}_bucket{self.where}[{window}])))")

    def series(self, value: float, step: float) -> Series:
        """One observation a second, all below a bound of which the quantile is that share."""
        return [(f'{self.histogram}_bucket{{job="{self.job}",le="{bound}"}}', _ramp(step))
                for bound in (f"{value / self.share:.9g}", "+Inf")]


@dataclass(frozen=True)
class Ratio(Signal):
    """One counter over another, plus what is added to it."""

    counter: str
    over: str
    plus: float = 0.0

    def expression(self, window: str) -> str:
        """Of what came in the window."""
        ratio = (f"sum(rate({self.counter}{self.where}[{window}])) / "
                 f"sum(rate({self.over}{self.where}[{window}]))")
        return f"{self.plus:g} + {ratio}" if self.plus else ratio

    def series(self, value: float, step: float) -> Series:
        """One of the latter a second."""
        return [(f"{self.counter}{self.where}", _ramp((value - self.plus) * step)),
                (f"{self.over}{self.where}", _ramp(step))]


@dataclass(frozen=True)
class Paced(Signal):
    """Time per output token, from the time that requests decode and how long they are.

    An interval between two tokens is that of a step, which may bring several where they are
    drafted; this is not.
    """

    decode: str
    tokens: str

    def expression(self, window: str) -> str:
        """Decode time over tokens after the first."""
        return (f"sum(rate({self.decode}_sum{self.where}[{window}])) / "
                f"(sum(rate({self.tokens}_sum{self.where}[{window}])) - "
                f"sum(rate({self.tokens}_count{self.where}[{window}])))")

    def series(self, value: float, step: float) -> Series:
        """A request a second, of two tokens."""
        return [(f"{self.decode}_sum{self.where}", _ramp(value * step)),
                (f"{self.tokens}_sum{self.where}", _ramp(2 * step)),
                (f"{self.tokens}_count{self.where}", _ramp(step))]


@dataclass(frozen=True)
class Rate(Signal):
    """A counter per second, of all servers."""

    counter: str

    def expression(self, window: str) -> str:
        """Of the window."""
        return f"sum(rate({self.counter}{self.where}[{window}]))"

    def series(self, value: float, step: float) -> Series:
        """A steady rate."""
        return [(f"{self.counter}{self.where}", _ramp(value * step))]


@dataclass(frozen=True)
class Level(Signal):
    """The sum of gauges, or their mean over servers, averaged over the window."""

    gauges: Sequence[str]
    by: str = "sum"

    def expression(self, window: str) -> str:
        """Averaged over the window."""
        return " + ".join(f"{self.by}(avg_over_time({gauge}{self.where}[{window}]))"
                          for gauge in self.gauges)

    def series(self, value: float, step: float) -> Series:
        """Equal shares of the value."""
        return [(f"{gauge}{self.where}", _level(value / len(self.gauges)))
                for gauge in self.gauges]
