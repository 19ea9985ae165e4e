"""Why a law misses a table: switches of kernels, trends, scatter; no law and no fit."""

from calc.kernels.missing.causes import Missed, explained, miss_summary
from calc.kernels.missing.explained import Change, Where, within_bars

__all__ = ["Change", "Missed", "Where", "explained", "miss_summary", "within_bars"]
