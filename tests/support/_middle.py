"""What tests of searches share: a plain deployment and columns of many."""

import numpy as np

from calc.layouts.layout import Choice
from calc.layouts.space import AXES, Base

PLAIN = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
               1024)
BASE = Base(PLAIN.device, PLAIN.node, PLAIN.engine, PLAIN.precision)


def columns(lists):
    """Columns by name, shape (n,) each; what is one number of all is given once."""
    count = max(len(values) for values in lists.values() if isinstance(values, list))
    return {name: np.array(values) if isinstance(values, list) else np.full(count, values)
            for name, values in lists.items()}


def cells(**lists):
    """Settings of many deployments that are as the plain one but for some columns."""
    return columns({name: getattr(PLAIN, name) for name in AXES} | lists)
