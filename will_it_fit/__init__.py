"""All that a program asks for by one import: ``import will_it_fit as wif``.

What `calc` and `catalogue` offer, here under one name. A wheel keeps every room of the project
below this package; a checkout has them beside it.

>>> import will_it_fit as wif
>>> wif.estimate(wif.load_scenario("h200-r1-vllm-tp8")).fits
True
"""

import calc
import catalogue
from calc import *  # noqa: F403
from catalogue import *  # noqa: F403

__all__ = [*calc.__all__, *catalogue.__all__]
__version__ = calc.__version__
