"""What the calculators answer at first sight, and what a reader asks of them by trying."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import calc
from catalogue.reading.amounts import human, span
from notebooks.pages.calculators.offers import deployed
from notebooks.pages.calculators.scripts import fields, question, start
from notebooks.pages.deciding.front.standard import R1, served, served_by
from tools.site.browser import INSTALL, Browser, find_chromium

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium: {INSTALL}")

PAGE = "chapters/calculators.html"
NUMBERS = """Object.fromEntries(['tpot', 'ttft', 'rate', 'million'].map((name) => [name,
  [...document.querySelectorAll('.numbers dl')].find((one) => one.querySelector('dt').textContent
    === willItFit.data.words.en[`${name}Row`])]).filter(([, found]) => found)
  .map(([name, found]) => [name, ['b', '.range'].map(
    (part) => found.querySelector(part).textContent)]))"""
KEYSTROKE = 50  # time in which a page has to answer [ms]
TOO_SLOW = 4  # times as long, on a machine that does other things


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM, timeout=120, hasty=False) as started:
        yield started


def opened(browser: Browser, site: Path, page: str = PAGE, state: str = "") -> Browser:
    browser.open("about:blank")
    browser.open(f"{site.as_uri()}/{page}{state}")
    browser.wait_for("document.querySelector('.verdict')?.textContent.length > 0")
    return browser


def choose(browser: Browser, **values: Any) -> None:
    """Set fields as a reader does."""
    for name, value in values.items():
        browser.evaluate(f"""(() => {{ const field = document.querySelector('[name={name}]');
            field.value = '{value}'; field.dispatchEvent(new Event('change')); }})()""")


def state_of(browser: Browser) -> dict[str, Any]:
    """The state that the page is in."""
    browser.wait_for("location.hash.includes('users=')")
    said = dict(pair.split("=") for pair in browser.evaluate("location.hash")[1:].split("&"))
    known = {key: int(float(text)) if field.get("step") or isinstance(field["of"][0], int)
             else text for key, text in said.items()
             if (field := fields()[key]).get("step") or isinstance(field.get("of"), tuple)}
    return {**start(), **said, **known, "vary": float(said["vary"]), "share": float(said["share"]),
            "set": {}}


def test_the_first_state_is_the_standard_question() -> None:
    begun, asked = start(), question()
    assert (begun["users"], begun["input"], begun["output"], begun["vary"]) == (
        asked.users, asked.demand.input_tokens, asked.demand.output_tokens,
        asked.demand.length_variation)
    assert begun["drafts"] in asked.draft_tokens
    assert (begun["way"], begun["price"]) == (asked.ownership, 0)


def test_both_calculators_answer_as_the_table_of_the_front_page(browser: Browser, site: Path
                                                               ) -> None:
    _, answer, money, _ = served_by(R1, "nvidia-h200-sxm").priced()
    wanted = {}
    for key, name in (("tpot", "steady_tpot"), ("ttft", "steady_ttft"),
                      ("rate", "steady_throughput")):
        found = answer.quantities[name]
        unit = "1" if key == "rate" else "s"
        wanted[key] = [human(found.value, unit), span(found.low, found.high, unit)]
    whole = money.amounts["per_million_output_whole"]
    wanted["million"] = [human(whole.value), span(whole.low, whole.high)]
    for page in (PAGE, "index.html"):
        assert json.loads(opened(browser, site, page).evaluate(
            f"JSON.stringify({NUMBERS})")) == wanted
        said = browser.evaluate("document.querySelector('.summary').textContent")
        assert "1.58 USD/h" in said
        assert "73.8%" in said


def test_a_card_without_a_price_has_no_cost_until_one_is_entered(browser: Browser, site: Path
                                                                 ) -> None:
    opened(browser, site)
    choose(browser, card="nvidia-h20-141gb")
    assert "million" not in json.loads(browser.evaluate(f"JSON.stringify({NUMBERS})"))
    assert "enter yours" in browser.evaluate("document.querySelector('.summary').textContent")
    choose(browser, price=2)
    assert "million" in json.loads(browser.evaluate(f"JSON.stringify({NUMBERS})"))


def test_what_does_not_fit_has_no_times_and_is_told_what_would(browser: Browser, site: Path
                                                               ) -> None:
    opened(browser, site, state="#card=nvidia-h20&tp=8&ep=8")
    assert browser.evaluate("document.querySelector('.verdict').className").endswith("lacking")
    assert json.loads(browser.evaluate(f"JSON.stringify({NUMBERS})")) == {}
    browser.wait_for("document.querySelectorAll('.changes li button').length > 0")
    assert browser.evaluate("document.querySelector('.speed .answer').textContent") in (
        "", browser.evaluate("willItFit.data.words.en.noTimes"))
    browser.evaluate("document.querySelector('.changes li button').click()")
    browser.wait_for("document.querySelector('.verdict').className.endsWith('fitting')")
    assert calc.estimate(deployed(state_of(browser))).fits


def test_users_and_cards_within_a_time_are_the_last_that_keep_it(browser: Browser, site: Path
                                                                 ) -> None:
    opened(browser, site)
    found = json.loads(browser.evaluate("""JSON.stringify((() => {
      const {data, formulas, Engine, best, mostUsers, fewestCards} = willItFit;
      const kit = {data, engine: new Engine(data, formulas), words: data.words.en};
      const last = (pieces) => {
        let each;
        do each = pieces.next(); while (!each.done);
        return each.value;
      };
      const state = {...data.usual, pace: 30}, most = last(mostUsers(kit, state, 8));
      const more = best(kit, {...state, users: most.users + 1}, 8);
      const many = {...state, users: 500}, few = last(fewestCards(kit, many));
      return {most, more, few, less: best(kit, many, few.count / 2)};
    })())"""))
    most, few = found["most"], found["few"]
    assert 1e3 * most["found"]["pace"] <= 30 < 1e3 * found["more"]["pace"]
    assert 1e3 * few["found"]["pace"] <= 30
    assert found["less"]["spare"] < 0 or 1e3 * found["less"]["pace"] > 30
    state = start() | most["found"]["cut"] | {"users": most["users"]}
    pace = calc.estimate(deployed(state)).quantities["steady_tpot"].value
    assert pace == pytest.approx(most["found"]["pace"], rel=1e-9)


def test_another_card_and_back_is_the_first_answer_again(browser: Browser, site: Path) -> None:
    opened(browser, site, "index.html")
    state = ("JSON.stringify([...document.querySelectorAll('.front [name]')]"
             ".map((one) => one.value))")
    first, numbers = browser.evaluate(state), browser.evaluate(f"JSON.stringify({NUMBERS})")
    choose(browser, card="ascend-910b2")
    browser.wait_for("document.querySelector('.front .plan').textContent.includes('on 8 cards')")
    choose(browser, card="nvidia-h200-sxm", count=8)
    browser.wait_for(f"JSON.stringify({NUMBERS}) === {json.dumps(numbers)}")
    assert browser.evaluate(state) == first


def test_the_command_of_the_front_page_gives_its_numbers(browser: Browser, site: Path) -> None:
    opened(browser, site, "index.html")
    choose(browser, card="ascend-910b2", count=16)
    browser.wait_for("document.querySelector('.front .plan').textContent.includes('16 cards')"
                     " && document.querySelector('.fitting') !== null")
    told = json.loads(browser.evaluate(f"JSON.stringify({NUMBERS})"))
    command = browser.evaluate("document.querySelector('.front code').textContent")
    words = shlex.split(command.replace("\\\n", ""))
    done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-1000:]
    assert f"TPOT {told['tpot'][0]}" in done.stdout
    assert f"TTFT {told['ttft'][0]}" in done.stdout


def test_a_link_with_one_bad_field_keeps_the_others_and_names_it(browser: Browser, site: Path
                                                                 ) -> None:
    opened(browser, site, state="#card=nvidia-h20-141gb&users=0&input=4096")
    assert [browser.evaluate(f"document.querySelector('[name={name}]').value")
            for name in ("card", "users", "input")] == ["nvidia-h20-141gb", "64", "4096"]
    assert "'0'" in browser.evaluate("document.querySelector('p.refusal').textContent")


@pytest.mark.parametrize("text", ["0", "1000000", "33.7", ""])
def test_a_refused_field_says_its_range_and_keeps_its_value(browser: Browser, site: Path,
                                                           text: str) -> None:
    opened(browser, site)
    choose(browser, users=text)
    assert browser.evaluate("document.querySelector('[name=users]').value") == "64"
    said = browser.evaluate(
        "document.querySelector('.field:has([name=users]) .refusal').textContent")
    assert "1 to 32768" in said


@pytest.mark.parametrize(("width", "page"), [(360, PAGE), (360, f"zh/{PAGE}"), (390, "index.html")])
def test_on_a_phone_the_answer_comes_first_and_nothing_runs_over(
        browser: Browser, site: Path, width: int, page: str) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=844,
                 deviceScaleFactor=1, mobile=True)
    try:
        opened(browser, site, page)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.evaluate("document.querySelector('.drafted, [name=drafts]')"
                                "?.closest('details') ?? null") is None
        sizes = json.loads(browser.evaluate("""JSON.stringify([
          ...document.querySelectorAll('.calculator :is(select, input[type=number])')]
          .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""))
        assert min(sizes) >= 16
        assert browser.evaluate("""Math.min(...[...document.querySelectorAll(
          '.calculator > :not(details) input[type=range]')].filter((one) => one.offsetParent)
          .map((one) => one.offsetHeight))""") >= 24
        if page != "index.html":
            assert browser.evaluate("document.querySelector('.numbers')"
                                    ".getBoundingClientRect().bottom") < 844
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")


