"""What ``estimate`` prints of answers that are written down here: each number in its place."""

from dataclasses import replace
from types import SimpleNamespace as Made

import pytest
from _options import printed

import catalogue
from calc.answer.compare_engines import Difference, Replaced
from calc.answer.estimate import CAPACITY, Comparison
from calc.answer.two_pools import Pools
from calc.commands import compared
from calc.commands import estimate as command
from calc.evidence.classes import own_errors
from calc.searching.same_cards import Advice, Alternatives
from catalogue import ParamsError

SCENARIO = catalogue.load_scenario("h200-r1-vllm-tp8")


def advice(precision, rate):
    return Advice({"precision": precision}, precision, {"output_throughput": rate, "tpot": 0.05})


def test_what_else_would_do_on_the_same_cards():
    one, two = advice("a", 100.0), advice("b", 50.0)
    assert command.searched_lines(Alternatives(one, two, None, "fp8", 1234), SCENARIO) == [
        "On the same cards, of 1,234 deployments that were tried:",
        "  best in its precision (b): 50 token/s, a token every 50 ms; --set precision=b",
        "  best in any (a): 100 token/s, a token every 50 ms; --set precision=a",
        "  best in the published weights: none fits."]
    itself = replace(two, settings={})
    assert command.searched_lines(Alternatives(None, None, itself, None, 5), SCENARIO)[1:] == [
        "  best in its precision: none fits.", "  best in any: none fits.",
        "  best in the published weights (b): 50 token/s, a token every 50 ms; as it is"]
    assert len(command.searched_lines(Alternatives(one, one, None, None, 5), SCENARIO)) == 3
    assert command.searched_lines(Alternatives(None, None, None, None, 0), SCENARIO) == []


def test_two_pools_by_requests_and_by_tokens():
    """Rates are of requests; in tokens of answers, of 200 each, they are so many times as large."""
    loop = Made(users=64.0, rate=1.9, ttft=0.5, tpot=0.04, decoding=48.0)
    pair = Pools(3000.0, 200.0, 8, 16, {"prefill": 2.0, "decode": 3.0, "transfer": 9.0}, "prefill",
                 2.0, 0.1, 9.6, 2.4, (2, 3), 2.2, loop)
    assert command.pools(pair) == [
        "Two pools, 8 cards that prefill and 16 that decode, requests of 3,000 and 200 tokens.",
        "Prefill finishes 2 request/s, decode finishes 3 request/s, transfers deliver 9 request/s: "
        "prefill binds, 400 token/s.",
        "In balance 9.6 of 24 cards prefill: 480 token/s; of whole groups 2 and 3: 440 token/s.",
        "Closed loop of 64 users: 380 token/s, TTFT 500 ms, TPOT 40 ms, 48 decode."]


def arriving(steady, **workload):
    asked = Made(**{"concurrency": Made(value=1000), "arrival_rate": None, "think_time": None}
                 | workload)
    return command.arrivals(Made(file=Made(workload=asked), inputs=SCENARIO.inputs),
                            Made(**{"keeps_up": True, "in_flight": 500.0} | steady))


RATE = Made(written="2 request/s", value=2)


@pytest.mark.parametrize(("arrivals", "workload", "told"), [
    ("burst", {}, ["1,000 users who each ask again right after the answer; 500 in flight.",
                   "those of the burst."]),
    ("closed-loop", {"think_time": Made(value=5.0)},
     ["1,000 users who each ask again 5 s after the answer; 500 in flight.",
      "those of the steady state."]),
    ("poisson", {"arrival_rate": RATE}, ["independent arrivals, 2 request/s; 500 in flight.",
                                         "those of the steady state."]),
    (None, {}, ["1,000 users who each ask again right after the answer; 500 in flight.",
                "The scenario names no arrivals"])])
def test_how_requests_arrive(arrivals, workload, told):
    lines = arriving({"arrivals": arrivals}, **workload)
    assert lines[0] == "Burst: 1,000 requests arrive at once."
    assert lines[1] == f"Steady state: {told[0]}"
    assert told[1] in lines[-1]
    benchmark = "Benchmark: 1,000 requests, 1,000 of them together at the beginning, each other " \
        "one after an answer; all equally long."
    assert lines[2:-1] == ([] if arrivals == "poisson" else [benchmark])


