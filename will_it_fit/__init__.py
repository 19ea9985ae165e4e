"""The whole program by one import: ``import will_it_fit as wif``.

Everything that `calc` and `catalogue` offer, under one name, each imported when it is first used.
A wheel contains these packages below this one; a checkout has them beside it.

>>> import will_it_fit as wif
>>> wif.estimate(model="deepseek-r1", card="h200", cards=8, users=64, input=2048).fits
True
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calc import *  # noqa: F403
    from catalogue import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Return `calc`, `catalogue`, or what they offer."""
    if name in ("calc", "catalogue"):
        is_below = Path(__file__).with_name(name).is_dir()
        return import_module(f"{__name__}.{name}" if is_below else name)
    calc, catalogue = __getattr__("calc"), __getattr__("catalogue")
    if name == "__all__":
        return [*calc.__all__, *catalogue.__all__]
    if name in (*calc.__all__, "__version__"):
        return getattr(calc, name)
    if name in catalogue.__all__:
        return getattr(catalogue, name)
    near = import_module(f"{catalogue.__name__}.reading.near").nearest_names(
        name, [one for one in __dir__() if one.islower() == name.islower()], 1, 0.8)
    hint = (f"did you mean '{near[0]}'?" if near else
            "dir() lists what it offers, `will-it-fit --help` the commands")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}, {hint}")


def __dir__() -> list[str]:
    """Return everything that is offered, imported or not yet."""
    return sorted({*globals(), *__getattr__("__all__")})
