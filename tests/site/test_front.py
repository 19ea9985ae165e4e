"""The calculator of the front page and the full one, in a browser: as the runtime answers."""

import json
import shlex

import pytest

import calc
from calc.launching import starting
from calc.layouts.layout import scenario
from calc.searching.goal import load_goal
from calc.searching.ranking import surely
from calc.searching.search import search
from catalogue.deployments.admission import cut_of, problems, subject_of
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.reading.units import human, span
from notebooks.pages.calculators import offers
from notebooks.pages.calculators.scripts import fields, start
from notebooks.pages.deciding.front.standard import R1, served, served_by

PAGE = "chapters/calculators.html"
NUMBERS = """JSON.stringify(Object.fromEntries(['tpot', 'ttft', 'rate', 'million'].map((name) => [
  name, [...document.querySelectorAll('.numbers dl')].find((one) =>
    one.querySelector('dt').textContent === willItFit.data.words.en[`${name}Row`])])
  .filter(([, found]) => found)
  .map(([name, found]) => [name, ['b', '.range'].map(
    (part) => found.querySelector(part).textContent)])))"""
LIMITS = """JSON.stringify((() => {
  const {data, formulas, Engine, surely, mostUsers, fewestCards} = willItFit;
  const kit = {data, engine: new Engine(data, formulas), words: data.words.en};
  const last = (pieces) => { let each; do each = pieces.next(); while (!each.done);
    return each.value; };
  const state = {...data.usual, pace: 40}, most = last(mostUsers(kit, state, 8));
  return {most, more: last(surely(kit, {...state, users: most.users + 1}, 8)),
    few: CASES.map(([card, precision, users]) => {
      const asked = {...data.usual, card, precision, users, block: data.cards[card].block};
      const few = last(fewestCards(kit, asked)), less = few.count - data.cards[card].perNode;
      return {...few, less: less && last(surely(kit, asked, less))};
    })};
})())"""
LIMIT = 0.05  # s per token
BOUGHT = [("nvidia-h20", "fp8-block", 64), ("nvidia-h20", "fp8-block", 256),
          ("ascend-910b2", "w8a8-int8", 64), ("ascend-910c-die", "w8a8-int8", 64),
          ("nvidia-b300", "fp8-block", 1024), ("nvidia-h200-sxm", "fp8-block", 512)]
FASTEST = """JSON.stringify(CASES.map(([card, model, precision, count]) => {
  const {data, formulas, Engine, best} = willItFit, {block, blocks} = data.cards[card];
  globalThis.tested ??= new Engine(data, formulas);
  const state = {...data.usual, card, model, precision, set: {},
    block: data.models[model].attention === 'csa' ? blocks[data.usual.engine] : block};
  return best({data, engine: tested, words: data.words.en}, state, count);
}))"""


def opened(browser, site, name=PAGE, hash=""):
    browser.open("about:blank")
    browser.open(f"{site.as_uri()}/{name}{hash}")
    browser.wait_for("document.querySelector('.verdict')?.textContent.length > 0")
    return browser


def choose(browser, **values):
    """Set fields as a reader does."""
    for name, value in values.items():
        browser.evaluate(f"""(() => {{ const field = document.querySelector('[name={name}]');
            field.value = '{value}'; field.dispatchEvent(new Event('change')); }})()""")


def state_of(browser):
    """Return the state in the address of the page."""
    browser.wait_for("location.hash.includes('users=')")
    texts = dict(pair.split("=") for pair in browser.evaluate("location.hash")[1:].split("&"))
    known = {key: int(float(text)) if field.get("step") or isinstance(field["of"][0], int)
             else text for key, text in texts.items()
             if (field := fields()[key]).get("step") or isinstance(field.get("of"), tuple)}
    return {**start(), **texts, **known, "vary": float(texts["vary"]),
            "share": float(texts["share"]), "set": {}}