def test_a_rate_that_nothing_keeps_up_with():
    lines = arriving({"arrivals": "poisson", "keeps_up": False}, arrival_rate=RATE)
    assert lines[1:] == ["Steady state: there is none, 2 request/s is more than 1,000 requests in "
                         "flight let out; the queue grows without end."]


@pytest.mark.parametrize(("share", "often"), [
    (0.25, "25.0%"), (0.001, "0.1%"), (0.0009, "less than 0.1%")])
def test_how_full_the_cache_is(share, often):
    lasting = Made(cache={"cache_overflow": share, "cache_occupied": 0.876})
    full, short = command._cache(Made(lasting=lasting, suffices_steadily=True))
    assert full == ("Cache in the steady state: requests take 87.6% of its blocks on average, and "
                    f"more than there are in {often} of the steps, where one waits or loses its "
                    "blocks.")
    assert short.endswith(f"except in {often} of the steps.")
    assert command._cache(Made(lasting=lasting, suffices_steadily=False)) == [full]
    assert command._cache(Made(lasting=None)) == command._cache(Made(lasting=Made(cache={}))) == []


def test_why_it_does_not_run_and_what_was_calibrated():
    def change(name):
        return Made(text={"en": name, "zh": name}, settings={"precision": name})

    applied = Made(metric="tpot", scenario="theirs", name="fit", outside=[
        Made(quantity="tpot", value=0.05, fitted_range=(0.01, 0.02)),
        Made(quantity="input_tokens", value=64, fitted_range=(8.0, 8.0))])
    why = Made(text={"en": "Why.", "zh": "因。"})
    lines = command._explained(Made(reasons=[why], changes=[change("one"), change("two")],
                                    applied=applied))
    assert lines[:6] == ["Why.", "Nearest: one", "    --set precision=one", "Or: two",
                         "    --set precision=two",
                         "Calibrated to time per output token of theirs (fit)."]
    assert "time per output token 50 ms, fitted at 10–20 ms" in lines[6]
    assert "64 token/request, fitted at 8 token/request" in lines[7]
    none = command._explained(Made(reasons=[why], changes=[], applied=None))
    assert none == ["Why.", "No precision, cut or number of these cards was found that runs it."]
    assert command._explained(Made(reasons=[], changes=[], applied=None)) == []


def test_how_many_rows_lay_inside():
    of = own_errors(SCENARIO)["tpot"].of
    own = Made(of=of, metric="tpot", inside=7, rows=9)
    line, = command._measured(Made(reported={"tpot": Made(own_error=own), "x": Made(own_error=None),
                                             "e2e": Made(own_error=own)}))
    assert line.count("7 of 9") == 2
    assert "time per output token" in line


def test_parts_sum_to_the_median_that_is_told():
    """Parts at central values are scaled by what the median is over them; the largest first."""
    result = Made(unasked=frozenset(), quantities={"tpot": Made(value=0.1, central=0.05)},
                  parts={"tpot": {"weights": 0.03, "host": -0.01, "idle": 0.0, "links": 0.02,
                                  "sums": 0.01}, "prefill_chunk": {"weights": 0.3}},
                  bottleneck={"decode": "memory_bandwidth", "prefill": CAPACITY})
    lines = printed(command._print_parts, result)
    cells = [line.split(" | ")[1:] for line in lines if " | " in line]
    assert cells == [["time", "share"], ["60 ms", "60.0%"], ["40 ms", "40.0%"],
                     ["−20 ms", "-20.0%"], ["20 ms", "20.0%"],
                     ["time", "share"], ["300 ms", "100.0%"]]
    titles = " ".join(line for line in lines if " | " not in line)
    assert "100 ms" in titles
    assert "bound by memory bandwidth" in titles
    assert titles.count("bound by") == 1
    result.unasked = {"prefill_chunk"}
    assert sum(" | " in line for line in printed(command._print_parts, result)) == 5


def test_the_document_beside_ours():
    rows = (Comparison("tpot", "s", "3.1", 0.05, 0.06, None),
            Comparison("ttft", "s", None, 0.5, None, 0.7))
    assert printed(command._print_documented, rows)[2:] == [
        "time per output token | 3.1 | 50 ms | 60 ms | –",
        "time to first token |  | 500 ms | – | 700 ms"]


