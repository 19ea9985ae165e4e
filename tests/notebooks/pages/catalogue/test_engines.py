"""A document's settings are counted once each and held against every pinned release."""

import pytest

from catalogue.engines.engine import launch_blocks, load_engine
from notebooks.pages.catalogue import engines

VLLM = load_engine("vllm")


@pytest.mark.parametrize("document", ["s0", "s1", "s3"])
def test_a_setting_is_counted_once_in_any_spelling(document):
    settings = engines.settings(document)
    given = {name.lstrip("-").replace("-", "_") for block in launch_blocks(document)
             if block.engine for name in block.settings}
    assert set(settings) == given
    for setting in settings.values():
        assert len(setting.sections) == len(set(setting.sections))


def test_of_several_values_the_worst_verdict_counts():
    taken, refused = "auto", "no-such-type"
    several = engines.Setting("--dtype", VLLM, [taken, refused])
    order = list(engines.MARKS)
    for version, verdict in several.verdicts.items():
        alone = [VLLM.judge("--dtype", value, version) for value in (taken, refused)]
        assert verdict == max(alone, key=order.index)
    assert set(several.verdicts.values()) != {"accepted"}


def test_what_no_release_knows_never_existed():
    assert engines.Setting("--max-chunked-prefill-tokens", VLLM, [1]).never
    assert not engines.Setting("--max-model-len", VLLM, [1]).never


def test_releases_that_know_all_settings_are_those_that_know_each():
    names = ("--swap-space", "--data-parallel-size")
    settings = {name: engines.Setting(name, VLLM, [1]) for name in names}
    invented = {"x": engines.Setting("--no-such-option", VLLM, [1])}  # no release: does not count
    expected = [version for version in VLLM.versions
                if all(VLLM.exists(name, version) for name in names)]
    assert engines.common_releases(settings | invented, VLLM) == expected
    assert 0 < len(expected) < len(VLLM.versions)


def test_a_metric_lasts_if_no_release_lacks_it():
    since = VLLM.versions[len(VLLM.versions) // 2]
    lasting = set(engines.lasting(VLLM, since))
    later = VLLM.versions[VLLM.versions.index(since):]
    for name in VLLM.entries["metrics"]:
        assert (name in lasting) == all(VLLM.exists(name, version) for version in later)


def test_an_unknown_option_or_value_stops_a_command():
    block = next(block for block in engines.commands("s1") if block.section == "3.5.2")
    for version in VLLM.versions:
        refused = engines.refused(block, VLLM, version)
        assert "--max-chunked-prefill-tokens" in refused
        assert set(refused) <= set(block.settings)
