"""What a format costs in quality: published scores beside those of the published weights.

A score says nothing by itself: only two of one source, asked the same way, are compared. Where a
model has none, those of a relative (one architecture, other weights) are told as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from catalogue import library
from catalogue.entries.deployments import WeightFormats
from catalogue.entries.measurements import FormatScore
from catalogue.entries.models import Model
from catalogue.messages import join, messages

say = messages("catalogue/kernels/quality")

EXACT = {"fp8-block": ("bf16",), "mxfp4-w4a16": ("bf16",),
         "fp8-mxfp4": ("fp8-mxfp4-w4a16", "fp8-block-e8m0")}
"""Formats that a published one is widened to without loss: a score against them is one against the
published weights."""
SAME = {"nvfp4-w4a16": "nvfp4", "mxfp4-w4a8": "mxfp4-w4a16"}
"""Formats with the weights of another and wider activations: what is known of that bounds them."""


@dataclass(frozen=True)
class Quality:
    """What is published of a model in a format.

    Attributes:
        precision, published: the format, and that of the published weights; None if not known.
        rows: scores of the model itself; those with a difference from the published weights first.
        relatives: scores of models of its family, where it has none with a difference.
        worst: largest loss against the published weights over all benchmarks, below zero [points]:
            of the model, else of its relatives; None where nobody published both scores.
        relative: whether that is of a relative.
    """

    precision: str
    published: str | None
    rows: tuple[FormatScore, ...] = ()
    relatives: tuple[FormatScore, ...] = ()
    worst: float | None = None
    relative: bool = False

    @property
    def is_published(self) -> bool:
        """Whether the format is that of the published weights: nothing is lost then."""
        return self.published is not None and self.precision == self.published

    @property
    def lossless(self) -> bool:
        """Whether it holds every number of the published weights: they themselves, or wider."""
        return self.is_published or self.precision in EXACT.get(self.published or "", ())

    def within(self, points: float) -> bool:
        """Whether a loss is known and at most so many points; the published weights lose none.

        Args:
            points: what may be lost on any benchmark [points], at least zero.
        """
        return self.lossless or (self.worst is not None and -self.worst <= points)

    @property
    def words(self) -> tuple[str, str]:
        """In English and Chinese, what a line about an answer ends with."""
        if self.is_published:
            return say("published-weights")
        if self.lossless:
            return say("published-weights-widened-without-loss")
        found = next((row for row in (self.relatives if self.relative else self.rows)
                      if row.difference == self.worst and row.difference is not None
                      and _counts(row, self.published)), None)
        if found is None or found.difference is None or found.reference is None:
            return self._alone()
        of = say("of-relative", weights=found.weights) if self.relative else ("", "")
        return say("quality-against-points", benchmark=found.benchmark,
                   solved=f"{found.solved.value:g}", reference=f"{found.reference.value:g}",
                   difference=f"{found.difference:+.1f}", of=of)

    def _alone(self) -> tuple[str, str]:
        """What is told where no score stands beside one of the published weights."""
        none = say("none-beside-published-weights-is")
        if not self.rows:
            return say("quality", none=none)
        row = self.rows[0]
        if row.difference is None:
            told = [f"{each.benchmark} {each.solved.value:g}" for each in self.rows]
            scores = join((", ", "、"), zip(told, told, strict=True))
            return say("quality-scores", scores=scores, none=none)
        return say("quality-points-against", benchmark=row.benchmark,
                   difference=f"{row.difference:+.1f}", against=str(row.against), none=none)


def published_precision(model: Model) -> str | None:
    """The format of the weights that a model is published in; None if none is known.

    >>> import catalogue
    >>> published_precision(catalogue.load_model("deepseek-v3.2"))
    'fp8-block'
    """
    return model.weights.precision if model.weights else None


def published_weights(model: Model) -> WeightFormats | None:
    """Formats of the weights that a model is published in; None if none is known."""
    name = published_precision(model)
    return None if name is None else library.load("precisions", name).weights


def quality(model: Model, precision: str) -> Quality:
    """What is published of the quality of a model in a format.

    Args:
        model: of the catalogue, or a reader's own.
        precision: name of the format, an entry of ``params/precisions/``.

    A goal's ``limits.quality`` is a bound in points (``1 point``: the worst benchmark may lose
    that much, :meth:`Quality.within`; a format of which no difference is published is refused), or
    ``published`` (:attr:`Quality.is_published` alone).

    >>> import catalogue
    >>> r1 = catalogue.load_model("deepseek-v3")
    >>> quality(r1, "nvfp4").worst, quality(r1, "w4a8-int8").worst
    (0.007, None)
    >>> quality(r1, "w4a8-int8").words[0].partition(";")[0]
    'quality: HumanEval -6.1 points against w4a16-awq'
    """
    published = published_precision(model)
    scored = list(chain.from_iterable(library.load("accuracies", name).formats
                                      for name in library.names("accuracies")))
    names = {precision, SAME.get(precision, precision)}
    rows = [row for row in scored if row.precision in names and row.model == model.id]
    related = [row for row in scored if row.precision in names and row.model != model.id
               and model.family is not None and _family(row) == model.family]
    own = [row for row in rows if _counts(row, published)]
    near = [row for row in related if _counts(row, published)]
    worst = min((row.difference for row in own or near if row.difference is not None), default=None)
    rest = sorted((row for row in rows if row not in own),
                  key=lambda row: 0.0 if row.difference is None else row.difference)
    return Quality(precision, published, (*own, *rest), tuple(near or related), worst,
                   relative=not own and worst is not None)


def _family(row: FormatScore) -> str | None:
    """The family of the model that a score is of."""
    if row.model is None:
        return row.family
    of: Model = library.load("models", row.model)
    return of.family


def _counts(row: FormatScore, published: str | None) -> bool:
    """Whether a score stands beside one of the published weights, or of what they equal."""
    return row.difference is not None and published is not None and row.against in (
        published, *EXACT.get(published, ()))
