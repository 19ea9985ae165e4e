"""The calculators in a real browser: against the runtime, hostile links and hostile files."""

import gzip
import json

import numpy as np
import pytest

import calc
from calc.answer.service import measured_evidence
from calc.answer.steady_state import STEADY
from calc.costing.cost import token_costs
from calc.evidence.classes import REPORTED, near, own_errors
from calc.physics.step import token_parts
from calc.uncertainty import interval
from catalogue import deployment_names, load_scenario
from catalogue.entries.formulas import evaluate
from notebooks.derive.crosscheck import DIFFERENCES
from notebooks.derive.formulas.javascript import HELPERS, function
from notebooks.pages.calculators.extras import CONTEXT_ONLY
from notebooks.pages.calculators.links import link
from notebooks.pages.calculators.offers import deployed
from notebooks.pages.calculators.samples import state
from notebooks.pages.calculators.views import RANGED

TOLERANCE, HOUR = 1e-9, 3600
MOST_BYTES = 300_000  # gzipped, of all that the page has of its own
MEMORY = ("headroom_per_device", "free_for_kv_per_device", "stage_free_for_kv")
READY = "document.querySelector('.memory .answer')?.textContent.length > 0"
ANSWERS = "[...document.querySelectorAll('.calculator .answer')].map((one) => one.textContent)"
MOVE = ("(() => { const slider = document.querySelector('.speed input[type=range]');"
        "slider.value = 900; slider.dispatchEvent(new Event('input')); })()")
ALL = """JSON.stringify(STATES.map((state) => {
  const {data, formulas, Engine, problem, toYaml, fromYaml} = willItFit;
  globalThis.tested ??= new Engine(data, formulas);
  const found = tested.compute(state), words = data.words.en, text = toYaml(data, state);
  return {problem: problem(data, words, state), ranges: found.ranges, memory: found.memory,
          runs: found.runs, outside: found.outside,
          values: Object.fromEntries(formulas.names.map((name) => [name, found.get(name)])),
          cost: found.cost, text, back: {...state, ...fromYaml(data, words, text)}};
}))"""
OF_LINKS = ("tpot", "ttft", "output_throughput", "max_concurrency")
OPENED = """JSON.stringify(LINKS.map((link) => {
  const {data, formulas, Engine, fromLink, toLink, problem} = willItFit, words = data.words.en;
  globalThis.tested ??= new Engine(data, formulas);
  const state = fromLink(data, words, link), get = tested.glance(state);
  return {problem: problem(data, words, state),
          kept: toLink(data, fromLink(data, words, toLink(data, state))) === toLink(data, state),
          ...Object.fromEntries(NAMES.map((name) => [name, get(name)]))};
}))""".replace("NAMES", json.dumps(OF_LINKS))
REFUSAL = """(() => {{ try {{
  willItFit.{}(willItFit.data, willItFit.data.words.en, {}); return null;
}} catch (error) {{ return error instanceof willItFit.Refusal && error.message; }} }})()"""


@pytest.fixture(scope="module")
def page(browser, site):
    """The page, opened from the disk in a window that shows all of it."""
    browser.resize(1280, 6000)
    browser.open(f"{site.as_uri()}/chapters/calculators.html")
    browser.wait_for(READY)
    return browser


def far(found, wanted, scale=0.0):
    return bool(np.isfinite(wanted)) if found is None else not (
        found == wanted or abs(found - wanted) <= TOLERANCE * max(scale, abs(wanted)))


