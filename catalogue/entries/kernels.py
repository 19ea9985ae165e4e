"""What a file of kernels may hold: which formats an engine's releases load on a class of cards."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from catalogue.entries.deployments import WeightFormats
from catalogue.entries.entry import CatalogueEntry, FormatName, ProfileName, Sourced
from catalogue.entries.hardware import Architecture, Dtype
from catalogue.entries.profiles import Released
from catalogue.messages import Pair, pair
from catalogue.reading.values import NameOrText, Words

CLASSES = tuple(name for name in WeightFormats.model_fields
                if name not in ("embedding", "norm", "compressor", "hyper"))
"""Classes of tensors that are multiplied, as ``Multiply`` of a precision has them."""


AttentionKind = Literal["mla", "gqa", "csa", "sparse", "block-sparse"]
"""Of models: latent, grouped, compressed; latent or grouped over what an indexer picks."""
DENSE = ("mla", "gqa")  # over everything that is cached
Runs = Literal["native", "weight-only", "no"]


class Cell(Released, Sourced):
    """One cell of a table: on which cards, from which release on, and who says so.

    Attributes:
        cards: architectures of which it holds.
        attention: of which models it holds; absent, of all, or of a cache those of ``DENSE``.
        model_classes: of which models it holds, ``architectures`` of their configurations; absent,
            of all.
        runs: ``native``, the matrix unit multiplies what is stored or what activations are rounded
            to; ``weight-only``, weights are widened to 16 bits first; ``no``, it is refused, or
            runs as something else.
        kernel: what runs it on these cards, as the engine's source names it; of what is refused
            ``none``, or ``none: `` and what runs instead.
        source, kind, date: where that is stated.
    """

    cards: Annotated[list[Architecture], Field(min_length=1)]
    attention: list[AttentionKind] = []
    model_classes: list[Words] = []
    runs: Runs = "native"
    kernel: NameOrText

    @property
    def instead(self) -> Pair | None:
        """What runs in place of what is refused; None where nothing is said of it."""
        en, zh = (text.partition(": ") for text in pair(self.kernel))
        return (en[2], zh[2] or en[2]) if self.runs == "no" and en[2] else None


class Product(Cell):
    """Weights of a format, and what they are multiplied in.

    Attributes:
        weights: formats of ``params/formats/``.
        multiply: dtypes of the product.
        classes: of tensors; absent, all.
    """

    weights: Annotated[list[FormatName], Field(min_length=1)]
    multiply: Annotated[list[Dtype], Field(min_length=1)]
    classes: list[Literal["attention", "router", "dense_mlp", "shared_expert", "routed_expert",
                          "head"]] = []


class Cache(Cell):
    """A format of the cache, and what the attention core multiplies over it: a backend.

    Attributes:
        formats: of keys and values, or of the latent.
        multiply: dtypes of the core.
    """

    formats: Annotated[list[FormatName], Field(min_length=1)]
    multiply: Annotated[list[Dtype], Field(min_length=1)]


class Platforms(Sourced):
    """Software of cards that an engine is written for (``Device.software``), and who says so."""

    stacks: Annotated[list[Words], Field(min_length=1)]


class Kernels(CatalogueEntry):
    """What the releases of one engine run and refuse, by format and class of cards.

    What no cell speaks of is not known. Of cells that speak of the same, the last one counts.

    Attributes:
        engine: of ``params/profiles/``; absent, an engine of which nothing else is known here, no
            deployment can name it, and no release of it.
        platforms: cards of other known software are refused.
        products: of weights and activations.
        caches: what is cached.
    """

    engine: ProfileName | None = None
    platforms: Platforms | None = None
    products: list[Product]
    caches: list[Cache]
