"""Requests longer than the positions of a model are refused wherever a deployment is asked for."""

import json

import pytest

R1, POSITIONS = "h200-r1-vllm-tp8", 163_840
MILLION = "--set=workload.context_tokens=1000000"
GOAL = "r1-64-users-8xh20"


def refuses(said):
    """Whether it is one sentence that names the requests, the positions and what to shorten."""
    return (said.count("\n") == 1 and "1,000,000 tokens" in said and f"{POSITIONS:,}" in said
            and "context_tokens" in said)


@pytest.mark.parametrize("asked", [
    ("cost", R1), ("decide", R1), ("capacity", R1, "--cards"),
    ("estimate", R1, "--engines=vllm@0.11.0,sglang@0.5.6")])
def test_commands_refuse_in_one_sentence(cli, asked):
    code, out, error = cli(*asked, MILLION)
    assert (code, out) == (2, "")
    assert refuses(error)


@pytest.mark.parametrize(("tokens", "fits"), [(POSITIONS, True), (POSITIONS + 1, False)])
def test_estimate_fits_up_to_the_last_position(cli, tokens, fits):
    code, out, _ = cli("estimate", R1, "--json", "--set=workload.concurrency=1",
                       "--set=workload.requests=1", f"--set=workload.context_tokens={tokens}")
    answer = json.loads(out)
    assert (code, answer["fits"], "startup_line" in answer) == (0, fits, fits)
    assert [reason["kind"] for reason in answer.get("reasons", ())] == (
        [] if fits else ["context"])
    assert fits or answer["searched"]["best"] is None


def test_search_finds_nothing_and_says_why(cli):
    code, out, _ = cli("search", GOAL, "--set=demand.context_tokens=1000000", "--json",
                       "--workers=1")
    assert code == 3
    assert refuses(f"{json.loads(out)['why']}\n")
