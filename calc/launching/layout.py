"""How a deployment lies on nodes: servers that share experts, and the parts of each by node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalogue import ParamsError, Scenario
from catalogue.deployments.admission import cut_of, server_problem, subject_of
from catalogue.deployments.layout import expert_slices

PORT = 8000  # of the server on the first card of a node
PORTS = 10  # from that of a card to that of the next: SGLang takes seven beside a server's own
MASTER_PORT = 29500
RPC_PORT = 13345
BOOTSTRAP_PORT = 8998
SIDE_PORT = 5600
MOST_NODES = 256


@dataclass(frozen=True)
class Part:
    """What one node runs of one server.

    Attributes:
        server: its number within the pool.
        rank: of this node among those of the server; 0 answers requests.
        node: number of the node within the pool.
        first: of the node's cards, the first that this part takes.
        cards: how many it takes.
        port: on which it answers.
    """

    server: int
    rank: int
    node: int
    first: int
    cards: int
    port: int


@dataclass(frozen=True)
class Layout:
    """Servers on nodes.

    Attributes:
        tp, pp: tensor- and pipeline-parallel size of a replica.
        joined: replicas of one server: those that share experts.
        experts: expert-parallel size of a server; 1 where each expert is cut over all its ranks.
        slices: of each expert.
        servers: that answer requests by themselves.
        span: nodes of a server.
        nodes: of the pool.
        parts: what runs where.
    """

    tp: int
    pp: int
    joined: int
    experts: int
    slices: int
    servers: int
    span: int
    nodes: int
    parts: tuple[Part, ...]

    def of_node(self, node: int) -> list[Part]:
        """What a node runs."""
        return [part for part in self.parts if part.node == node]

    @property
    def shares(self) -> bool:
        """Whether another pool takes the first cards of its first node."""
        return self.parts[0].first > 0

    @property
    def heads(self) -> list[Part]:
        """The parts that answer requests, one per server."""
        return [part for part in self.parts if part.rank == 0]


def layouts(named: Mapping[str, Scenario]) -> dict[str, Layout]:
    """How pools lie on their nodes, by name: servers that are smaller than a node take the cards
    that the pool before leaves free on its last one, if that is a node of the same kind.

    Raises ParamsError as :func:`layout` does.
    """
    found: dict[str, Layout] = {}
    taken: dict[tuple[str, str], int] = {}  # of the last node, by its kind and card
    for name, scenario in named.items():
        kind = scenario.node.id, scenario.device.id
        found[name] = layout(scenario, taken.get(kind, 0))
        last = found[name].parts[-1]
        taken = {kind: last.first + last.cards}
    return found


def layout(scenario: Scenario, taken: int = 0) -> Layout:
    """How a scenario lies on its nodes.

    Replicas that share experts are one server, others stand by themselves: engines cut the experts
    over all data-parallel replicas of a server.

    >>> import catalogue
    >>> two = layout(catalogue.load_scenario("s1-plan-c"))
    >>> two.servers, two.joined, two.span, two.nodes
    (4, 1, 1, 4)

    Args:
        scenario: the deployment, or the pool.
        taken: cards of the first node that another pool takes, if others are enough for a server.

    Raises ParamsError, one sentence, for a server that does not fill whole nodes.
    """
    numbers = scenario.inputs()
    tp, pp, dp, ep = (int(numbers[f"{name}_parallel"])
                      for name in ("tensor", "pipeline", "data", "expert"))
    slices = expert_slices(numbers, tp, ep)
    joined = ep * slices // tp
    cards, per_node = tp * pp * joined, int(scenario.node.devices_per_node.value)
    if problem := server_problem(subject_of(scenario), cut_of(scenario)):
        raise ParamsError(f"'{scenario.id}': {problem.text['en']}.")
    servers = dp // joined
    if cards <= per_node:
        fit = per_node // cards
        start = -(-taken // cards) % fit
        places = [divmod(number, fit) for number in range(start, start + servers)]
        parts = tuple(Part(number, 0, node, place * cards, cards, PORT + PORTS * place * cards)
                      for number, (node, place) in enumerate(places))
        return _limited(scenario, Layout(tp, pp, joined, ep, slices, servers, 1,
                                         parts[-1].node + 1, parts))
    span = cards // per_node
    return _limited(scenario, Layout(
        tp, pp, joined, ep, slices, servers, span, span * servers,
        tuple(Part(server, rank, server * span + rank, 0, per_node, PORT)
              for server in range(servers) for rank in range(span))))


def _limited(scenario: Scenario, found: Layout) -> Layout:
    if found.nodes > MOST_NODES:
        raise ParamsError(f"'{scenario.id}': {found.nodes} nodes, expected at most {MOST_NODES} "
                          "scripts.")
    return found
