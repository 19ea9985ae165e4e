"""Which layouts engines load: those that divide a model into whole blocks of its format."""

from __future__ import annotations

import numpy as np

from calc.layouts.feasible import admitted
from notebooks.pages.calculators.offers import SIZES, cards, subject


def loaded(model: str, precision: str) -> list[int]:
    """By tensor-parallel size the expert-parallel sizes up to it that divide a model into whole
    blocks, as bits, both of ``SIZES``.

    With more ranks each expert is whole, as with as many. Pipeline stages divide nothing but the
    layers; whether experts are dealt out evenly is arithmetic.
    """
    tensor, expert = (grid.ravel() for grid in np.meshgrid(*[SIZES] * 2, indexing="ij"))
    asked = subject(cards()[0], model, precision)
    copies = -int(asked.numbers["n_routed_experts"]) % expert
    rows = {"tensor": tensor, "expert": expert, "spares": copies}
    flags = (expert <= tensor) & admitted(asked, rows, ("division",))
    flags[flags] = admitted(asked, {name: column[flags] for name, column in rows.items()},
                            ("blocks",))
    return [sum(1 << place for place, flag in enumerate(row) if flag)
            for row in flags.reshape([len(SIZES)] * 2)]
