"""Which parameter files a program has read, or which keys of one."""

import catalogue


def recorded(target, monkeypatch):
    monkeypatch.setenv("PARAMS_RECORD", str(target))
    catalogue.reading.record._noted.clear()
    catalogue.load_scenario("s0-scenario-1")
    catalogue.names("devices")
    return target.read_text(encoding="utf-8").splitlines()


def test_loaded_files_are_recorded(tmp_path, monkeypatch):
    lines = recorded(tmp_path / "record.txt", monkeypatch)
    assert {"scenarios/s0-scenario-1.yml", "devices/ascend-910b2.yml", "models/deepseek-v3.yml",
            "devices/", "sources/"} <= set(lines)
    assert "devices/nvidia-h20.yml" not in lines
    assert len(lines) == len(set(lines))


def test_of_a_file_of_which_a_key_is_taken_only_that_is_recorded(tmp_path, monkeypatch):
    target = tmp_path / "record.txt"
    monkeypatch.setenv("PARAMS_RECORD", str(target))
    catalogue.reading.record._noted.clear()
    assert catalogue.devices_named("s0-cards") > {"ascend-910b2", "nvidia-a100-sxm-80gb"}
    assert catalogue.stated("s0-scenario-1", "no-such-key") == []
    assert [line for line in target.read_text(encoding="utf-8").splitlines()
            if not line.endswith(".ftl")  # words that modules keep count for all
            ] == ["scenarios/s0-cards.yml#device", "scenarios/s0-scenario-1.yml#no-such-key"]
    assert catalogue.devices_named("s0-cards") == {
        made.device.id for made in catalogue.load_family("s0-cards").deployments}


def test_what_is_remembered_is_recorded_like_what_is_read(tmp_path, monkeypatch):
    before = recorded(tmp_path / "first.txt", monkeypatch)
    assert set(recorded(tmp_path / "second.txt", monkeypatch)) == set(before)
