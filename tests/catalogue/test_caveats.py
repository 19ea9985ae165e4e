"""A card that is only announced, a model that is not derived in full: every answer says so."""

import json
from pathlib import Path

import pytest

import catalogue
from catalogue import ROOT, ParamsError
from catalogue.caveats import announced, marked, underived
from notebooks.pages.deployments import verdicts
from notebooks.pages.deployments.views import Deployed

PLAN = "h200-r1-vllm-tp8"
ANNOUNCED = "announced: {source: a roadmap, kind: vendor, date: 2025-09}\n"
SPACE = ("precisions=fp8-block", "space.tensor=16", "cards.fewest=16", "cards.most=16",
         "space.pipeline=1", "space.chunks=4096", "space.pools=one", "space.drafts=0")


@pytest.fixture
def card(tmp_path) -> Path:
    """A reader's file of a card that is only announced."""
    text = (ROOT / "devices" / "nvidia-h200-sxm.yml").read_text("utf-8")
    path = Path(tmp_path) / "my-card.yml"
    path.write_text(text + ANNOUNCED, encoding="utf-8")
    return path


def said(out: str) -> str:
    return " ".join(out.split())


class TestFile:
    def test_it_says_by_whom_and_when(self, card):
        device = catalogue.load_device(str(card))
        assert (device.announced.source, device.announced.date) == ("a roadmap", "2025-09")

    @pytest.mark.parametrize(("written", "expected"), [
        ("announced: {source: a roadmap, kind: vendor}", "'date' is missing"),
        ("announced: true", "announced"), ("announced: {date: 2025-09}", "source")])
    def test_a_bad_one_is_one_sentence_with_its_line(self, card, written, expected):
        text = card.read_text("utf-8").replace(ANNOUNCED, f"{written}\n")
        card.write_text(text, encoding="utf-8")
        with pytest.raises(ParamsError, match=expected) as error:
            catalogue.load_device(str(card))
        assert f"my-card.yml:{len(text.splitlines())}" in str(error.value)

    def test_a_card_that_is_sold_says_nothing(self, card):
        assert announced(["nvidia-h200-sxm"]) is None
        assert marked("nvidia-h200-sxm") == ("nvidia-h200-sxm",) * 2
        assert "my-card" in announced(["nvidia-h200-sxm", str(card)])[0]


class TestModel:
    """What no formula has of a model is carried by the answers for it."""

    @pytest.fixture
    def model(self, tmp_path) -> Path:
        path = Path(tmp_path) / "my-model.yml"
        path.write_text((ROOT / "models" / "deepseek-v3.yml").read_text("utf-8")
                        + "missing: {en: No tables., zh: 不含查找表。}\n", encoding="utf-8")
        return path

    def test_one_that_is_derived_in_full_says_nothing(self):
        assert underived(["deepseek-v3"]) is None

    @pytest.mark.parametrize("command", [
        ["estimate", PLAN], ["simulate", PLAN, "--users", "4", "--requests", "20"],
        ["capacity", PLAN, "--cards"]])
    def test_every_answer_says_it_in_both_languages(self, model, cli, command):
        asked = [*command, "--set", f"model={model}"]
        for language, sentence in zip(("en", "zh"), underived([str(model)]), strict=True):
            code, out, err = cli(*asked, "--lang", language)
            assert code == 0, err
            assert sentence.replace(" ", "") in out.replace("\n", "").replace(" ", "")
        assert json.loads(cli(*asked, "--json")[1])["missing"] == underived([str(model)])[0]

    def test_a_search_says_it(self, model, cli):
        code, out, err = cli("search", "r1-64-users-8xh20", *(
            word for key in (*SPACE[:1], f"model={model}") for word in ("--set", key)))
        assert code == 0, err
        assert underived([str(model)])[0] in said(out)


class TestAnswers:
    @pytest.mark.parametrize("command", [
        ["estimate", PLAN], ["simulate", PLAN, "--users", "4", "--requests", "20"],
        ["cost", PLAN, "--price", "2 USD/h"], ["capacity", PLAN, "--cards"],
        ["estimate", PLAN, "--engines", "vllm@0.11.0,sglang@0.5.6"]])
    def test_every_answer_for_it_says_so_in_both_languages(self, card, cli, command):
        en, zh = announced([str(card)])
        asked = [*command, "--set", f"device={card}"]
        for language, sentence in (("en", en), ("zh", zh)):
            code, out, err = cli(*asked, "--lang", language)
            assert code == 0, err
            assert sentence.replace(" ", "") in out.replace("\n", "").replace(" ", "")
        assert json.loads(cli(*asked, "--json")[1])["announced"] == en
        assert "announced" not in json.loads(cli(*command, "--json")[1])

    def test_the_page_of_a_deployment_says_so(self, card):
        scenario = catalogue.load_scenario(PLAN, overrides=[f"device={card}"])
        for text, sentence in zip(verdicts.verdict_text(Deployed(scenario)), announced([str(card)]),
                                  strict=True):
            assert text.endswith(sentence)

    def test_a_search_marks_its_rows_and_says_so(self, card, cli):
        asked = ["search", "r1-64-users-8xh20", *(word for key in (*SPACE, f"devices={card}")
                                                  for word in ("--set", key))]
        en, zh = announced([str(card)])
        code, out, err = cli(*asked)
        assert code == 0, err
        assert en in said(out)
        assert f"16 × {marked(str(card))[0]}" in said(out)
        assert zh.split("（")[0] in cli(*asked, "--lang", "zh")[1]
        told = json.loads(cli(*asked, "--json")[1])
        assert told["front"][0][0]["announced"] == en
        assert all(row["announced"] == en for row in told["by_device"])