def differences(state, found):
    """Quantities in which the page differs from the runtime, for the same scenario file."""
    scenario = deployed(state)
    inputs, attention = scenario.inputs(), scenario.model.attention
    known = calc.evaluate(inputs, attention)
    usable, values = float(known["usable_memory"]), found["values"]
    # differences are as exact as what they are of
    scales = {name: float(known[of]) for name, of in DIFFERENCES.items() if of in known}
    for name, number in {**inputs, **known}.items():
        if name in values and np.ndim(number) == 0 and far(
                values[name], float(number), scales.get(name, 0.0)):
            yield name
    own = {name: error.parts for name, error in own_errors(scenario).items()}
    own |= {name: own[burst] for name, burst in STEADY.items() if burst in own}
    bounds = interval(inputs, scenario.knobs(), attention, RANGED, own)
    for name, made in bounds.items():
        scale = usable if name in MEMORY else abs(made.value)  # as exact as what it is off
        if any(far(found["ranges"][name][side], getattr(made, side), scale)
               for side in ("low", "high", "value")):
            yield f"interval of {name}"
    parts = token_parts(inputs, known)
    if far(sum(values[f"step_{name}"] for name in parts), float(known["tpot"])) or any(
            far(values[f"step_{name}"], float(part), float(known["tpot"]))
            for name, part in parts.items()):
        yield "parts of a step"
    held = sum(part["size"] for part in found["memory"]["parts"])
    if far(held, float(known["memory_per_device"])):
        yield "parts of the memory"
    rate = "output_throughput" if CONTEXT_ONLY in state["set"] else "steady_throughput"
    costs = token_costs(inputs, known, state["price"] / HOUR, state["use"] / 100,
                        bounds[rate].value)
    for name, of in (("cost_output_token", "per_output"), ("cost_input_token", "per_input"),
                     ("cost_request", "per_request")):
        if far(found["cost"][name]["value"], float(costs[of])):
            yield name


@pytest.mark.parametrize(("edge", "count"), [
    (False, 20), (True, 20), pytest.param(False, 1000, marks=pytest.mark.nightly),
    pytest.param(True, 200, marks=pytest.mark.nightly)])
def test_every_number_is_that_of_the_runtime(page, edge, count, tmp_path):
    asked_of = json.dumps([state(seed, edge) for seed in range(count)])
    found, states = json.loads(page.evaluate(ALL.replace("STATES", asked_of))), json.loads(asked_of)
    for asked, answer in zip(states, found, strict=True):
        assert answer["problem"] is None, asked
        assert list(differences(asked, answer)) == [], asked
        assert answer["back"] == asked
        file = tmp_path / "downloaded.yml"
        file.write_text(answer["text"], encoding="utf-8")
        assert load_scenario(str(file)).inputs() == deployed(asked).inputs()


def test_measured_runs_are_those_of_the_estimate_and_its_page(page):
    """Of which class, how many of how many systems, and how many inside their intervals."""
    states = [state(seed) for seed in range(48)]
    shown = json.loads(page.evaluate(ALL.replace("STATES", json.dumps(states))))
    for asked, found in zip(states, shown, strict=True):
        scenario = deployed(asked)
        answer, runs = calc.estimate(scenario), dict(found["runs"])
        sentences = runs.pop("en"), runs.pop("zh")
        quantities = {name: quantity["own_error"]
                      for name, quantity in answer.as_json()["quantities"].items()
                      if name in REPORTED and name not in answer.unasked}
        assert runs == {name: [own[key] for key in ("class", "systems", "rows", "inside")]
                        for name, own in quantities.items()}, asked
        assert found["outside"] == [axis.name for axis in near(scenario).outside], asked
        for of_form, of_page in zip(
                sentences, measured_evidence((scenario,), (answer,)), strict=True):
            assert of_page.startswith(of_form), asked


@pytest.mark.parametrize(("tree", "points"), [
    (["ceil", ["multiply", ["rational", 7, 100], "x"]], range(0, 100_000, 50)),
    (["floor", ["multiply", "x", ["power", 49, -1], 49]], range(1, 3000)),
    (["ceil", ["multiply", ["log", "x"], ["power", ["log", 2], -1]]],
     [2**power for power in range(60)]),
    (["sum_over", "i", 5, ["multiply", ["add", "i", "x"], ["power", "x", -2]]], range(1, 50)),
    (["max_over", "stage", "x", ["piecewise", [["eq", "stage", 3], 9], "stage"]], range(1, 20)),
])
def test_formulas_in_javascript_have_the_exact_values(page, tree, points):
    """Steps of ceilings and floors lie where they should."""
    points, formula = list(points), function(tree, "v.{}".format)
    found = page.evaluate(f"(() => {{ {HELPERS} const formula = {formula};"
                          f"return {json.dumps(points)}.map((x) => formula({{x}})); }})()")
    is_log = tree[0] == "ceil" and tree[1][1][0] == "log"
    wanted = [(x - 1).bit_length() if is_log else float(evaluate(tree, {"x": x})) for x in points]
    assert found == (wanted if tree[0] in ("ceil", "floor") else pytest.approx(wanted, rel=1e-14))


