"""The memory of servers beside their cards: who takes how much of it, and what caches may take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calc.physics.arrays import maximum
from calc.physics.inputs import Number
from catalogue.deployments.physics_inputs import priors_of
from catalogue.entries.hardware import Device, Node
from catalogue.reading.units import factor

GIGA = factor("GB")


@dataclass(frozen=True)
class HostRoom:
    """A server's memory [B]: who holds how much of it, and what is left for caches.

    Attributes:
        total: as built in; 0 where it is not known.
        system: of the operating system and what runs beside the engine.
        processes: of the engine, of all cards of the server, pinned buffers included.
        files: of the weights, from which a process starts again; experts that stay on the host.
    """

    total: float
    system: float
    processes: Number
    files: Number

    @property
    def left(self) -> Number:
        """What a tier of caches may take [B]."""
        return maximum(0.0, self.total - self.system - self.processes - self.files)


def host_room(device: Device, node: Node, cards: Number, weights: Number, experts: Number = 0.0
              ) -> HostRoom:
    """The one budget of a server's memory.

    Args:
        device, node: its cards and the server.
        cards: of the deployment in one server [1].
        weights: of a card [B].
        experts: that stay on the host [B].

    Source: notebooks/day.md, section Fetch or compute again.
    """
    priors = priors_of(device)
    return HostRoom(float(node.host_memory.value) if node.host_memory else 0.0,
                    float(priors.host_system_memory.value),
                    cards * float(priors.host_process_memory.value), weights * cards + experts)


@dataclass(frozen=True)
class HostCaches:
    """Caches in host memory that a search tries.

    Attributes:
        device, node: cards and servers.
        sizes: of a server [B], those that it has room for; None for what it has left.
    """

    device: Device
    node: Node
    sizes: tuple[float, ...] | None = None

    def cards(self, devices: np.ndarray) -> np.ndarray:
        """Cards of each deployment in one server [1], shape (n,)."""
        return np.minimum(devices, int(self.node.devices_per_node.value))

    def tried(self, devices: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
        """Caches of a server, in whole GB for each card, 0 where there is no room [GB], shape (n,)
        each.

        Args:
            devices: cards of each deployment [1], shape (n,).
            weights: of a card [B], shape (n,).
        """
        cards = self.cards(devices)
        left = np.asarray(host_room(self.device, self.node, cards, weights).left)
        wanted = [left] if self.sizes is None else [
            np.where(size <= left, size, 0.0) for size in self.sizes]
        return [(np.floor(size / GIGA / cards) * cards).astype(int) for size in wanted]
