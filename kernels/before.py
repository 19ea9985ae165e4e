"""What a law gives with the values of a card alone: how far a step was off without a fit."""

from __future__ import annotations

from calc.kernels.law import Law
from calc.kernels.writing import BY_DTYPE, NAMES
from catalogue.deployments.physics_inputs import ALL_ALIKE, ELSE
from catalogue.deployments.precisions import FEW_BITS, NARROW, efficiency, latency
from catalogue.entries.formulas import neutral
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms

BYTE_BITS = 8
NONE_BY_DTYPE = {"activation_traffic": 0.0}  # where nothing is known of it


def values_alone(law: Law, device: Device, priors: Mechanisms, multiplied: str, stored: float
                 ) -> dict[str, float] | None:
    """A law's parameters as the card's mechanisms have them (SI), what is held fixed among them.

    Args:
        law: of an operator.
        device: the card.
        priors: its mechanisms.
        multiplied: dtype that is multiplied, or summed.
        stored: bytes of a weight [B].

    Returns:
        values by parameter; None where the card says nothing of one.
    """
    narrow = stored * BYTE_BITS < FEW_BITS
    found = {}
    for parameter in (*law.parameters, *law.fixed):
        name = NAMES.get(parameter, parameter)
        value = _value(name, device, priors, multiplied, narrow)
        if value is None:
            return None
        found[parameter] = value
    return found


def _value(name: str, device: Device, priors: Mechanisms, multiplied: str, narrow: bool
           ) -> float | None:
    """Of one mechanism: what a deployment without an engine's statements would take."""
    for each in ((NARROW[name],) if narrow and name in NARROW else ()) + (
            name, ELSE.get(name, name), ALL_ALIKE.get(name, name)):
        stated = getattr(priors, each, None)
        if stated is None:
            continue
        if each not in BY_DTYPE:
            return float(stated.value)
        if each.endswith("efficiency"):
            return float(efficiency(stated, multiplied, device).value)
        if each in NONE_BY_DTYPE:
            of_dtype = getattr(stated, multiplied, None)
            return float(of_dtype.value) if of_dtype else NONE_BY_DTYPE[each]
        return float(latency(stated, multiplied).value)
    return NONE_BY_DTYPE.get(name, neutral().get(name))
