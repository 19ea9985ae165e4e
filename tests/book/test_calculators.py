"""The calculators in a real browser: against the runtime, against hostile links and files.

``CALCULATORS=1000 pytest tests/book/test_calculators.py`` holds so many deployments against the
runtime, and a fifth as many on edges.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import calc
from calc.answer.steady_state import STEADY
from calc.costing.tokens import token_costs
from calc.evidence.classes import own_errors
from calc.physics.breakdown import token_parts
from calc.uncertainty.interval import interval
from catalogue import Scenario, deployment_names, load_scenario, read_scenario
from catalogue.entries.trees import evaluate
from catalogue.reading.amounts import human, span
from notebooks.derive.formulas.javascript import HELPERS, function
from notebooks.pages.calculators.extras import CONTEXT_ONLY, COPIES, MOST, WAYS, extras
from notebooks.pages.calculators.links import link
from notebooks.pages.calculators.offers import card_of, contents, deployed, precisions
from notebooks.pages.calculators.samples import state
from notebooks.pages.calculators.scripts import start
from notebooks.pages.calculators.views import RANGED
from tools.site.browser import INSTALL, Browser, find_chromium

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium: {INSTALL}")

ROOT = Path(__file__).resolve().parents[2]
PAGE = "chapters/calculators.html"
COUNT = int(os.environ.get("CALCULATORS", "40"))
EDGES = max(20, COUNT // 5)
TOLERANCE = 1e-9
HOUR = 3600
WIDTH, HEIGHT = 1280, 6000  # of a window that holds the whole page [CSS pixels]
MOST_BYTES = 300_000  # gzipped, of all that the page has of its own
ALL = """JSON.stringify(STATES.map((state) => {
  const {data, formulas, Engine, problem, toYaml, fromYaml} = willItFit;
  globalThis.tested ??= new Engine(data, formulas);
  const found = tested.compute(state), words = data.words.en, text = toYaml(data, state);
  return {problem: problem(data, words, state), ranges: found.ranges, memory: found.memory,
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM, timeout=120) as started:
        yield started


@pytest.fixture(scope="module")
def page(browser: Browser, site: Path) -> Browser:
    """The page, opened from the disk."""
    browser.open(f"{site.as_uri()}/{PAGE}")
    browser.wait_for("document.querySelector('.memory .answer')?.textContent.length > 0")
    return browser


def far(found: float | None, wanted: float, scale: float | None = None) -> bool:
    if found is None:
        return bool(np.isfinite(wanted))
    return not (found == wanted or abs(found - wanted) <= TOLERANCE * (scale or abs(wanted)))


def differences(state: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """What the page says otherwise than the runtime does of the same scenario file."""
    scenario = deployed(state)
    inputs, attention = scenario.inputs(), scenario.model.attention
    known = calc.evaluate(inputs, attention)
    usable, values = float(known["usable_memory"]), found["values"]
    of_memory = ("headroom_per_device", "free_for_kv_per_device", "stage_free_for_kv")
    # differences, as exact as what they are of; prompts in work at once next to one of them
    scales = dict.fromkeys(of_memory, usable) | {"overlap_about": 1.0}
    for name, number in {**inputs, **known}.items():
        if name in values and np.ndim(number) == 0 and far(
                values[name], float(number), scales.get(name)):
            yield name
    own = {name: error.parts for name, error in own_errors(scenario).items()}
    own |= {name: own[burst] for name, burst in STEADY.items() if burst in own}
    bounds = interval(inputs, scenario.knobs(), attention, RANGED, own)
    for name, made in bounds.items():
        scale = usable if name in of_memory else made.central  # as exact as what it is off
        if any(far(found["ranges"][name][side], getattr(made, side), scale)
               for side in ("low", "high", "value")):
            yield f"interval of {name}"
    parts = token_parts(inputs, known)
    if far(sum(values[f"step_{name}"] for name in parts), float(known["tpot"])) or any(
            far(values[f"step_{name}"], float(part), float(known["tpot"]))
            for name, part in parts.items()):
        yield "the parts of a step"
    held = sum(part["size"] for part in found["memory"]["parts"])
    if far(held, float(known["memory_per_device"])):
        yield "the parts of the memory"
    rate = "output_throughput" if CONTEXT_ONLY in state["set"] else "steady_throughput"
    costs = token_costs(inputs, known, state["price"] / HOUR, state["use"] / 100,
                        bounds[rate].value)
    for name, of in (("cost_output_token", "per_output"), ("cost_input_token", "per_input"),
                     ("cost_request", "per_request")):
        if far(found["cost"][name]["central"], float(costs[of])):
            yield name


@pytest.mark.parametrize(("edge", "count"), [(False, COUNT), (True, EDGES)])
def test_every_number_is_that_of_the_runtime(page: Browser, edge: bool, count: int) -> None:
    asked_of = json.dumps([state(seed, edge) for seed in range(count)])
    found, states = json.loads(page.evaluate(ALL.replace("STATES", asked_of))), json.loads(asked_of)
    for asked, answer in zip(states, found, strict=True):
        assert answer["problem"] is None, asked
        assert list(differences(asked, answer)) == [], asked
        assert answer["back"] == asked
        assert yaml.safe_load(answer["text"])["workload"].keys() == contents(asked)[
            "workload"].keys()
        same = read_scenario(answer["text"], Path("downloaded.yml"))
        assert same.inputs() == deployed(asked).inputs()


@pytest.mark.parametrize(("tree", "points"), [
    (["ceil", ["multiply", ["rational", 7, 100], "x"]], range(0, 100_000, 50)),
    (["floor", ["multiply", "x", ["power", 49, -1], 49]], range(1, 3000)),
    (["ceil", ["multiply", ["log", "x"], ["power", ["log", 2], -1]]],
     [2**power for power in range(60)]),
    (["sum_over", "i", 5, ["multiply", ["add", "i", "x"], ["power", "x", -2]]], range(1, 50)),
    (["max_over", "stage", "x", ["piecewise", [["eq", "stage", 3], 9], "stage"]], range(1, 20)),
])
def test_a_formula_steps_where_it_should(page: Browser, tree: Any, points: Any) -> None:
    points, formula = list(points), function(tree, "v.{}".format)
    found = page.evaluate(f"(() => {{ {HELPERS} const formula = {formula};"
                          f"return {json.dumps(points)}.map((x) => formula({{x}})); }})()")
    exact = tree[0] in ("ceil", "floor")
    for x, number in zip(points, found, strict=True):
        wanted = evaluate(tree, {"x": x})
        if tree[0] == "ceil" and tree[1][1][0] == "log":
            wanted = (x - 1).bit_length()
        assert number == (wanted if exact else pytest.approx(float(wanted), rel=1e-14)), x


REFUSAL = """(() => {{ try {{
  willItFit.{}(willItFit.data, willItFit.data.words.en, {}); return null;
}} catch (error) {{ return error instanceof willItFit.Refusal && error.message; }} }})()"""
REFUSED_LINKS = [
    "card=no-such-card", "tp=7", "users=1e9", "users=0", "users=-1", "users=1.5", "users=",
    "users=1&users=2", "__proto__=1", "constructor=x", "tp=8=8", "card=%3Cscript%3E", "card=%",
    "users=99999999999999999999", "price=NaN", "<img src=x onerror=alert(1)>=1",
    "set.nothing=1", "set.__proto__=1", "set.=1", "set.micro_batches=3", "set.micro_batches=1.5",
    "set.collective_alpha=-1", "set.collective_alpha=1e400", "set.collective_alpha=0",
    "set.collective_alpha=2e-6~3e-6~4e-6", "set.collective_alpha=2e-6~1e-6",
    "set.collective_alpha=1~<b>~2", "set.balancing=<script>", "set.graphs=1~1~1",
    "set.graphs=false&set.graphs=false",
    "&".join(f"set.{name}=1" for name in [*extras()][len(WAYS):][:MOST + 1]),
]


@pytest.mark.parametrize("text", REFUSED_LINKS)
def test_a_tampered_link_is_refused_in_a_sentence(page: Browser, text: str) -> None:
    found = page.evaluate(REFUSAL.format("fromLink", json.dumps(f"#{text}")))
    assert isinstance(found, str)
    assert found.endswith(".")


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
    "", "model: [deepseek-v3]", "a: &a [*a]", "[" * 100_000, "{" * 500,
    GOOD + "mechanisms:\n", GOOD + "mechanisms:\n  collective_alpha: 5\n",
    GOOD + "mechanisms:\n  nothing: 1\n", GOOD + "graphs: <img src=x onerror=alert(1)>\n",
    GOOD + "mechanisms:\n  routing_skew: {value: 1, range: [2, 3]}\n",
    GOOD + "mechanisms:\n  routing_skew: {value: 1, note: {en: no, zh: no}}\n",
    GOOD + "  context_tokens: 9 token\n  input_tokens: 8 token\n",
    GOOD.replace("32", "9" * 400), GOOD.replace("32", "1e999"),
    GOOD.replace("tensor_parallel: 8", "tensor_parallel: 7"), GOOD + "model: deepseek-v3\n",
    GOOD.replace("nodes: 1", "nodes: 2"), GOOD.replace("deepseek-v3", "<script>alert(1)</script>"),
    GOOD.replace("deepseek-v3", "!!js/function 'function(){alert(1)}'"),
    GOOD.replace("deepseek-v3", "__proto__"), GOOD + "    deeper: 1\n", "x" * (11 * 2**20),
    GOOD + "__proto__: {polluted: 1}\n",
]


@pytest.mark.parametrize("text", REFUSED_FILES, ids=lambda text: text[:20].strip())
def test_a_file_of_another_form_is_refused_in_a_sentence(page: Browser, text: str) -> None:
    found = page.evaluate(REFUSAL.format("fromYaml", json.dumps(text)))
    assert isinstance(found, str)
    assert found.endswith(".")
    assert len(found) < 400


def test_a_file_of_the_readers_own_is_taken(page: Browser) -> None:
    found = page.evaluate("willItFit.fromYaml(willItFit.data, willItFit.data.words.en, "
                          f"{json.dumps(GOOD)})")
    assert (found["users"], found["engine"], found["tp"]) == (32, "none", 8)


def test_a_slider_moves_every_answer_and_the_link(page: Browser, site: Path) -> None:
    page.open("about:blank")
    page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT,
              deviceScaleFactor=1, mobile=False)  # everything in sight
    page.open(f"{site.as_uri()}/{PAGE}")
    answers = "[...document.querySelectorAll('.calculator .answer')].map((one) => one.textContent)"
    page.wait_for(f"{answers}.length === 5")
    before = page.evaluate(answers)
    page.evaluate("""(() => { const slider = document.querySelector('.speed input[type=range]');
        slider.value = 900; slider.dispatchEvent(new Event('input')); })()""")
    page.wait_for(f"{answers}.every((text, place) => text !== {json.dumps(before)}[place])")
    after = page.evaluate(answers)
    page.wait_for("location.hash.includes('users=')")
    page.evaluate("location.reload()")
    page.loaded()
    assert page.wait_for(f"{answers}.length === 5")
    assert page.evaluate(answers) == after
    assert page.errors == []


def test_what_is_set_besides_can_be_taken_back_and_goes_with_its_card(
        page: Browser, site: Path) -> None:
    scenario = load_scenario("wide-lmsys-decode")
    found = link(scenario)
    assert found is not None
    page.open("about:blank")
    page.open(f"{site.as_uri()}/{PAGE}#{found.state}")
    told = "[...document.querySelectorAll('.also li')].map((one) => one.textContent)"
    page.wait_for(f"{told}.length === {found.state.count('set.')}")
    copies, latency = (extras()[name].words[0] for name in (COPIES, "collective_alpha"))
    known = next(knob.value for knob in scenario.every_knob() if knob.name == "collective_alpha")
    written = f"{human(known.value, 's')} ({span(known.low, known.high, 's')})"
    assert f"{copies}: 32×" in page.evaluate(told)
    assert f"{latency}: {written}×" in page.evaluate(told)
    page.evaluate("[...document.querySelectorAll('.also li')].find((one) => one.textContent"
                  f".startsWith({json.dumps(copies)})).querySelector('button').click()")
    assert not any(one.startswith(copies) for one in page.evaluate(told))
    assert "TP 1 × DP 72" in page.evaluate("document.querySelector('p.refusal').textContent")
    page.evaluate("""(() => { const choice = document.querySelector('select[name=card]');
        choice.value = 'nvidia-b200'; choice.dispatchEvent(new Event('change')); })()""")
    assert not any(one.startswith(latency) for one in page.evaluate(told))
    page.wait_for("location.hash.includes('nvidia-b200')")
    assert "set.separate_pools=1" in page.evaluate("location.hash")
    assert "collective" not in page.evaluate("location.hash")


def test_what_cannot_be_laid_out_is_said_and_the_last_picture_kept(page: Browser, site: Path
                                                                   ) -> None:
    page.open("about:blank")
    page.open(f"{site.as_uri()}/zh/{PAGE}")
    page.wait_for("document.querySelector('.memory .answer')?.textContent.length > 0")
    before = page.evaluate("document.querySelector('.memory').innerHTML")
    page.evaluate("""(() => { const choice = document.querySelector('select[name=tp]');
        choice.value = '3'; choice.dispatchEvent(new Event('change')); })()""")
    said = page.evaluate("document.querySelector('p.refusal').textContent")
    assert "TP 3" in said
    assert page.evaluate("document.querySelector('.memory').innerHTML") == before


def has_no_field(scenario: Scenario) -> bool:
    """Whether it drafts blocks, has a context beyond its lengths, or an older way to exchange."""
    inputs, engine = scenario.inputs(), scenario.running.profile.id if scenario.running else None
    newest = load_scenario(scenario.id, overrides=[f"engine={engine}"] if engine else []).inputs()
    return (inputs["draft_block"] > 1
            or inputs["context_tokens"] > inputs["input_tokens"] + inputs["output_tokens"]
            or any(inputs[f"exchange_{each}"] != newest[f"exchange_{each}"]
                   for each in ("alpha", "network_alpha")))


def test_every_deployment_opens_as_it_is_or_says_what_is_left_out(page: Browser) -> None:
    scenarios = [load_scenario(name) for name in deployment_names()]
    links = [found for scenario in scenarios if (found := link(scenario))]
    assert len(links) == len(scenarios)
    opened = json.loads(page.evaluate(OPENED.replace("LINKS", json.dumps(
        [found.state for found in links]))))
    for scenario, found, answer in zip(scenarios, links, opened, strict=True):
        inputs = scenario.inputs()
        known = inputs | calc.evaluate(inputs, scenario.model.attention)
        assert (answer["problem"], answer["kept"]) == (None, True)
        same = not any(far(answer[name], float(known[name])) for name in OF_LINKS)
        assert same == (not found.without), scenario.id
        assert bool(found.without) == (scenario.file.offload is not None
                                       or scenario.precision.id not in precisions(card_of(scenario),
                                                                                   scenario.model.id)
                                       or has_no_field(scenario)), scenario.id


SHOWN = re.compile(r"([\d,.]+) (ms|s|token/s) \(80%: ([\d,.]+)–([\d,.]+)(?: (ms|s))?\)")
UNITS = {"ms": 1e-3, "s": 1.0, "token/s": 1.0}
FAST = ("steady_tpot", "steady_ttft", "steady_throughput", "tpot", "ttft", "output_throughput")


def test_a_deployment_is_the_same_in_the_page_its_file_and_the_notebook(
        browser: Browser, site: Path, tmp_path: Path) -> None:
    """Its link opens; what the page shows and writes is what command line and Papermill say."""
    found = link(load_scenario("h200-v32-vllm-dp8"))
    assert found is not None
    assert "set.exchange_gathered=1" in found.state
    browser.open("about:blank")
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.open(f"{site.as_uri()}/{PAGE}#{found.state}")
    browser.wait_for("document.querySelector('.speed .answer')?.textContent.length > 0")
    shown = SHOWN.findall(browser.evaluate("document.querySelector('.speed .answer').textContent"))
    exact = json.loads(browser.evaluate("""JSON.stringify((() => {
      const {data, formulas, Engine, fromLink} = willItFit;
      const state = fromLink(data, data.words.en, location.hash);
      return new Engine(data, formulas).compute(state).ranges;
    })())"""))
    browser.evaluate("[...document.querySelectorAll('.panel .buttons button')][1].click()")
    written = tmp_path / "nvidia-h200-sxm-deepseek-v3.2.yml"
    for _ in range(100):
        if written.is_file() and written.stat().st_size:
            break
        time.sleep(0.1)
    said = json.loads(_run(tmp_path, sys.executable, "-m", "calc", "estimate", written.name,
                           "--json"))["quantities"]
    papermill = str(Path(sys.executable).with_name("papermill"))
    _run(tmp_path, papermill, str(ROOT / "notebooks" / "scenario.ipynb"), "out.ipynb",
         "-p", "scenario", written.name, "-p", "lang", "en")
    printed = (tmp_path / "out.ipynb").read_text(encoding="utf-8")
    for name, (value, unit, low, high, other) in zip(FAST, shown, strict=True):
        for side, text, of in (("value", value, unit), ("low", low, other or unit),
                               ("high", high, other or unit)):
            number = float(text.replace(",", "")) * UNITS[of]
            assert not far(exact[name][side], said[name][side]), (name, side)
            assert number == pytest.approx(said[name][side], rel=5e-3), (name, side)
        if name not in STEADY:
            assert f"**{human(said[name]['value'], said[name]['unit'])}**" in printed


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_first_state_is_one_that_runs() -> None:
    assert calc.estimate(deployed(start())).fits


def test_the_page_is_light(site: Path) -> None:
    own = sorted((site / "_static" / "calculators").iterdir())
    weights = {path.name: len(gzip.compress(path.read_bytes())) for path in own}
    assert {"formulas.js", "table.js", "engine.js"} <= weights.keys()
    assert sum(weights.values()) <= MOST_BYTES, weights
