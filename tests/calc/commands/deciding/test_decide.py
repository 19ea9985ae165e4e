"""``decide``: what a decision hangs on, from the command line."""

import json
import re
from itertools import product

import pytest
from _options import ABSURD, ended_well

NARROW = "parallelism.tensor_parallel=16,parallelism.data_parallel=1"
EVEN = ("--breakeven=network_alpha", f"--against={NARROW}", "--set=precision=w8a8-int8")
BUY = ("--information", "--demand=2000 token/s", "--late=2")


def answer(cli, *args):
    code, out, err = cli("decide", *args, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_what_decides_is_told_first(cli):
    code, out, _ = cli("decide", "h200-r1-sglang-tp8")
    first, second, *_ = out.splitlines()
    assert code == 0
    assert re.fullmatch(r"h200-r1-sglang-tp8: time per output token [0-9.]+ ms\.", first)
    told = answer(cli, "h200-r1-sglang-tp8", "--tornado")["tornado"]["bars"]
    inputs = [bar["name"].replace("_", " ") for bar in told if bar["name"] != "own_error"]
    assert second.startswith(f"What decides: {inputs[0]}, ")


def test_it_is_told_where_no_input_decides_as_much_as_what_nobody_knows(cli):
    _, out, _ = cli("decide", "h200-r1-sglang-mtp")
    assert "only running the deployment tells" in out.splitlines()[1]
    first = answer(cli, "h200-r1-sglang-mtp", "--tornado")["tornado"]["bars"][0]
    assert first["name"] == "own_error"


def test_everything_at_once(cli):
    found = answer(cli, "s2-910b1-awq", "--elasticities", "--tornado", "--sensitivity",
                   "--samples=64", "--quantity=ttft")
    assert found.keys() == {"schema", "version", "asked", "scenario", "quantity", "unit",
                            "elasticities", "tornado", "sensitivity"}
    assert found["quantity"] == "ttft"
    assert found["sensitivity"]["evaluations"] == 64 * (2 + len(found["sensitivity"]["indices"]))


def test_a_break_even(cli):
    found = answer(cli, "s0-scenario-1", *EVEN)["breakeven"]
    turn, = found["turns"]
    assert turn["at"] == pytest.approx(16.11e-6, rel=1e-3)
    assert (turn["before"], turn["after"], turn["kind"]) == ("second", "first", "crossing")
    _, out, _ = cli("decide", "s0-scenario-1", *EVEN)
    assert f"{NARROW} is better at first," in out
    assert "from 16.1 µs on s0-scenario-1, precision=w8a8-int8, where memory is too small" in out
    assert "With all other inputs within their ranges it turns from " in out
    assert found["doubt"]["low"] < turn["at"] < found["doubt"]["high"]
    assert "does not fit its memory as it is." in out


def test_never_is_an_answer(cli):
    found = answer(cli, "s0-scenario-1", "--set=precision=w8a8-int8", f"--against={NARROW}",
                   "--breakeven=all_links")["breakeven"]
    assert (found["always"], found["turns"]) == ("first", [])


def test_owning_against_a_service(cli):
    args = ("h200-r1-sglang-tp8", "--breakeven=utilisation", "--against=deepseek-api")
    found = answer(cli, *args)["breakeven"]
    turn, = found["turns"]
    assert 0 < found["doubt"]["low"] < turn["at"] < found["doubt"]["high"] < 1
    dear = answer(cli, *args, "--price=100 USD")["breakeven"]
    assert (dear["always"], dear["second"]) == ("second", "DeepSeek's own service")
    _, out, _ = cli("decide", *args)
    assert f"h200-r1-sglang-tp8 from {turn['at']:.1%} on (80% interval " in out


def test_worth_of_measuring_is_told_in_money(cli):
    choice = ("--information", f"--against={NARROW}", "--set=precision=w8a8-int8")
    hours, money = (answer(cli, "s0-scenario-1", *choice, *price)["information"]
                    for price in ((), ("--price=2 USD",)))
    assert hours["unit_of_losses"] == "card-hours per million tokens"
    assert money["unit_of_losses"] == "USD per million tokens"
    assert money["perfect"] == pytest.approx(2 * hours["perfect"])
    assert money["worths"][0]["value"] <= money["perfect"]


def test_how_many_cards_to_buy(cli):
    found = answer(cli, "h200-r1-sglang-tp8", "--information", "--demand=50000 token/s",
                   "--late=2")["information"]
    assert found["unit_of_losses"] == "cards"
    assert found["taken"] == "48 cards"
    assert found["worths"][0]["name"] == "own_error"
    code, out, _ = cli("decide", "h200-r1-sglang-tp8", "--information", "--demand=512 request",
                       "--late=2", "--limit=tpot=50 ms", "--samples=1024")
    assert code == 0
    assert "Cards needed: " in out


def test_under_a_limit(cli):
    found = answer(cli, "h200-r1-sglang-tp8", "--breakeven=workload.input_tokens",
                   "--against=pools", "--quantity=throughput_per_card", "--limit=tpot=90 ms",
                   "--between=1,4096")["breakeven"]
    after = [turn["after"] for turn in found["turns"]]
    assert after[-1] == "second"  # few tokens come in steps, where either may be better


@pytest.mark.parametrize(("option", "value"), [
    *product(("--quantity", "--breakeven", "--between", "--margin", "--limit", "--against"),
             (*ABSURD, "tpot", "tpot=50 ms", "1,2", "workload.", "mechanisms.kernel_boundary=1 us",
              "no-such-scenario", "workload.concurrency=4,", "=", ",", "../x"))])
def test_an_option_of_a_break_even(cli, option, value):
    others = [other for other in EVEN if not other.startswith(f"{option}=")]
    assert ended_well(cli("decide", "s0-scenario-1", *others, f"{option}={value}", "--json"))


@pytest.mark.parametrize(("option", "value"), [
    *product(("--demand", "--late", "--price", "--samples"),
             (*ABSURD, "2 USD", "0 USD", "1 token/s", "1024"))])
def test_an_option_of_a_purchase(cli, option, value):
    others = [other for other in BUY if not other.startswith(f"{option}=")]
    assert ended_well(cli("decide", "s2-910b1-awq", *others, f"{option}={value}", "--json"))


@pytest.mark.parametrize(("args", "said"), [
    (("--breakeven=concurrency",), "expected --against beside it"),
    ((f"--against={NARROW}",), "expected --breakeven PATH or --information"),
    (("--information",), "expected a choice, --against, or a purchase, --demand"),
    (("--information", "--demand=1 token/s"), "expected --late FACTOR"),
    ((*BUY[:1], "--demand=9 request", "--late=2"), "expected --limit tpot=VALUE beside it"),
    ((*BUY, "--limit=headroom_per_device=1 B"), "by the time per token, expected tpot"),
    (("--information", "--demand=1 token/s", "--late=2", "--quantity=tpot"), "nor --quantity"),
    (("--information", f"--against={NARROW}", "--quantity=tpot", "--price=2 USD"),
     "has no place beside tpot"),
    (("--breakeven=utilisation", "--against=deepseek-api"), "no price of an hour"),
    (("--breakeven=utilisation", "--against=deepseek-api", "--price=2 USD"),
     "states no length of prompts"),
    (("--breakeven=utilisation", "--against=deepseek-api", "--price=2"), "price"),
    (("--breakeven=utilisation", "--against=nobody"), "nobody"),
    (("--quantity=ttft",), "states no length of prompts"),
    (("--quantity=speed",), "there is no such quantity"),
    (("--quantity=steady_tpot",), "states no length of prompts"),
])
def test_what_does_not_go_together_is_one_sentence(cli, args, said):
    code, _, err = cli("decide", "s0-scenario-1", *args)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("quantity", ["kv_blocks", "max_concurrency"])
def test_a_quantity_of_which_there_is_nothing_has_no_elasticity(cli, quantity):
    """It does not fit, so it holds no request: a per cent of nothing is no number."""
    code, _, err = cli("decide", "s0-scenario-1", "--json", "--elasticities",
                       f"--quantity={quantity}")
    assert code == 2
    assert f"--quantity {quantity}: it is 0" in err
