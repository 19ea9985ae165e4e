"""The one exception of a derivation: its message is one sentence that a reader can act on."""

from __future__ import annotations


class DerivationError(Exception):
    """A formula that cannot stand: unknown symbol, wrong dimension, drift from the lock."""
