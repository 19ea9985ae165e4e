"""The page of a deployment: its answer in a sentence, the three views, what would run, variants."""

import csv
import io
import math
from xml.etree import ElementTree

import pytest

import catalogue
from catalogue.reading import words
from notebooks.pages.deployments import alternatives, families, spans, verdicts, views
from notebooks.pages.deployments.answers import Deployed
from notebooks.show.drawing import SIZE, WIDTH, width_of

SVG = "{http://www.w3.org/2000/svg}"

DOCUMENTED = [name for name in catalogue.deployment_names()
              if catalogue.load_scenario(name).file.document]


@pytest.fixture(scope="module")
def deployed():
    return {name: Deployed(catalogue.load_scenario(name)) for name in DOCUMENTED}


def rows(one, label):
    """The rows of the three views whose English label begins so."""
    return [row for row in views.three(one).rows if row["what"][0].startswith(label)]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_answer_is_one_sentence_that_says_whether_how_far_and_why(deployed, name):
    one = deployed[name]
    en, zh = verdicts.lead(one)
    assert en.startswith("**It fits" if one.headroom >= 0 else "**It does not fit")
    assert zh.startswith("**装得下" if one.headroom >= 0 else "**装不下")
    assert en.count(". ") == 0
    assert en.endswith(".")
    assert zh.endswith("。")
    assert "is bound by" in en
    assert "受限于" in zh
    if verdicts.result(one):
        assert "the document" in en or "measured" in en
        assert "文档" in zh or "实测" in zh


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_printed_number_has_a_row_and_what_is_derived_an_interval(deployed, name):
    one = deployed[name]
    claims = one.scenario.documented.claims if one.scenario.documented else []
    table = views.three(one).rows
    given = [row for row in table if row.get("section")]
    assert len(given) == len([claim for claim in claims if claim.value.section])
    assert {row["what"][0].split(",")[0] for row in given} <= {
        claim.label["en"].split(",")[0] for claim in claims}
    for row in table:
        if row["ours"] != "–":
            assert row["reach"], row
            assert row["formula"], row


def test_what_is_absent_is_said_without_names_of_ours(deployed):
    absent = views.three(deployed["s0-scenario-1"]).absent
    assert ["lengths are not stated" in text[0] for text in absent].count(True) == 1
    assert any("no published measurement" in text[0] for text in absent)
    assert not any("`" in text for both in absent for text in both)
    assert views.three(deployed["s2-910b1-awq"]).absent == []
    other = Deployed(catalogue.load_scenario("s2-910b1-awq", device="ascend-910b2"), own=False)
    assert ["another card" in text[0] for text in views.three(other).absent] == [True]
    alone = Deployed(catalogue.load_scenario("h200-r1-sglang-tp8"))
    assert views.three(alone).absent[0][0].startswith("No document")


def test_the_legend_speaks_of_the_columns_that_are_there(deployed):
    for name in ("s1-launch-single", "s0-scenario-1", "s2-910b1-awq"):
        columns = views.three(deployed[name]).columns
        en, zh = views.legend(columns, "#inputs")
        assert ("*Measured*" in en, "“实测”" in zh) == ("seen" in columns,) * 2
        assert ("*Given" in en, "“文档或实测" in zh) == ("ratio" in columns,) * 2
    assert "documented or measured" not in views.legend({"printed": "", "ratio": ""}, "#inputs")[0]


def test_an_interval_with_a_negative_end_is_told_in_words(deployed):
    row = next(iter(rows(deployed["s1-launch-single"], "headroom on the fullest device")))
    assert row["reach"][0].count(" to −") == row["reach"][1].count(" ～ −") == 1
    assert "–" not in "".join(row["reach"])


def test_a_brief_table_has_what_is_printed_and_what_answers(deployed):
    one = deployed["s1-plan-c"]
    whole, brief = views.three(one).rows, views.three(one, brief=True).rows
    assert len(brief) < len(whole)
    assert [row for row in whole if row.get("section")] == [
        row for row in brief if row.get("section")]


def test_a_number_of_a_replica_is_beside_that_of_a_replica(deployed):
    one = deployed["s1-plan-c"]
    total = float(one.quantity("max_concurrency").value)
    row = next(row for row in rows(one, "requests that fit in one replica"))
    assert row["ours"] == f"{total / 4:.0f}"


def test_the_formula_that_goes_wrong_stands_beside_the_right_one(deployed):
    wrong = views.differing(deployed["s0-scenario-1"])
    assert wrong.letters["t"] == ("tensor-parallel size", "张量并行度")
    twice = next(row for row in wrong.rows if row["what"][0].startswith("**weights of a card, in"))
    assert r"\frac{\frac{P\,b_w}{t}}{t}" in twice["theirs"]
    assert "twice" in twice["what"][0]
    assert "两次" in twice["what"][1]
    assert views.differing(deployed["s2-910b1-awq"]).rows == []


