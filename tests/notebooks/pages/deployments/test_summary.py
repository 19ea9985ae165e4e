"""The page of all deployments: a row for each, factors that mean what they say, the findings."""

from __future__ import annotations

import re

import numpy as np
import pytest

import calc
import catalogue
from calc.evidence.classes import stand_ins
from calc.layouts.change import changed
from calc.uncertainty.amount import Amount
from notebooks.pages.deployments import findings, summary, verdicts
from notebooks.pages.deployments.answers import Deployed

FAMILIES = summary.families()[0]


@pytest.fixture(scope="module")
def deployed() -> dict[str, Deployed]:
    return {one.id: Deployed(one) for family in FAMILIES for one in family.deployments}


class TestRows:
    def test_every_documented_deployment_has_one_and_no_other_has(self, deployed) -> None:
        documented = [name for name in catalogue.deployment_names()
                      if catalogue.load_scenario(name).file.document]
        assert sorted(deployed) == sorted(documented)
        links = [row["page"][0] for row in summary.rows(deployed.values())]
        assert [re.search(r"\(#(.+)\)$", link)[1] for link in links] == list(deployed)

    def test_they_stand_in_the_order_of_the_documents(self) -> None:
        sections = [(family.deployments[0].file.document, family.section) for family in FAMILIES]
        assert [document for document, _ in sections] == sorted(one for one, _ in sections)
        first = [section for document, section in sections if document == "s0"]
        assert first == sorted(first)

    def test_no_two_of_a_document_have_one_name_and_none_names_it_again(self, deployed) -> None:
        for lang in range(2):
            names = [(one.scenario.file.document, summary.label(one.scenario)[lang])
                     for one in deployed.values()]
            assert len(set(names)) == len(names)
            assert not [name for _, name in names if re.match(r"S\d", name)]

    def test_a_name_keeps_what_is_more_than_the_cut(self, deployed) -> None:
        names = {key: summary.label(deployed[key].scenario) for key in (
            "s1-plan-c", "s1-expert-tiers-shares", "s1-scale-48", "s2-910b1-awq")}
        assert names == {
            "s1-plan-c": ("Plan C", "方案 C"),
            "s1-expert-tiers-shares": (
                "Plan C with experts on three levels: shares of 20%, 60% and 20%",
                "专家分三级存放的方案 C：三级各占 20%、60%、20%"),
            "s1-scale-48": ("Scaling: 48 cards, 6 replicas", "扩展：48 卡，6 个副本"),
            "s2-910b1-awq": ("8×Ascend 910B1, R1 in AWQ w4a16", "8×昇腾 910B1，R1 AWQ w4a16")}

    def test_a_cell_bears_no_unit_that_its_heading_has(self, deployed) -> None:
        for row in summary.rows(deployed.values()):
            for key in ("rate", "pace", "rate_given", "pace_given"):
                text = row.get(key, "")
                for cell in (text if isinstance(text, tuple) else (text,)):
                    assert not re.search(r"token/s| ms| s\b", cell), cell

    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_the_picture_has_a_line_for_each(self, deployed, lang: str) -> None:
        documents = {(key, key): [one for one in deployed.values()
                                  if one.scenario.file.document == key] for key in ("s0", "s2")}
        memory, fast = summary.picture(documents)(lang).axes
        assert len(memory.get_yticks()) == sum(len(of) + 1 for of in documents.values())
        assert len(memory.patches) == sum(map(len, documents.values()))
        assert fast.get_xscale() == "log"


class TestSpeeds:
    def test_more_than_one_promises_too_much_whatever_the_quantity(self, deployed) -> None:
        rate = summary.speed(deployed["s1-plan-c"], "output_throughput")
        assert rate.factor == pytest.approx(51_200 / rate.ours.value)
        pace = summary.speed(deployed["s0-scenario-1"], "tpot")
        assert pace.factor == pytest.approx(pace.ours.value / 8.3e-3)

    def test_the_interval_of_a_factor_is_that_of_the_estimate(self, deployed) -> None:
        pace = summary.speed(deployed["s0-scenario-1"], "tpot")
        assert (pace.low, pace.high) == pytest.approx(
            (pace.ours.low / 8.3e-3, pace.ours.high / 8.3e-3))
        for one in deployed.values():
            for each in summary.speeds(one):
                assert 0 < each.low <= each.factor * (1 + 1e-12)
                assert each.factor <= each.high * (1 + 1e-12)

    def test_what_is_printed_of_a_card_counts_for_all(self, deployed) -> None:
        rate = summary.speed(deployed["s0-cards-h100"], "output_throughput")
        assert rate.factor == pytest.approx(32 * 45 / rate.ours.value)
        assert rate.text[0] == "40–50 per card"

    def test_a_goal_that_is_passed_is_not_missed(self, deployed) -> None:
        goal = summary.speed(deployed["s1-phases-2"], "output_throughput")
        assert goal.goal
        assert goal.factor < 1
        assert not goal.outside
        assert goal.text == ("1,000 (goal)", "1,000（目标）")

    def test_what_was_measured_at_its_own_workload_comes_before_what_is_printed(
            self, deployed) -> None:
        seen = summary.speed(deployed["s2-910b1-awq"], "tpot")
        assert seen.measured
        assert seen.text[0] == "81.1"

    def test_a_measurement_of_another_workload_is_not_compared(self, deployed) -> None:
        """S3 prints the largest throughput of eight cards without the number of requests."""
        assert summary.speed(deployed["s3-eight-cards"], "output_throughput") is None

    def test_a_pool_that_prefills_is_judged_by_its_first_token(self, deployed) -> None:
        assert [one.name for one in summary.speeds(deployed["s0-scenario-3-prefill"])] == ["ttft"]

    @pytest.mark.parametrize(("factor", "text"), [
        (0.486, "0.49"), (1.04, "1"), (28.47, "28"), (13_278.9, "13,000")])
    def test_a_factor_has_two_digits(self, factor: float, text: str) -> None:
        assert summary.times(factor) == text