@pytest.mark.parametrize("name", [PAGE, "index.html"])
def test_first_answer_is_that_of_the_runtime(browser, site, name):
    _, answer, money, _ = served_by(R1, "nvidia-h200-sxm").priced()
    wanted = {}
    for key, quantity, unit in (("tpot", "steady_tpot", "s"), ("ttft", "steady_ttft", "s"),
                                ("rate", "steady_throughput", "1")):
        found = answer.quantities[quantity]
        wanted[key] = [human(found.value, unit), span(found.low, found.high, unit)]
    whole = money.amounts["per_million_output_whole"]
    wanted["million"] = [human(whole.value), span(whole.low, whole.high)]
    assert json.loads(opened(browser, site, name).evaluate(NUMBERS)) == wanted


def test_cards_without_a_price_have_no_cost_until_one_is_entered(browser, site):
    opened(browser, site)
    choose(browser, card="nvidia-h20-141gb")
    assert "million" not in json.loads(browser.evaluate(NUMBERS))
    choose(browser, price=2)
    assert "million" in json.loads(browser.evaluate(NUMBERS))


def test_deployments_that_do_not_fit_have_no_times_and_a_change_that_fits(browser, site):
    opened(browser, site, hash="#card=nvidia-h20&tp=8&ep=8")
    assert browser.evaluate("document.querySelector('.verdict').className").endswith("lacking")
    assert json.loads(browser.evaluate(NUMBERS)) == {}
    browser.wait_for("document.querySelectorAll('.changes li button').length > 0")
    browser.evaluate("document.querySelector('.changes li button').click()")
    browser.wait_for("document.querySelector('.verdict').className.endsWith('fitting')")
    assert calc.estimate(offers.deployed(state_of(browser))).fits


@pytest.fixture(scope="module")
def within_limits(browser, site):
    cases = json.dumps(BOUGHT)
    return json.loads(opened(browser, site).evaluate(LIMITS.replace("CASES", cases)))


def test_most_users_within_a_time_are_the_last_who_get_it_in_nine_of_ten_draws(within_limits):
    most = within_limits["most"]
    assert within_limits["more"] is None
    state = start() | most["found"]["cut"] | {"users": most["users"]}
    tpot = calc.estimate(offers.deployed(state)).quantities["steady_tpot"]
    assert tpot.high <= 0.04
    assert (tpot.value, tpot.high) == pytest.approx(
        (most["found"]["pace"], most["found"]["slowest"]), rel=1e-9)


@pytest.mark.parametrize("place", range(len(BOUGHT)))
def test_calculator_purchase_and_search_need_the_same_cards(within_limits, place):
    """And on one server fewer no layout keeps the limit in nine of ten draws."""
    (device, precision, users), few = BOUGHT[place], within_limits["few"][place]
    size, cut = offers.per_node(device), few["found"]["cut"]
    asked = [f"demand.users={users}", f"devices={device}", f"precisions={precision}",
             f"cards.fewest={size}", f"limits.tpot={LIMIT} s", "limits.sure=0.9"]
    goal = load_goal("r1-matrix", [*asked, f"cards.most={offers.MOST_CARDS}"])
    best = surely(search(goal), 0.9, lambda row: starting.start(goal, row).engine is not None)[0]
    choice, tpot = scenario(goal, best.row.choice), best.amounts["tpot"]
    assert best.row.devices == few["count"]
    assert few["less"] in (0, None)
    assert [int(getattr(choice.file.parallelism, name).value) for name in DEGREES] == [
        cut[name] for name in ("tp", "pp", "dp", "ep")]
    assert (tpot.value, tpot.high) == pytest.approx(
        (few["found"]["pace"], few["found"]["slowest"]), rel=1e-9)
    assert tpot.high <= LIMIT
    assert calc.search("r1-matrix", asked).rows[0].row.devices == few["count"]
    if (fewer := few["count"] - size):
        assert not calc.search("r1-matrix", [*asked, f"cards.most={fewer}"]).rows