def test_engines_one_value_at_a_time():
    effects = {"tpot": 1.25, "ttft": 0.5, "output_throughput": 1.0, "max_concurrency": 1.001}
    found = Difference("vllm@1", "sglang@2", (
        Replaced("kernel_boundary", "kernel_boundary", 1e-6, 2e-6, None, effects),
        Replaced("mixed_steps", "mixed_steps", 0.0, 1.0, None, effects)), effects)
    lines = printed(compared._print, found)
    assert lines[-3].split(" | ")[1:] == ["1 µs", "2 µs", "+25.0%", "-50.0%", "+0.0%", "+0.1%"]
    assert lines[-2].split(" | ")[3:] == ["+25.0%", "-50.0%", "+0.0%", "+0.1%"]
    assert lines[-2].split(" | ")[1] != lines[-2].split(" | ")[2]
    assert lines[-1].split(" | ")[1:] == ["", "", "+25.0%", "-50.0%", "+0.0%", "+0.1%"]


def test_engines_stand_side_by_side_in_what_all_of_them_have():
    def result(value, fits, *names):
        told = {name: Made(low=value / 2, value=value, high=value * 2, unit="s") for name in names}
        return Made(fits=fits, reported=told, quantities=told)

    plans = [Made(engine=name, heading={"en": "A plan", "zh": "方案"}) for name in ("a", None)]
    table = compared._beside(plans, [result(0.02, True, "tpot", "ttft"),
                                     result(0.04, False, "tpot")])
    assert printed(lambda screen: screen.print(table)) == [
        "A plan", "quantity | a | ", "fits | yes | no",
        "time per output token | 20 ms (10 ms – 40 ms) | 40 ms (20 ms – 80 ms)"]


@pytest.mark.parametrize("text", ["vllm", "vllm,", ",vllm", "vllm,,sglang", ""])
def test_engines_are_two_or_more(text):
    with pytest.raises(ParamsError, match="expected two engines or more"):
        compared.run(Made(engines=text))


# --- the whole ------------------------------------------------------------------------------------


def whole(spare, fits, **more):
    """What is printed of an answer in which nothing else is told."""
    found = Made(**({"spare": spare, "fits": fits, "fits_in": None, "reasons": [], "changes": [],
                     "applied": None, "reported": {}, "lasting": None,
                     "unasked": ("tpot", "prefill_chunk"), "documented": ()} | more))

    def on(screen):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(command, "console", lambda: screen)
            command.print_estimate(SCENARIO, found)

    return printed(on)


@pytest.mark.parametrize(("spare", "fits", "told"), [
    (3e9, True, "fits, 3 GB per device to spare"), (0.0, True, "fits, 0 B per device to spare"),
    (-2e9, False, "does not fit, 2 GB per device short"),
    (0.0, False, "does not run as asked, 0 B per device to spare"),
    (5e9, False, "does not run as asked, 5 GB per device to spare")])
def test_the_verdict_is_of_memory_first(spare, fits, told):
    lines = whole(spare, fits)
    tokens = f"{SCENARIO.inputs()['context_tokens']:,.0f} tokens"
    assert lines[0] == f"{SCENARIO.heading['en']}: {told}, every request at its longest ({tokens})."
    assert not any("of the draws" in line for line in lines)


def test_in_how_many_draws_it_fits_is_told_where_they_differ():
    assert whole(1.0, True, fits_in=0.456)[1] == (
        "Over the ranges of all inputs it fits in 46% of the draws.")


def test_what_is_exact_is_told_without_an_interval():
    amounts = {"tpot": Made(exact=False, low=0.04, high=0.06, unit="s", kind="estimate"),
               "kv_blocks": Made(exact=True, unit="block", kind="exact")}
    for each in amounts.values():
        each.own_error, each.text_in = None, lambda language: "its value"
    lines = whole(1.0, True, reported=amounts)
    assert [line.split(" | ") for line in lines[-2:]] == [
        ["time per output token", "its value", "40–60 ms", "estimate"],
        ["KV blocks of a replica", "its value", "", "exact"]]