REFUSED_LINKS = [
    "card=no-such-card", "tp=7", "users=1e9", "users=1.5", "users=", "users=1&users=2", "card=%",
    "__proto__=1", "tp=8=8", "price=NaN", "<img src=x onerror=alert(1)>=1", "set.__proto__=1",
    "set.collective_alpha=1e400", "set.collective_alpha=2e-6~1e-6"]
GOOD = """model: deepseek-v3
device: nvidia-h200-sxm
cluster:
  node: hgx-h200
  nodes: 1
precision: fp8-block
parallelism:
  tensor_parallel: 8
  pipeline_parallel: 1
  data_parallel: 1
  expert_parallel: 8
workload:
  concurrency: 32 request
"""
REFUSED_FILES = [
    "", "model: [deepseek-v3]", "a: &a [*a]", "[" * 100_000, "x" * (11 * 2**20),
    GOOD + "mechanisms:\n  nothing: 1\n", GOOD + "graphs: <img src=x onerror=alert(1)>\n",
    GOOD.replace("32", "9" * 400), GOOD.replace("tensor_parallel: 8", "tensor_parallel: 7"),
    GOOD + "model: deepseek-v3\n", GOOD.replace("deepseek-v3", "<script>alert(1)</script>"),
    GOOD.replace("deepseek-v3", "__proto__"), GOOD + "__proto__: {polluted: 1}\n"]


@pytest.mark.parametrize(("reader", "text"), [
    *(("fromLink", f"#{text}") for text in REFUSED_LINKS),
    *(("fromYaml", text) for text in REFUSED_FILES)], ids=lambda text: text[:20].strip())
def test_hostile_links_and_files_are_refused_in_a_sentence(page, reader, text):
    sentence = page.evaluate(REFUSAL.format(reader, json.dumps(text)))
    assert isinstance(sentence, str)
    assert sentence.endswith(".")
    assert len(sentence) < 400


def test_a_slider_moves_every_answer_and_the_link(page):
    page.wait_for(f"{ANSWERS}.length === 5")
    before = page.evaluate(ANSWERS)
    page.evaluate(MOVE)
    page.wait_for(f"{ANSWERS}.every((text, at) => text !== {json.dumps(before)}[at])")
    after = page.evaluate(ANSWERS)
    page.wait_for("location.hash.includes('users=')")
    page.page.reload()
    page.wait_for(f"{ANSWERS}.length === 5")
    assert page.evaluate(ANSWERS) == after
    assert page.errors == []


@pytest.mark.parametrize("name", [
    name if at % 10 == 0 else pytest.param(name, marks=pytest.mark.nightly)
    for at, name in enumerate(deployment_names())])
def test_a_deployment_opens_as_it_is_or_states_what_is_left_out(page, name):
    scenario = load_scenario(name)
    target = link(scenario)
    assert target is not None
    answer, = json.loads(page.evaluate(OPENED.replace("LINKS", json.dumps([target.state]))))
    inputs = scenario.inputs()
    known = inputs | calc.evaluate(inputs, scenario.model.attention)
    assert (answer["problem"], answer["kept"]) == (None, True)
    is_same = not any(far(answer[each], float(known[each])) for each in OF_LINKS)
    assert is_same == (not target.without)


def test_the_page_is_light(site):
    own = sorted((site / "_static" / "calculators").iterdir())
    assert {"formulas.js", "table.js", "engine.js"} <= {path.name for path in own}
    assert sum(len(gzip.compress(path.read_bytes())) for path in own) <= MOST_BYTES
