"""The class of a deployment: what own error it gets, and how much wider where it is not known."""

from __future__ import annotations

import math

import pytest

import catalogue
from calc.evidence import classes
from calc.evidence.classes import applied_error, discrepancy, own_errors
from calc.evidence.discrepancy import Pooled
from catalogue.entries.calibrations import Growth

TOP, PLAN = "concurrent/servers", "h200-r1-vllm-tp8"
UNIT = 0.6744897501960817
SIZES = {"all": (0.9, 0.9), "concurrent": (0.6, 0.7), TOP: (0.5, 0.4), f"{TOP}/A": (0.2, 0.3),
         f"{TOP}/A/x": (0.1, 0.2), f"{TOP}/A/y": (0.5, 0.2), f"{TOP}/A/z": (0.3, 0.9),
         f"{TOP}/B": (0.4, 1.4), f"{TOP}/B/x": (0.7, 1.0), "concurrent/hosts": (0.8, 0.9),
         "concurrent/hosts/A": (0.7, 0.7), "concurrent/hosts/B": (0.1, 0.1), "queued": (0.3, 0.3),
         "queued/servers": (0.2, 0.2), "queued/servers/A": (0.6, 0.1)}
KNOWN = {name: {"tpot": Pooled(*sizes, 0.0)} for name, sizes in SIZES.items()}


@pytest.mark.parametrize(("name", "at", "down", "up"), [
    (f"{TOP}/A/x", f"{TOP}/A/x", 0.1, 0.2),  # the engine is known
    (f"{TOP}/A", f"{TOP}/A", math.hypot(0.2, 0.1 / UNIT), math.hypot(0.3, 0.1 / UNIT)),
    (f"{TOP}/A/w", f"{TOP}/A", math.hypot(0.2, 0.1 / UNIT), math.hypot(0.3, 0.1 / UNIT)),
    (f"{TOP}/B", f"{TOP}/B", 0.4, 1.4),  # of one engine nothing says how engines differ
    (f"{TOP}/C", TOP, math.hypot(0.5, 0.2 / UNIT), math.hypot(0.4, 0.55 / UNIT)),
    ("concurrent/hosts/C", "concurrent/hosts", 0.8, 0.9),  # of which the maker says little
    # of one maker under a load: as far as makers of servers differ where they were measured
    ("queued/servers/C", "queued/servers", math.hypot(0.2, 0.2 / UNIT),
     math.hypot(0.2, 0.55 / UNIT)),
    # under a load that was not measured: as loads differ, by 0.3 and 0.6 of 0.9 downwards
    ("alone/servers/A", "all", math.hypot(0.9, 0.45 / UNIT), math.hypot(0.9, 0.4 / UNIT))])
def test_unknown_class_is_wider_by_the_median_distance_of_those_beside_it(name, at, down, up):
    """Engines of A are 0.1, 0.3 and 0.1 from its 0.2 downwards; makers 0.3 and 0.1 from 0.5."""
    found, metric, sides = applied_error(KNOWN, name, "tpot")
    assert (found, metric) == (at, "tpot")
    assert sides == pytest.approx((down, up))


def test_error_widens_with_its_own_growth():
    """Over four doublings √(0.3² + 4 × 0.2²) and √(0.4² + 4 × 0.15²)."""
    found = classes.Own((0.3, 0.4), "all", "tpot", 2, 9, 7, 0.1, (0.2, 0.15), 4.0)
    assert found.sides == pytest.approx((0.5, 0.5))
    assert found.parts == pytest.approx((0.3, 0.4, 0.4, 0.3))
    growth = {"tpot": Growth(down=0.1, up=0.2, systems=3, pairs=5, inside=0.8,
                             without={"mine": (0.3, 0.4)})}
    assert classes.grown_without(growth, "e2e", "mine") == (0.3, 0.4)
    assert classes.grown_without(growth, "tpot", "other") == (0.1, 0.2)
    assert classes.grown_without(growth, "ttft", "mine") == (0.0, 0.0)


@pytest.mark.parametrize(("name", "overrides", "of", "load"), [
    (PLAN, ("engine=vllm@0.11.0",), "servers/NVIDIA/vllm", "concurrent"),
    ("s1-plan-c", (), "servers/NVIDIA", "alone"),  # neither engine nor answers are stated
    ("h20-qwen3-30b", (), "servers/NVIDIA/sglang", "alone"),  # a pool that decodes
    # kernels that widen INT4 are in no table of SGLang on AMD, and in those of vLLM on NVIDIA
    ("mi350x-k2.6-sglang-tp4", (), "widened/AMD/sglang", "concurrent"),
    (PLAN, ("workload.output_tokens=1 token",), "servers/NVIDIA/vllm", "alone")])
def test_class_and_load_of_a_deployment(name, overrides, of, load):
    scenario = catalogue.load_scenario(name, overrides=list(overrides))
    assert classes.class_of(scenario) == of
    assert classes.load_of(scenario) == load


def test_measured_system_gets_what_all_others_say():
    """On other cards it is another deployment."""
    own = own_errors(catalogue.load_scenario("s2-910b1-awq"))["tpot"]
    moved = own_errors(catalogue.load_scenario(
        "s2-910b1-awq", overrides=["device=nvidia-h20"]))["tpot"]
    stored = discrepancy().left_out["s2-910b1-awq"].deviation["concurrent"]["tpot"]
    assert (own.of, own.sides) == ("concurrent/servers/Huawei", stored)
    assert moved.of == "concurrent/widened"