def test_a_note_stands_once(deployed):
    one = deployed["s0-scenario-1"]
    told = [row["what"][0] for row in views.differing(one).rows]
    for _, note in views.three(one).notes:
        assert not any(note[0] in text for text in told)
    claims = one.scenario.documented.claims
    assert len(views.three(one).notes) + len(views.differing(one).mistaken) >= len(
        [claim for claim in claims if claim.note])


def test_a_number_of_a_workload_that_is_not_stated_is_not_compared(deployed):
    row = next(iter(rows(deployed["s3-eight-cards"], "largest throughput")))
    assert row["seen"] == "806.7 token/s"
    assert row["ours"] == "–"
    assert "806.7" not in verdicts.lead(deployed["s3-eight-cards"])[0]


def test_a_measured_number_is_said_to_be_measured(deployed):
    assert "384.0 token/s were measured" in verdicts.lead(deployed["s2-910b1-awq"])[0]
    row = next(row for row in rows(deployed["s2-910b1-awq"], "output throughput"))
    assert row["seen"] == "384.0 token/s"
    assert not row["printed"]


def test_an_estimate_that_is_as_measured_has_no_side(deployed, monkeypatch):
    one = deployed["s3-hybrid-910b4"]
    room = math.ceil(10 * abs(verdicts.result(one).ratio - 1)) / 10
    monkeypatch.setattr(verdicts, "SAME", room)
    en, zh = verdicts.lead(one)
    assert f"were measured, within {room:.0%} of it" in en
    assert f"相差不到 {room:.0%}" in zh


def test_what_would_run_runs(deployed):
    one = deployed["s0-scenario-1"]
    found = alternatives.rows(one)
    assert len(found) == len(one.answer.changes) > 1
    assert all(not row["spare"].startswith("−") for row in found)
    more = [row for row, change in zip(found, one.answer.changes, strict=True)
            if "precision" not in change.settings]
    assert min(int(row["cards"]) for row in more) > one.scenario.devices
    assert all(f"{row['cards']} cards instead of 16" in row["change"][0] for row in more)


def test_as_many_requests_as_fit_are_only_told_of_a_promise_that_is_missed(deployed):
    assert alternatives.full(deployed["s0-scenario-1"]) == ("", "")  # does not fit
    assert alternatives.full(deployed["s2-910b1-awq"]) == ("", "")  # was measured
    promised = [name for name, one in deployed.items() if any(alternatives.full(one))]
    for name in promised:
        gap = verdicts.result(deployed[name])
        assert deployed[name].headroom >= 0
        assert gap is not None
        assert gap.ratio > 1


class TestFamilies:
    """Deployments of one file side by side."""

    @pytest.mark.parametrize("name", catalogue.names("scenarios"))
    def test_a_row_and_a_line_for_each(self, name, deployed):
        family = catalogue.load_family(name)
        if len(family.deployments) == 1:
            return
        members = [deployed.get(one.id) or Deployed(one) for one in family.deployments]
        table = families.rows(members, lambda one: one.scenario.title["en"])
        assert len(table) == len(members)
        for lang in ("en", "zh"):
            drawn = spans.picture(members)(lang)
            texts = list(ElementTree.fromstring(drawn.svg()).iter(f"{SVG}text"))
            titles = [words.revealed(one.title[lang]) for one in family.deployments]
            assert [text.text for text in texts if text.text in titles] == titles
            assert all(width_of(text, SIZE) <= WIDTH - 2 * spans.MARGIN for text in titles)
            assert {row["name"] for row in csv.DictReader(io.StringIO(drawn.numbers))} <= {*titles}

    def test_the_slower_pool_decides(self, deployed):
        family = catalogue.load_family("s0-scenario-3")
        prefill, decode = (deployed[pool.id] for pool in family.pools)
        together = views.pair(prefill, decode)
        rates = [one.quantity("request_throughput").value for one in (prefill, decode)]
        assert together.value == pytest.approx(min(rates) * decode.inputs["output_tokens"])
        assert together.low <= together.value <= together.high
        told = families.pools(family, prefill, decode)[0]
        assert ("decode decides" in told) == (rates[1] < rates[0])
        assert "the document prints 58,000 token/s" in told

    def test_claims_of_the_whole_stand_beside_the_pair(self):
        whole = views.of_the_whole(catalogue.load_family("s0-scenario-3"))
        assert all(row["ours"] for row in whole.rows if "throughput" in row["what"][0])