def test_command_of_the_front_page_prints_its_numbers(browser, site, cli):
    opened(browser, site, "index.html")
    choose(browser, card="ascend-910b2", count=16)
    browser.wait_for("document.querySelector('.front .plan').textContent.includes('16 cards')"
                     " && document.querySelector('.fitting') !== null")
    shown = json.loads(browser.evaluate(NUMBERS))
    command = browser.evaluate("document.querySelector('.front code').textContent")
    code, out, err = cli(*shlex.split(command.replace("\\\n", ""))[1:])
    out = " ".join(out.split())
    assert code == 0, err
    assert f"TPOT {shown['tpot'][0]}" in out
    assert f"TTFT {shown['ttft'][0]}" in out


@pytest.mark.parametrize("text", ["0", "1000000", "33.7", ""])
def test_values_outside_the_range_of_a_field_are_refused(browser, site, text):
    opened(browser, site)
    choose(browser, users=text)
    assert browser.evaluate("document.querySelector('[name=users]').value") == "64"
    assert "1 to 32768" in browser.evaluate(
        "document.querySelector('.field:has([name=users]) .refusal').textContent")


STARTED = """JSON.stringify(STATES.map(([card, model, engine, count]) => {
  const {data, formulas, Engine, best, precisions, unstarted} = willItFit, words = data.words.en;
  globalThis.tested ??= new Engine(data, formulas);
  const block = data.cards[card].blocks[engine] ?? data.cards[card].block, set = {};
  const usual = {...data.usual, card, model, engine, set, users: 8,
    block: data.models[model].attention === 'csa' ? block : data.cards[card].block};
  const state = {...usual, precision: precisions(data, usual).at(-1)};
  const found = best({data, engine: tested, words}, state, count);
  return found && {...state, ...found.cut, why: unstarted(data, words, {...state, ...found.cut})};
}))"""


def test_layouts_that_are_offered_are_started_by_the_engine_that_is_named(browser, site):
    cases = [(card, model, engine, count)
             for card, engines in (("nvidia-h200-sxm", ("vllm", "sglang", "none")),
                                   ("nvidia-h20", ("vllm", "sglang")),
                                   ("ascend-910b2", ("vllm-ascend", "sglang", "none")),
                                   ("nvidia-b200", ("vllm", "sglang")))
             for engine in engines for model in (R1, "glm-5.2", "qwen3-235b-a22b")
             for count in (8, 32) if (count, model) != (8, "glm-5.2")]
    assert len(cases) >= 30
    found = json.loads(opened(browser, site).evaluate(STARTED.replace("STATES", json.dumps(cases))))
    tried = [state for state in found if state is not None]
    assert len(tried) >= 30
    for state in tried:
        assert state.pop("why") is None
        scenario = offers.deployed(state)
        told = [each.text["en"] for each in problems(
            subject_of(scenario), cut_of(scenario), ("servers", "engine", "drafts"))]
        assert told == [], state


def test_layouts_that_the_engine_does_not_start_are_told_in_the_form(browser, site):
    """One of eight cards, experts on two of eight ranks: SGLang starts it, vLLM does not."""
    for engine, told in (("vllm", "starts no such layout"), ("sglang", "")):
        opened(browser, site, hash=f"#card=nvidia-h200-sxm&model={R1}&precision=fp8-block&tp=8"
                                   f"&ep=2&engine={engine}")
        refusal = browser.evaluate("document.querySelector('.summary .refusal').textContent")
        assert told in refusal
        assert bool(refusal) == bool(told)


def test_fastest_layouts_are_those_of_the_search(browser, site):
    """With no engine named, but for the few that no release starts."""
    asked = served()
    cases = json.dumps([[each.device, each.model, each.choice.precision, each.choice.devices]
                        for each in asked])
    found = json.loads(opened(browser, site).evaluate(FASTEST.replace("CASES", cases)))
    assert len(asked) > 25
    for each, best in zip(asked, found, strict=True):
        assert best["spare"] >= 0, each
        assert best["pace"] <= each.cell.pace * (1 + 5e-3), each
    same = [best["pace"] == pytest.approx(each.cell.pace, rel=5e-3)
            for each, best in zip(asked, found, strict=True)]
    assert sum(same) >= len(asked) - 3