class TestVerdicts:
    def test_a_deployment_short_of_memory_does_not_fit(self, deployed) -> None:
        for one in deployed.values():
            assert (summary.verdict(one) == "short") == (one.headroom < 0)
            assert (summary.needed(one) > 1) == (one.headroom < 0)

    def test_a_deployment_hardly_short_is_not_said_to_need_as_much_as_there_is(
            self, deployed) -> None:
        short = deployed["s1-phases-1"]
        assert 1 < summary.needed(short) < 1.15  # of its weights alone, less
        for one in deployed.values():
            assert " 1.0 times" not in verdicts.lead(one)[0]

    @pytest.mark.parametrize(("name", "word"), [
        ("s0-cards-910b2", "holds"), ("s1-launch-awq", "fits"), ("s1-expert-tiers-uniform", "slow"),
        ("s2-910b1-awq", "predicted"), ("s2-other-engine", "missed")])
    def test_one_that_fits_is_judged_by_its_speeds(self, deployed, name: str, word: str) -> None:
        assert summary.verdict(deployed[name]) == word


class TestFindings:
    def test_the_fewest_cards_of_scenario_1_are_four_servers(self, deployed) -> None:
        two = deployed["s0-scenario-1"]
        change = findings.fewest(two)
        assert change.devices == 32
        assert findings.layout(two, change) == "TP8×PP4"
        assert Deployed(changed(two.scenario, change.settings)).headroom > 0

    def test_a_narrower_precision_runs_on_the_same_cards(self, deployed) -> None:
        two = deployed["s0-scenario-1"]
        other = changed(two.scenario, findings.narrower(two).settings)
        assert other.devices == two.scenario.devices
        assert other.precision.id != two.scenario.precision.id
        assert Deployed(other).headroom > 0

    def test_so_many_requests_and_no_fewer_reach_a_rate_at_the_floor(self, deployed) -> None:
        plan = deployed["s1-plan-c"]
        count = findings.requests_for(plan, 50_000)
        floors = [findings.with_requests(plan, each, ["tpot_floor"])["tpot_floor"].central
                  for each in (count - 1, count)]
        assert (count - 1) / floors[0] < 50_000 <= count / floors[1]

    def test_a_rate_that_no_number_of_requests_reaches_is_refused(self, deployed) -> None:
        with pytest.raises(ValueError, match="any number of requests"):
            findings.requests_for(deployed["s1-plan-c"], 1e6)

    def test_arithmetic_bounds_the_rate_of_any_number_of_requests(self, deployed) -> None:
        plan = deployed["s1-plan-c"]
        bound = findings.arithmetic_bound(plan)
        given = plan.questions["tpot"] | {"concurrency": 4 * np.geomspace(1, 1e6, 50).round()}
        rates = calc.evaluate(given, plan.attention)["output_throughput"]
        assert rates.max() < bound
        fuller = Deployed(changed(plan.scenario, {"workload.concurrency": 320}))
        assert findings.arithmetic_bound(fuller) == pytest.approx(bound, rel=1e-9)

    def test_it_counts_at_least_two_operations_per_active_parameter(self, deployed) -> None:
        plan = deployed["s1-plan-c"].scenario
        active = calc.parameters(plan.model)["active"]
        peak = plan.devices * plan.device.matrix_peak.fp16.value
        assert findings.arithmetic_bound(deployed["s1-plan-c"]) < peak / (2 * active)

    def test_numbers_printed_for_different_hardware_are_found(self, deployed) -> None:
        again = findings.recurring(FAMILIES, deployed)
        cards = {rate: sorted({one.devices for one in told}) for rate, told in again.items()}
        assert cards == {240: [8, 16], 600: [16, 40], 1200: [12, 64], 38_400: [12, 24],
                         48_000: [12, 24, 32]}

    def test_a_rate_printed_of_pools_is_held_against_both_together(self, deployed) -> None:
        again = findings.recurring(FAMILIES, deployed)
        pools = next(one for one in again[1200] if one.devices == 64)
        decode = deployed["s0-scenario-3-decode"].answers["output_throughput"]
        assert isinstance(pools.ours, Amount)
        assert pools.ours.value <= decode.value


def test_a_card_of_a_maker_that_nobody_measured_says_what_is_taken_of_others(tmp_path):
    own = catalogue.load_scenario("h200-r1-vllm-tp8")
    card = tmp_path / "my-card.yml"
    card.write_text((catalogue.ROOT / "devices" / "nvidia-h200-sxm.yml").read_text("utf-8").replace(
        "vendor: NVIDIA", "vendor: Nobody"), encoding="utf-8")
    other = catalogue.load_scenario("h200-r1-vllm-tp8", device=str(card))
    taken = stand_ins(other)
    assert taken is not None
    assert stand_ins(own) is None
    for said, sentence in zip(verdicts.verdict_text(Deployed(other)), taken, strict=True):
        assert said.endswith(sentence)
