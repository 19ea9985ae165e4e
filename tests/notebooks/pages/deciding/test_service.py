"""The chapter from scenario to service: what it says of thresholds, and files shown as text."""

from types import SimpleNamespace

import pytest

from calc.uncertainty.amount import Amount
from catalogue.engines.engine import launch_blocks, load_engine
from catalogue.engines.thresholds import thresholds
from notebooks.pages.catalogue import engines
from notebooks.pages.deciding import service as page


def threshold(above, value):
    known = thresholds("s1")[-1]
    return type(known)(**{**vars(known), "above": above, "value": value})


@pytest.mark.parametrize(("above", "value", "says"), [
    (True, 0.5, "always"), (True, 5.0, "silent"), (True, 2.0, "perhaps"),
    (False, 5.0, "always"), (False, 0.5, "silent"), (False, 2.0, "perhaps")])
def test_a_printed_threshold_beside_a_prediction(above, value, says):
    of = Amount(2.0, 1.0, 4.0, "s")
    assert page.fires(threshold(above, value), of)[0].startswith(says)


@pytest.mark.parametrize("document", ["s0", "s1"])
def test_metrics_beside_thresholds_are_of_a_release(document):
    engine = load_engine("vllm")
    for each in thresholds(document):
        assert all(engine.find(name) is not None for name in each.metrics)


@pytest.mark.parametrize("document", ["s0", "s1"])
def test_what_is_compared_does_run(document):
    made = page.of_document(document)
    assert made.watched[0].predicted.tpot.low > 0
    assert made.pools[0].scenario.file.document == document


@pytest.mark.parametrize("document", ["s0", "s1"])
def test_what_no_release_knows_is_on_both_pages_the_same_but_for_names_of_metrics(document):
    engine = load_engine(page.HELD[document])
    here = {name for name in page._named(document) if engine.find(name) is None}
    there = {name for name, each in engines.settings(document).items() if each.never}
    metrics = {name for block in launch_blocks(document) if block.form == "metrics"
               for name in block.settings}
    assert {page.bare(name) for name in here} == {page.bare(name) for name in there - metrics}


def test_a_file_is_shown_as_it_is(monkeypatch):
    shown = []
    monkeypatch.setattr(page, "show", lambda en, zh: shown.append(en))
    hostile = SimpleNamespace(files={"a.sh": "# ``` ````\n{glue}`x`\n"})
    page.text_of(hostile, "a.sh")
    assert shown == ["`a.sh`\n\n`````bash\n# ``` ````\n{glue}`x`\n`````"]


def test_the_picture_shows_where_alerts_begin():
    made = page.deployment("h200-r1-vllm-tp8")
    texts = [text.get_text() for text in page._picture(made, "en").axes[0].texts]
    alerts = {alert.name: alert for alert in made.watched[0].alerts}
    limit = alerts["ThroughputBelowPrediction"].threshold
    assert f"alert below {limit:,.0f} token/s" in texts


def test_a_replacement_that_only_later_releases_have_is_told_as_one():
    engine = load_engine("vllm")
    assert page._instead(engine, ("--max-num-seqs",), "0.13.0") == "`--max-num-seqs`"
    english, chinese = page._instead(engine, ("--watermark",), "0.13.0")
    assert english.startswith("nothing in 0.13.0; `--watermark`")
    assert "`--watermark`" in chinese
    assert page._instead(engine, ("--watermark",), "0.26.0") == "`--watermark`"


def test_flags_of_a_script_with_and_without_a_value():
    script = "a=(\n  # why\n  --block-size 64\n  --enable-chunked-prefill\n)\nexec x --port 1\n"
    made = SimpleNamespace(files={"nodes/a.sh": script, "bench/run.sh": "  --seed 1\n"})
    assert page._flags(made) == {"--block-size": "64", "--enable-chunked-prefill": ""}


def test_both_levels_of_a_threshold_are_named():
    two = next(each for each in thresholds("s0") if each.second)
    assert "(warning)" in page._printed(two)[0]
    assert page._printed(thresholds("s1")[0]).startswith("<")