def test_a_keystroke_is_answered_at_once(browser: Browser, site: Path) -> None:
    opened(browser, site)
    taken = browser.evaluate("""(() => {
      const {data, formulas, Engine} = willItFit, engine = new Engine(data, formulas), times = [];
      for (let step = 0; step < 20; step += 1) {
        const start = performance.now();
        engine.compute({...data.usual, users: 10 + step});
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b)[10];
    })()""")
    assert taken <= KEYSTROKE * TOO_SLOW


FASTEST = """JSON.stringify(CASES.map(([card, model, precision, count]) => {
  const {data, formulas, Engine, best} = willItFit, {block, blocks} = data.cards[card];
  globalThis.tested ??= new Engine(data, formulas);
  const state = {...data.usual, card, model, precision, set: {},
    block: data.models[model].attention === 'csa' ? blocks[data.usual.engine] : block};
  return best({data, engine: tested, words: data.words.en}, state, count);
}))"""


def test_the_fastest_layout_is_that_of_the_table(browser: Browser, site: Path) -> None:
    """No redundant experts are tried in the browser: what has some may be slower there."""
    asked = [each for each in served() if not each.choice.spares]
    cases = json.dumps([[each.device, each.model, each.choice.precision, each.choice.devices]
                        for each in asked])
    found = json.loads(opened(browser, site).evaluate(FASTEST.replace("CASES", cases)))
    assert len(asked) > 25
    for each, best in zip(asked, found, strict=True):
        assert best["spare"] >= 0, each
        assert best["pace"] == pytest.approx(each.cell.pace, rel=5e-3), (each.model, each.device)
