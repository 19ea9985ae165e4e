"""What a file of published recipes may hold: commands of one engine by model and card."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from catalogue.entries.entry import (
    CatalogueEntry,
    DeviceName,
    Entry,
    ModelName,
    PrecisionName,
    ProfileName,
)
from catalogue.reading.values import SourceKey, Text, Words

Role = Literal["both", "prefill", "decode"]
Cause = Literal["layout", "limits", "kernels", "steps", "drafts", "pools", "chat", "monitoring",
                "features"]
Condition = Literal["no-drafts", "one-pool", "one-replica", "no-code", "prefixes", "eager",
                    "blocks", "joined", "sent", "gathered"]


class Recipe(Entry):
    """A published launch command as data; nothing of it is run.

    Names, addresses, ports, seeds and log settings are left out: they are of whoever starts it.

    Attributes:
        models, cards: what it serves on which.
        count: cards of the server [1].
        precision: of the weights that it loads.
        checkpoint: repository of those weights; None for any of the models.
        release: of the engine, the oldest that the source names; None where it names none.
        role: of the server.
        source: where it is published, with its date.
        flags: by the engine's own name of each; None for a switch.
        variables: of the environment.
    """

    models: Annotated[list[ModelName], Field(min_length=1)]
    cards: Annotated[list[DeviceName], Field(min_length=1)]
    count: Annotated[int, Field(ge=1)]
    precision: PrecisionName
    checkpoint: Words | None = None
    source: SourceKey
    release: Words | None = None
    role: Role = "both"
    flags: Annotated[dict[str, Any], Field(min_length=1)]
    variables: dict[str, Any] = {}


class Unset(Entry):
    """Why ``deploy`` does not set what recipes set, or recipes do not what it sets.

    Attributes:
        names: flags, variables, or keys of a flag's JSON value after a dot.
        value: where it is set, for which it holds; None for any.
        since: release of the engine from which on it holds; None for all.
        when: what has to be true of the deployment.
        why: the reason.
        source: the released source that shows it, where it is not a choice of the plan.
    """

    names: Annotated[list[Words], Field(min_length=1)]
    value: Any = None
    since: Words | None = None
    when: list[Condition] = []
    why: Text
    source: SourceKey | None = None


class Recipes(CatalogueEntry):
    """Recipes of one engine.

    Attributes:
        engine: of ``params/profiles/``.
        recipes: by name.
        causes: of differences, each with the flags and variables that it decides on.
        unset: reasons for settings of recipes that ``deploy`` leaves out.
        added: reasons for settings of ``deploy`` that recipes leave out, in place of their cause.
    """

    engine: ProfileName
    recipes: Annotated[dict[str, Recipe], Field(min_length=1)]
    causes: dict[Cause, list[Words]] = {}
    unset: list[Unset] = []
    added: list[Unset] = []
