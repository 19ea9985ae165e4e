"""Every input of a deployment with its source."""

from __future__ import annotations

import catalogue
from catalogue import Scenario
from catalogue.deployments.profiles import load_profile
from catalogue.engine import fitting
from catalogue.messages import messages
from notebooks.pages.catalogue.tables import deployments, mechanisms
from notebooks.pages.deployments.sections.page import Page
from notebooks.show.display import markdown, source, sourced
from notebooks.show.numbers import fmt_int

say = messages("pages/deployments/sections/inputs")


def inputs_and_sources(page: Page) -> None:
    """Model, device and precision; settings; peaks, links and mechanisms."""
    deployment, symbols = page.deployment, catalogue.symbols()
    model, device, precision = deployment.model, deployment.device, deployment.precision
    values = deployment.values()
    shapes = {name: value for name, value in values.items() if name in type(model).model_fields}
    letters = ", ".join(f"${symbols[name].latex}$ = {fmt_int(value.value)}"
                        for name, value in shapes.items())
    cited = source(model.num_hidden_layers)
    markdown(*say("model-device-of-them-stored", letters=letters, cited=cited,
              devices=deployment.devices, model=(model.name["en"], model.name["zh"]),
              device=(device.name["en"], device.name["zh"]),
              precision=(precision.name["en"], precision.name["zh"]),
              deployment=_engine(deployment)))
    sourced([(_with_letter(name), value) for name, value in values.items() if name not in shapes]
            + deployments.settings(deployment), folded=say("card-load-and-settings"))
    markdown(*say("other-inputs-of-physics-peaks"))
    sourced(deployments.hardware(deployment), folded=say("peaks-and-links"))
    sourced(mechanisms.of_deployment(deployment), folded=say("mechanisms"), wide=True)


def _engine(deployment: Scenario) -> tuple[str, str]:
    """The engine that a deployment names, or between which its values stand."""
    engine = deployment.running
    if engine is not None:
        named = engine.profile.name
        return say("engine-its-defaults-hold-where", release=engine.release,
                   named=(named["en"], named["zh"]))
    names = [load_profile(name).name for name in fitting(deployment.device)]
    return say("no-release-of-engine-is",
               names=(", ".join(n["en"] for n in names), "、".join(n["zh"] for n in names)))


def _with_letter(name: str) -> tuple[str, str]:
    """A symbol's name with its letter, in both languages."""
    symbol = catalogue.symbols()[name]
    return f"{symbol.en}, ${symbol.latex}$", f"{symbol.zh} ${symbol.latex}$"
