"""What a deployment's page is about: the family of its file, its members, the one shown in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import catalogue
from calc.answer.service import POOLS, engine_words
from calc.uncertainty import Amount
from catalogue.deployments.loading import Family, variants
from catalogue.deployments.scenario import Scenario
from catalogue.messages import Pair
from catalogue.reading.files import ParamsError
from notebooks.pages.deployments.answers import Deployed


@dataclass(frozen=True)
class Page:
    """A scenario file on its page.

    Attributes:
        family: the file's deployments.
        members: each with the runtime's answers.
        deployed: the one that the page shows in full.
    """

    family: Family
    members: tuple[Deployed, ...]
    deployed: Deployed

    @property
    def deployment(self) -> Scenario:
        """The deployment that is shown in full."""
        return self.deployed.scenario

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Its input symbols (SI)."""
        return self.deployed.inputs

    @property
    def quantities(self) -> Mapping[str, Any]:
        """Every quantity of it (SI)."""
        return self.deployed.quantities

    @property
    def answers(self) -> Mapping[str, Amount]:
        """What users see of it, with intervals."""
        return self.deployed.answers

    @property
    def engine_words(self) -> list[Pair]:
        """What its engine prints of the cache when it starts, of two pools for each."""
        pools = self.family.pools
        named = dict(zip(POOLS, pools, strict=True)) if pools else {"none": self.deployment}
        return [words for name, pool in named.items() for words in engine_words(pool, name)]

    @property
    def several(self) -> bool:
        """Whether the file describes more than one deployment."""
        return len(self.members) > 1

    def member(self, identifier: str) -> Deployed:
        """A deployment of the file by its identifier."""
        return next(member for member in self.members if member.scenario.id == identifier)


def page_of(scenario: str, device: str = "", settings: Mapping[str, Any] | None = None) -> Page:
    """The page of a scenario file, on another device or with other settings if some are given.

    What was measured is of the deployment's own card, not of another one that a reader puts in.

    Args:
        scenario: name or path, of a variant with ``#KEY``.
        device: name or path; empty keeps its own.
        settings: values by dotted key of the file, of the deployment that is shown in full.

    Raises ParamsError for a file, a device or settings that cannot be used.
    """
    family = catalogue.load_family(scenario, device=device or None)
    stated = catalogue.load_family(scenario).deployments[0].device.id
    own = not device or family.deployments[0].device.id == stated
    given: dict[str, Any] = {"device": device} if device else {}
    members = tuple(Deployed(deployment, own, given) for deployment in family.deployments)
    if settings and not isinstance(settings, Mapping):
        raise ParamsError(f"settings: expected keys and values, found {settings!r:.60}.")
    reference = variants(scenario)[0] if family.pools else scenario
    asked = catalogue.load_scenario(reference, device or None, [
        f"{key}={value}" for key, value in (settings or {}).items()])
    if settings:
        other = Deployed(asked, False, given | dict(settings))
        members = tuple(other if member.scenario.id == asked.id else member for member in members)
    return Page(family, members, next(
        member for member in members if member.scenario.id == asked.id))
