"""A Compose file and Kubernetes manifests that run the scripts of a deployment in containers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from calc.answer.estimate import predicted
from calc.capacity.availability import failures_of
from calc.launching.monitoring import SCRAPED, Watched, rules, targets
from calc.launching.scripts import models_of, networked, nodes_of, render, scripts
from calc.launching.server import PORT, Layout, Part, Setting
from calc.launching.starting import (
    PROXY,
    ROUTER_PORT,
    VLLM,
    Pool,
    pool_of,
    routed,
    router_of,
    title_of,
)
from catalogue import library
from catalogue.entries.profiles import Profile
from catalogue.reading.units import factor

RESOURCES = {"cuda": "nvidia.com/gpu", "rocm": "amd.com/gpu", "cann": "huawei.com/Ascend910"}
"""Software of cards -> resource of the vendor's Kubernetes device plugin."""
SHARED = 32 * factor("GiB")  # shared memory of a container; SGLang's Docker page
VERSIONS = 2  # of the weights on the volume, so that one can replace the other
PERIOD = 10  # seconds between startup probes
HAPROXY = "haproxy:2.8"  # Docker official image
PROXY_SOURCE = "/vllm-workspace/vllm-ascend"  # source of the plug-in in its image
LONGEST_NAME = 30  # of a deployment, so that pod names stay below 63 characters


@dataclass(frozen=True)
class Container:
    """What the containers of a pool need.

    Attributes:
        image: official image of the release; None where no tag is documented.
        stack: software of the cards.
        weights: of a card [B].
        host_cache: KV cache in host memory, of a card [B].
        startup: upper end of the predicted time from start to the first answer [s].
    """

    image: str | None
    stack: str
    weights: float
    host_cache: float
    startup: float

    @property
    def resource(self) -> str | None:
        """Resource name of the cards; None of cards whose device plugin is not known."""
        return RESOURCES.get(self.stack)

    @property
    def startup_failures(self) -> int:
        """Startup probes that may fail before the container is restarted."""
        return math.ceil(self.startup / PERIOD)

    def shared(self, cards: int) -> float:
        """Shared memory, with the KV cache in host memory [B]."""
        return SHARED + cards * self.host_cache

    def memory(self, cards: int) -> float:
        """Host memory, with the weights of the cards in the page cache [B]."""
        return self.shared(cards) + cards * self.weights


def container_of(pool: Pool) -> Container:
    """Image and resources of a pool's containers.

    >>> from calc.launching.launch import deployment
    >>> container_of(deployment("h200-r1-vllm-tp8").pools[0]).image
    'vllm/vllm-openai:v0.11.0'
    """
    device = pool.scenario.device
    profile: Profile = library.load("profiles", pool.release.name)
    stack = str(device.software)
    amounts = predicted(pool.scenario, ["loading_time", "weights_per_device"])
    return Container(
        profile.image(pool.release.version, stack, str(device.architecture)), stack,
        amounts["weights_per_device"].value, float(pool.scenario.inputs()["host_cache_memory"]),
        amounts["loading_time"].high + failures_of(device.id).start.high)


def one_per_pod(of: Layout) -> Layout:
    """A layout whose parts are each on a node of their own, on its first cards."""
    parts = tuple(Part(server, rank, server * of.span + rank, 0, of.parts[0].cards, PORT)
                  for server in range(of.servers) for rank in range(of.span))
    return replace(of, nodes=len(parts), parts=parts)


def pods_of(pools: Sequence[Pool], app: str,
            given: tuple[Iterable[Setting], Iterable[Setting]] = ((), ())) -> tuple[Pool, ...]:
    """Pools as Kubernetes runs them: hosts are Services and pods, each with one part of a server.

    Args:
        pools: as they lie on nodes.
        app: name of the deployment.
        given: flags and variables of the operator.
    """
    placed = {pool.name: one_per_pod(pool.layout) for pool in pools}
    named = {pool.name: pool.scenario for pool in pools}
    return tuple(pool_of(
        pool.name, named, pool.release,
        [f"{app}-{pool.name}-{part.server}" + (f"-{part.rank}" if part.rank else "")
         for part in placed[pool.name].parts], pool.longest, given, placed) for pool in pools)


def app_name(scenario: str) -> str:
    """A name that Kubernetes and Compose accept, from the identifier of a scenario.

    >>> app_name("2 H200; R1")
    'llm-2-h200-r1'
    """
    name = re.sub(r"[^a-z0-9]+", "-", scenario.lower()).strip("-")
    name = name if name[:1].isalpha() else f"llm-{name}"
    return name[:LONGEST_NAME].strip("-")


def router_container(pools: Sequence[Pool], image: str | None) -> dict[str, str | None]:
    """Image and environment of the router; sources of the proxy are in the engine's image."""
    if len(pools) == 1:
        return {"image": HAPROXY, "source": None}
    kind = router_of(pools).release.name
    return {"image": None if kind == VLLM else image,
            "source": PROXY_SOURCE if kind == PROXY else None}


def container_files(watched: Sequence[Watched], language: str,
                    given: tuple[Iterable[Setting], Iterable[Setting]] = ((), ())
                    ) -> dict[str, str]:
    """The Compose file and the Kubernetes manifests of a deployment, by path.

    Args:
        watched: its pools with their alerts.
        language: of comments, ``en`` or ``zh``.
        given: flags and variables of the operator.
    """
    pools = [of.pool for of in watched]
    app = app_name(pools[0].scenario.id.removesuffix(f"-{pools[0].name}"))
    pods = pods_of(pools, app, given)
    containers = {pool.name: container_of(pool) for pool in pools}
    router = router_container(pools, containers[pools[0].name].image) if routed(pools) else None
    common = {"app": app, "lang": language, "title": title_of(pools), "containers": containers,
              "router": router, "models": models_of(pools), "networked": networked(pools)}
    weights = {pod.model: containers[pod.name].weights * pod.layout.span * pod.layout.parts[0].cards
               for pod in pods}
    return {
        "compose.yml": render("compose.yml", **common,
                              nodes=[node for pool in pools for node in nodes_of(pool)]),
        "kubernetes/deployment.yml": render(
            "kubernetes.yml", **common, pods=pods, scripts=scripts(pods), period=PERIOD,
            router_port=ROUTER_PORT, storage=VERSIONS * sum(weights.values()),
            addresses={pod.name: {name for node in nodes_of(pod) for name in node.addresses}
                       for pod in pods},
            scraped={pod.name: len(targets(pod)) for pod in pods}),
        "kubernetes/monitoring.yml": render(
            "kubernetes-monitoring.yml", **common, rules=rules(watched), interval=SCRAPED)}
