"""Which releases run a format on a card, and what it costs in quality; no formula.

``support`` is what a deployment is asked before it is offered, ``kernel_of`` what an answer says of
it, ``quality`` what its format is known to cost.
"""

from catalogue.kernels.quality import Quality, published_precision, published_weights, quality
from catalogue.kernels.releases import Kernel, Support, kernel_of, kernels_of, support, tables

__all__ = ["Kernel", "Quality", "Support", "kernel_of", "kernels_of", "published_precision",
           "published_weights", "quality", "support", "tables"]
