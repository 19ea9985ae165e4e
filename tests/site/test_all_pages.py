"""Every page of the built site, from its files: languages, links, figures, sizes, styles."""

import json
import re

import _site
import pytest
import yaml

import catalogue
from tools.site import ROOT, assets

FOLDERS = {"": "en", "zh/": "zh-CN"}
HAN = re.compile("[\u4e00-\u9fff]+")
TITLES = re.compile("|".join(sorted({re.escape(each["title"]) for each in
                                     catalogue.sources().values()}, key=len, reverse=True)))
QUESTIONS = yaml.safe_load((ROOT / "tests/site/questions.yml").read_text(encoding="utf-8"))


def of(every, folder):
    """The pages of one language, by their name in it."""
    return {name.removeprefix(folder): page for name, page in every.items()
            if name != "404.html" and name.startswith("zh/") == bool(folder)}


def test_both_languages_have_the_same_pages(every):
    english, chinese = (of(every, folder) for folder in FOLDERS)
    assert english.keys() == chinese.keys()
    for kind in ("scenarios", "devices", "models", "documents"):
        assert {name for name in english if name.startswith(f"chapters/{kind}/")} == {
            f"chapters/{kind}/{path.stem}.html" for path in (ROOT / "params" / kind).glob("*.yml")}
    assert [name for name in english if english[name].shape != chinese[name].shape] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_pages_state_their_language_and_link_to_the_other(every, folder):
    for name, page in of(every, folder).items():
        own = f"{folder}{name}"
        assert page.lang == FOLDERS[folder], own
        assert {lang: _site.target(own, link) for lang, link in page.alternates.items()} == {
            "en": (name, ""), "zh-CN": (f"zh/{name}", "")}, own
        other = name if folder else f"zh/{name}"
        assert _site.target(own, page.switch) == (other, ""), own


def test_prose_and_labels_are_in_the_language_of_the_page(every):
    """English pages may quote Chinese and name Chinese sources; the glossary translates."""
    quoted = {name: HAN.findall(re.sub("“[^”]*”", "", TITLES.sub("", page.prose)))
              for name, page in of(every, "").items()
              if HAN.search(page.prose) and name != "chapters/reference.html"}
    assert {name: words for name, words in quoted.items() if words} == {}
    english = {name: label for name, page in of(every, "zh/").items() for label in page.spoken
               if re.fullmatch(r"[A-Za-z .…]{4,}", label)}
    assert english == {}


def test_nothing_is_loaded_from_other_hosts_and_no_script_is_inline(every, site):
    loads = {link for page in every.values() for link in page.loads}
    assert {link for link in loads if re.match(r"(https?:)?//", link)} == set()
    assert {name: page.inline for name, page in every.items() if page.inline} == {}
    outside = re.compile(r"(url\(|@import)\s*['\"]?(https?:)?//")
    assert [path.name for path in site.rglob("*.css")
            if outside.search(path.read_text(encoding="utf-8"))] == []


def test_internal_links_and_anchors_exist(every, site):
    assert list(_site.broken(site, every)) == []
    assert [name for name, page in every.items() if len(page.ids) > len({*page.ids})] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_figures_are_numbered_once_and_mentioned_by_their_number(every, folder):
    mine = {name: page for name, page in every.items() if name.startswith("zh/") == bool(folder)}
    numbers = [number for page in mine.values() for _, number in page.captions]
    assert sorted(numbers) == [*range(1, len(numbers) + 1)]
    assert len(numbers) > 20
    figures = {(name, anchor): number for name, page in mine.items()
               for ids, number in page.captions for anchor in ids}
    mentions = {(_site.target(name, link), number) for name, page in mine.items()
                for link, number in page.mentions}
    compared = [(figures[place], number) for place, number in mentions if place in figures]
    assert compared
    assert all(number == mentioned for number, mentioned in compared)


def test_every_chapter_offers_its_executed_notebook(every, site):
    for name, page in every.items():
        if "chapters/" in name:
            path, _ = _site.target(name, page.source) or ("", "")
            cells = json.loads((site / path).read_text(encoding="utf-8"))["cells"]
            assert any(cell.get("execution_count") for cell in cells), name


@pytest.mark.parametrize(("lang", "folder"), [("en", ""), ("zh", "zh/")])
def test_questions_are_answered_within_two_clicks(every, lang, folder):
    assert len(QUESTIONS[lang]) >= 19
    assert list(_site.unanswered(every, folder, QUESTIONS[lang], most=2)) == []


def test_styles_and_fonts_cover_every_page(every, site):
    used = assets.script_words(site).union(*(page.names for page in every.values()))
    assert assets.missing_rules(used) == set()
    assert assets.missing_signs(set().union(*(page.signs for page in every.values()))) == set()
