"""Deployments and goals built from plain values, without a file."""

import pytest

import calc
import will_it_fit as wif
from calc.answer.quickplan import deployment_plan, goal_plan, runs
from catalogue import ParamsError, load_deployment, load_scenario

R1 = {"model": "deepseek-r1", "card": "h200", "cards": 8}


def test_a_plan_gives_the_answer_of_the_scenario_file_that_says_the_same():
    plan = deployment_plan(**R1, users=64, input=219, output=201, engine="vllm@0.11.0",
                           precision="FP8", layout="TP8")
    scenario = load_scenario("h200-r1-vllm-tp8", overrides=[
        "workload.concurrency=64", "workload.requests=64", "workload.arrivals=closed-loop"])
    ours, theirs = (calc.estimate(one).seen.amounts() for one in (
        load_scenario(plan.file), scenario))
    assert {name: amount.value for name, amount in ours.items()} == {
        name: amount.value for name, amount in theirs.items()}


@pytest.mark.parametrize(("values", "engine", "precision", "layout"), [
    (R1, "vllm", "fp8-block", "TP8"),
    ({"model": "R1", "card": "910B2", "cards": 16}, "vllm-ascend", "w8a8-int8", "TP8×DP2/EP16"),
    ({"model": "V4-Flash", "card": "H20", "cards": 16}, "vllm", "fp8-mxfp4-w4a16",
     "2 replicas of TP8"),
    ({"model": "gpt-oss", "card": "rtx 4090", "cards": 6}, "vllm", "mxfp4-w4a16", "TP2×PP3"),
    ({"model": "llama-3.1-70b", "card": "gaudi3"}, None, "bf16", "TP8"),
])
def test_defaults_run_and_are_listed(values, engine, precision, layout):
    plan = deployment_plan(**values)
    scenario, = load_deployment(plan.file)
    assert runs(scenario)
    assert ((scenario.engine or "").partition("@")[0] or None, scenario.precision.id) == (
        engine, precision)
    chosen = [line.partition(":")[0] for line in plan.defaults]
    assert [f"engine {scenario.engine or 'none'}", f"precision {precision}", "users 1",
            "input 2048", "output 512", f"layout {layout}"] == chosen[-6:]


def test_no_layout_of_too_few_cards_fits_and_the_plan_says_so():
    plan = deployment_plan(model="r1", card="910B2", cards=8)
    assert plan.defaults[-1] == "layout TP8/EP8: no layout of 8 cards was found that fits"
    assert not calc.estimate(load_scenario(plan.file)).fits


def test_saved_files_are_answered_like_the_plans(tmp_path):
    card = tmp_path / "h200-fast.yml"
    card.write_text("name: {en: H200 fast, zh: H200 fast}\nlike: nvidia-h200-sxm\n"
                    "memory_bandwidth: {value: 6 TB/s, source: our data sheet, kind: assumed}\n")
    plan = deployment_plan(**R1 | {"card": card}, users=32, hits=0.5, tpot="p90 50 ms")
    path = tmp_path / "plans" / plan.file.path.name
    path.parent.mkdir()
    plan.save(path)
    mine, saved = load_scenario(plan.file), load_scenario(path)
    assert calc.estimate(saved).as_json() == calc.estimate(mine).as_json()
    assert saved.file.limits == mine.file.limits
    assert saved.device.memory_bandwidth.value == 6e12
    with pytest.raises(ParamsError, match="the file exists"):
        plan.save(path)
    goal = goal_plan(model="V4-Flash", card=["H20", card], cards=16, users=200, price="2 USD/h",
                     tpot="p90 33 ms", ttft="2 s", engine="vllm", objective="cards, tpot")
    path = tmp_path / "plans" / goal.file.path.name
    goal.save(path)
    assert calc.load_goal(path) == calc.load_goal(goal.file)


@pytest.mark.parametrize("build", [deployment_plan, goal_plan])
@pytest.mark.parametrize(("values", "sentence"), [
    ({"model": "r10"}, "--model: there is no model 'r10'.*R1"),
    ({"card": "h2000"}, "--card: there is no card 'h2000'.*H200"),
    ({"card": "910c"}, "--card: '910c' is a package.*write ascend-910c-die"),
    ({"cards": "eight"}, "--cards: 'eight' is not a number of cards"),
    ({"users": "many"}, "--users: .*'many' is not a quantity"),
    ({"input": "2 GB"}, "--input: .*'2 GB' has the wrong unit"),
    ({"hits": 2}, "--hits: .*at most 1"),
    ({"engine": "vllm@9x"}, "--engine: .*vllm has no release '9x'"),
    ({"precision": "fp9"}, "--precision: there is no precision 'fp9'"),
    ({"tpot": "soon"}, "--tpot: .*'soon' is not a quantity"),
])
def test_a_bad_value_gets_one_sentence_that_names_its_option(build, values, sentence):
    load = {deployment_plan: load_scenario, goal_plan: calc.load_goal}[build]
    with pytest.raises(ParamsError, match=f"(?s)^{sentence}"):
        load(build(**R1 | values, flags=True).file)


