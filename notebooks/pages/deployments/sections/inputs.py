"""Every input of a deployment with its source."""

from __future__ import annotations

import catalogue
from catalogue import Scenario
from catalogue.deployments.profiles import load_profile
from catalogue.engines.released import fitting
from notebooks.pages.catalogue.tables import deployments, mechanisms
from notebooks.pages.deployments.sections.page import Page
from notebooks.show.display import show, source, sourced
from notebooks.show.numbers import fmt_int


def inputs_and_sources(page: Page) -> None:
    """Model, device and precision; settings; peaks, links and mechanisms."""
    deployment, symbols = page.deployment, catalogue.symbols()
    model, device, precision = deployment.model, deployment.device, deployment.precision
    values = deployment.values()
    shapes = {name: value for name, value in values.items() if name in type(model).model_fields}
    letters = ", ".join(f"${symbols[name].latex}$ = {fmt_int(value.value)}"
                        for name, value in shapes.items())
    cited = source(model.num_hidden_layers)
    show(f"Model: {model.name['en']}, {letters} ({cited}). Device: {device.name['en']}, "
         f"{deployment.devices} of them. Stored as: {precision.name['en']}. "
         f"{_engine(deployment)[0]}",
         f"模型：{model.name['zh']}，{letters}（{cited}）。设备：{device.name['zh']}，共 "
         f"{deployment.devices} 个。存储精度：{precision.name['zh']}。{_engine(deployment)[1]}")
    sourced([(_with_letter(name), value) for name, value in values.items() if name not in shapes]
            + deployments.settings(deployment),
            folded=("Card, load and settings", "卡、负载与设置"))
    show("Other inputs of the physics: peaks, links and the priors of mechanisms.",
         "物理模型另外用到的输入：峰值、链路，以及各机制的先验。")
    sourced(deployments.hardware(deployment), folded=("Peaks and links", "峰值与链路"))
    sourced(mechanisms.of_deployment(deployment), folded=("Mechanisms", "机制"), wide=True)


def _engine(deployment: Scenario) -> tuple[str, str]:
    """The engine that a deployment names, or between which its values stand."""
    engine = deployment.running
    if engine is not None:
        named = engine.profile.name
        return (f"Engine: {named['en']} {engine.release}; its defaults hold where nothing is "
                "stated.",
                f"引擎：{named['zh']} {engine.release}，未写明之处取其默认做法。")
    names = [load_profile(name).name for name in fitting(deployment.device)]
    return ("No release of an engine is stated: values between those of "
            f"{', '.join(n['en'] for n in names)} are used.",
            f"未指明引擎版本：取值介于 {'、'.join(n['zh'] for n in names)} 之间。")


def _with_letter(name: str) -> tuple[str, str]:
    """A symbol's name with its letter, in both languages."""
    symbol = catalogue.symbols()[name]
    return f"{symbol.en}, ${symbol.latex}$", f"{symbol.zh} ${symbol.latex}$"
