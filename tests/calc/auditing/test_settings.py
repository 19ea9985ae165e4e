"""Settings of the documents in the releases that serve their models."""

from __future__ import annotations

import pytest

from calc.auditing.settings import ASCEND, ruling
from catalogue.engine import load_engine
from catalogue.ledger import EngineSetting


def ruled(name, value=None, engine="vllm", claim="S1-000", section="0", **given):
    asked = EngineSetting(program="vLLM", engine=engine, name=name, value=value)
    return ruling(asked, claim, "s1", section, **given)


@pytest.mark.parametrize(("name", "value", "software", "state"), [
    ("max_model_len", 32768, None, "accepted"), ("max_model_len", "long", None, "type"),
    ("quantization", "awq", "cuda", "accepted"), ("quantization", "awq", ASCEND, "choice"),
    ("enforce_eager", None, None, "accepted"), ("expert_cache_size_gb", 40, None, "unknown"),
    # releases that had them are older than the models of the documents
    ("max_paddings", 512, None, "unknown"), ("use_v2_block_manager_of_old", 1, None, "unknown")])
def test_state_of_a_setting(name, value, software, state):
    """On Ascend the plug-in is asked about what it changes."""
    assert ruled(name, value, software=software).state == state


def test_releases_that_take_a_setting():
    """From the first to the last release that accepts it, all of which the catalogue has."""
    always, newer = ruled("max_model_len", 1024), ruled("--async-scheduling")
    versions = load_engine("vllm").versions
    assert newer.state == "accepted"
    assert always.until == newer.until == versions[-1]
    assert versions.index(always.since) < versions.index(newer.since)


def test_one_unknown_argument_stops_the_whole_command():
    port = {"name": "--port", "value": 8000}
    assert ruled(**port, section="3.5.1").beside == ("--max-chunked-prefill-tokens",)
    assert ruled(**port, section="4.1.1").beside == ()
    assert ruled("--max-chunked-prefill-tokens", 1, section="3.5.1").beside == ()


def test_reviewed_setting_keeps_its_finding_where_a_release_takes_it():
    """S1-288 was read in the program's source: it misses its aim."""
    assert ruled("max_num_seqs", 80, claim="S1-288").state == "misses"
    assert ruled("max_paddings", 80, claim="S1-288").state == "unknown"
