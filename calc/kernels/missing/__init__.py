"""Why a law misses a table: switches of kernels, trends, scatter; no law and no fit."""

from calc.kernels.missing.causes import Missed, explained, told
from calc.kernels.missing.explained import Change, Where, kept

__all__ = ["Change", "Missed", "Where", "explained", "kept", "told"]