def test_unknown_names_are_reported_together():
    with pytest.raises(ParamsError, match=r"(?s)^model: .*\ncard: .*\nprecision: "):
        deployment_plan(model="r10", card="h2000", precision="fp9")


@pytest.mark.parametrize(("layout", "degrees"), [
    ("TP4", (4, 1, 2, 1)), ("PP2", (4, 2, 1, 1)), ("DP8/EP8", (1, 1, 8, 8)),
    ("EP8", (8, 1, 1, 8)), ("tp4 dp2 ep8", (4, 1, 2, 8))])
def test_degrees_that_a_layout_leaves_out_follow_from_the_cards(layout, degrees):
    plan = deployment_plan(**R1, layout=layout)
    assert tuple(plan.file.data["parallelism"].values()) == degrees
    assert load_scenario(plan.file).devices == 8


@pytest.mark.parametrize("price", ["2 EUR/h", "2", "cheap"])
def test_a_price_that_is_none_is_named(price):
    with pytest.raises(ParamsError, match=r"^price: '"):
        goal_plan(**R1, price=price)


@pytest.mark.parametrize(("layout", "sentence"), [
    ("TP0", "layout: 'TP0' is not a layout"),
    ("TPX", "layout: 'TPX' is not a layout, expected one such as TP8"),
    ("TP3", "layout: TP3 takes 6 cards, but cards is 8"),
])
def test_a_layout_that_cannot_be_used_is_named(layout, sentence):
    with pytest.raises(ParamsError, match=f"^{sentence}"):
        load_scenario(deployment_plan(**R1, layout=layout).file)


def test_answers_to_plain_values_show_as_tables():
    answer = calc.estimate(**R1, users=64, input=2048, output=1024)
    plan = deployment_plan(**R1, users=64, input=2048, output=1024)
    assert answer.as_json() == calc.estimate(load_scenario(plan.file)).as_json()
    frame, shown = answer.to_frame(), answer._repr_html_()
    assert {name: frame["value"][name] for name in answer.reported} == {
        name: amount.value for name, amount in answer.reported.items()}
    assert all(text in shown for text in (
        answer.verdict, answer.seen.tpot.text, *plan.defaults))


def test_reports_of_plain_values_show_as_tables():
    report = calc.search(model="R1", card="H20", cards=8, users=64, precision="fp8-block",
                         engine="vllm", tpot="100 ms")
    assert report.goal.limits.times == {"tpot": {"mean": 0.1}}
    frame, shown = report.to_frame(), report._repr_html_()
    assert list(frame["tpot"]) == [row.amounts["tpot"].value for row in report.rows]
    assert frame.loc[1, "layout"] == report.rows[0].row.choice.layout
    assert report.rows[0].amounts["tpot"].text in shown
    assert report.defaults[0] in shown


@pytest.mark.parametrize("ask", [calc.estimate, calc.search])
def test_neither_a_file_nor_values_is_a_type_error(ask):
    with pytest.raises(TypeError, match=r"expected a (scenario|goal), or"):
        ask()


@pytest.mark.parametrize(("call", "says"), [
    (lambda: wif.estimate(model="r1", card="h200", gpus=8), "unknown argument 'gpus', did you mean"
     " 'cards'?"),
    (lambda: wif.search(model="r1", card="h200", isl=8), "did you mean 'input'?"),
    (lambda: wif.estimate(model="r1"), "the argument 'card' is missing, such as estimate(model="),
    (lambda: wif.estimate({"model": "r1"}), "expected a name or a path, found dict; estimate("),
    (lambda: wif.estimate("plan.yml", users=3), "a scenario and 'users', expected one of them"),
    (lambda: wif.load("cards", "h200"), "there is no kind 'cards', expected one of models"),
    (lambda: wif.estimat, "did you mean 'estimate'?")])
def test_wrong_call_names_what_is_meant(call, says):
    with pytest.raises((TypeError, AttributeError, ParamsError)) as caught:
        call()
    assert says in str(caught.value)
