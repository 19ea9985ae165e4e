"""``report``: the numbers of ``estimate`` on a page that needs no other file, whatever it says."""

import json
import re

import pytest
from _project import ROOT
from bs4 import BeautifulSoup

from calc.commands.main import main
from catalogue.reading.units import human, span

HAN = re.compile("[\u4e00-\u9fff]")
ACTIVE = ["script", "iframe", "object", "embed", "form", "input", "base", "link", "img"]
HOSTILE = "<script>document.title = 1</script> <img src=x onerror=alert(1)> {{ 7 * 7 }} $\\x$ | `a`"
KNOWN = ["s0-scenario-1"]
REFUSED = [(["nowhere.yml"], "nowhere.yml"), ([*KNOWN, "--card", "kunpeng-920"], "host"),
           ([*KNOWN, "-o", "plan.yml"], "ends in .html"), ([*KNOWN, "--lang", "fr"], "fr"),
           ([*KNOWN, "-o", "gone/report.html"], "gone"), ([*KNOWN, "-o", "own.html"], "own.html")]


def written(path, *asked):
    assert main(["report", *asked, "-o", str(path)]) == 0
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def visible(page):
    for each in page(["style", "svg"]):
        each.decompose()
    return " ".join(page.get_text(" ").split())


def asked_numbers(answer):
    """Latency, throughput, memory and requests of an answer of ``estimate``."""
    pools = answer.get("pools")
    shown = dict(answer["seen"]) if answer["seen"] else {}
    last = (pools["decode"] if pools else answer)["quantities"]
    used = [pools[name]["quantities"] for name in ("prefill", "decode")] if pools else [last]
    return [shown[name] for name in ("ttft", "tpot", "e2e", "throughput") if name in shown] + [
        last["max_concurrency"], *(each["memory_per_device"] for each in used)]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["h200-r1-vllm-tp8", "a3-v4-vllm", "s0-scenario-1"])
def test_page_has_the_numbers_of_estimate_in_its_language(capsys, tmp_path, name, lang):
    main(["estimate", name, "--json"])
    answer = json.loads(capsys.readouterr().out)
    page = written(tmp_path / "report.html", name, "--lang", lang)
    assert page.html["lang"] == {"en": "en", "zh": "zh-CN"}[lang]
    assert len(page(class_="bar")) >= 2
    assert bool(page.find(class_="charts")) == answer["fits"]
    text = visible(page)
    assert [number for each in asked_numbers(answer) for number in (
        human(each["value"], each["unit"], lang),
        span(each["low"], each["high"], each["unit"], lang, of=each["value"]))
        if each["low"] < each["high"] and number not in text] == []
    page.details.decompose()  # sources have titles in their own language
    assert lang == "zh" or not HAN.search(visible(page))


def test_both_languages_have_the_same_numbers(tmp_path):
    cells = [[re.sub(r"[^\d.%–]", "", cell.get_text()) for cell in written(
        tmp_path / f"{lang}.html", "h200-r1-vllm-tp8", "--lang", lang)(class_="n")]
        for lang in ("en", "zh")]
    assert cells[0] == cells[1]
    assert len(cells[0]) > 30


def renamed(text, key):
    return re.sub(rf"(?m)^{key}:.*\n(?: .*\n)*", lambda _: f"{key}: {json.dumps(HOSTILE)}\n", text)


def test_hostile_texts_are_shown_and_do_nothing(tmp_path):
    plan = (ROOT / "params/templates/example-deployment.yml").read_text("utf-8")
    card = (ROOT / "params/templates/example-card.yml").read_text("utf-8")
    (tmp_path / "example-card.yml").write_text(renamed(card, "name"))
    path = tmp_path / "<b>plan '.yml"
    path.write_text(renamed(plan, "title"))
    page = written(tmp_path / "report.html", str(path))
    assert not page.find_all(ACTIVE)
    assert not [name for tag in page(True) for name in tag.attrs if name.startswith("on")]
    assert all(tag["href"].startswith("https://") for tag in page("a"))
    assert page.find("meta", {"http-equiv": True})["content"].startswith("default-src 'none'")
    assert visible(page).count(HOSTILE) >= 2


@pytest.mark.parametrize(("asked", "reason"), REFUSED)
def test_bad_input_is_one_sentence_and_writes_nothing(capsys, monkeypatch, tmp_path, asked, reason):
    monkeypatch.chdir(tmp_path)
    before = {"own.html": "<p>mine</p>", "plan.yml": "title: mine"}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    assert main(["report", *asked]) == 2
    sentence, = capsys.readouterr().err.strip().splitlines()
    assert reason in sentence
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_report_replaces_an_earlier_one(tmp_path):
    path = tmp_path / "report.html"
    assert visible(written(path, *KNOWN)) != visible(written(path, *KNOWN, "--lang", "zh"))
