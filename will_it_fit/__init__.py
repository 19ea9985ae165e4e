"""All that a program asks for by one import: ``import will_it_fit as wif``.

What `calc` and `catalogue` offer, here under one name. A wheel keeps every room of the project
below this package; a checkout has them beside it.

>>> import will_it_fit as wif
>>> wif.estimate(wif.load_scenario("h200-r1-vllm-tp8")).fits
True
"""

from typing import TYPE_CHECKING, Any

import calc
import catalogue
from catalogue import *  # noqa: F403

if TYPE_CHECKING:
    from calc import *  # noqa: F403

__all__ = [*calc.__all__, *catalogue.__all__]


def __getattr__(name: str) -> Any:
    """What `calc` offers, imported when it is asked for."""
    if name in (*calc.__all__, "__version__"):
        return getattr(calc, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All that is offered, imported or not yet."""
    return sorted({*globals(), *__all__})
