"""Servers that fail: groups of the servers of a deployment."""

from __future__ import annotations

import catalogue
from calc.capacity.availability import Fleet, failures_of, fleet_of
from calc.serving.evaluate import evaluate
from catalogue.ledger import Rank
from catalogue.messages import Pair

SERVERS = 48  # of 384 cards
RANKS: dict[Rank, Pair] = {"low": ("low", "低"), "medium": ("medium", "中"), "high": ("high", "高")}


def fleet(scenario: catalogue.Scenario, groups: int, cards: int, spares: int = 0,
          case: str = "central") -> Fleet:
    """So many groups, of so many cards each, of servers of a deployment's kind."""
    per_server = int(scenario.node.devices_per_node.value)
    loading = float(evaluate(scenario.inputs(), scenario.model.attention)["loading_time"])
    return fleet_of(groups, cards, per_server, failures_of(scenario.device.id), loading, spares,
                    case)
