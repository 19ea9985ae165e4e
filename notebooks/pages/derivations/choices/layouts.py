"""Deployments of DeepSeek-V3 that the sections on deciding compare, as inputs of the formulas."""

from __future__ import annotations

from dataclasses import dataclass

import catalogue
from catalogue.messages import Pair

Inputs = dict[str, int | float]
PLAN = "s1-plan-c"
A2, H20, H20_LARGE, H200 = "ascend-910b2", "nvidia-h20", "nvidia-h20-141gb", "nvidia-h200-sxm"
H800 = "nvidia-h800"
SERVERS = {A2: "atlas-800t-a2", H20: "hgx-h20", H20_LARGE: "hgx-h20", H200: "hgx-h200",
           H800: "hgx-h800"}
CARDS_OF_A_SERVER = 8
PRECISIONS = {A2: ("w4a8-int8", "w8a8-int8")}  # of one server, of two
USUAL = ("fp8-block", "fp8-block")
SHORT = {"fp8-block": "FP8", "w4a8-int8": "W4A8", "w8a8-int8": "W8A8"}  # in a table


@dataclass(frozen=True)
class Layout:
    """How DeepSeek-V3 lies on servers of one kind.

    Attributes:
        card: of which the servers are.
        servers: of the deployment.
        tensor: ranks that cut the attention of a replica; the rest are replicas of it.
        whole: whether each rank holds whole experts, else a slice of all.
        node: a kind of server, that of the card unless given.
    """

    card: str
    servers: int
    tensor: int
    whole: bool = False
    node: str = ""

    @property
    def cards(self) -> int:
        """Cards of all servers."""
        return self.servers * CARDS_OF_A_SERVER

    @property
    def precision(self) -> str:
        """The precision that fits on as many servers."""
        return PRECISIONS.get(self.card, USUAL)[self.servers > 1]

    @property
    def name(self) -> Pair:
        """Card and precision."""
        name = catalogue.load_device(self.card).name
        return f"{name['en']}, {SHORT[self.precision]}", f"{name['zh']}，{SHORT[self.precision]}"

    def inputs(self, prompt: int, answer: int, longest: int = 0) -> Inputs:
        """Inputs (SI) for requests of so many tokens.

        Args:
            prompt, answer: of a request [token].
            longest: context that an engine is told, that of a request unless given [token].
        """
        experts, slices = (self.cards, 0) if self.whole else (1, self.cards)
        sizes = {"tensor_parallel": self.tensor, "pipeline_parallel": 1,
                 "data_parallel": self.cards // self.tensor, "expert_parallel": experts}
        if self.tensor < self.cards and slices:
            sizes["expert_tensor_parallel"] = slices
        lengths = {"input_tokens": prompt, "output_tokens": answer,
                   "context_tokens": longest or prompt + answer, "max_num_batched_tokens": 8192}
        return catalogue.load_scenario(PLAN, device=self.card, overrides=[
            f"precision={self.precision}", f"cluster.node={self.node or SERVERS[self.card]}",
            f"cluster.nodes={self.servers}",
            *(f"parallelism.{name}={size}" for name, size in sizes.items()),
            *(f"workload.{name}={size} token" for name, size in lengths.items())]).inputs()
