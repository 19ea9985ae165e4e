"""A directory is written whole, and nothing that stood there is lost."""

import errno
import json
import os
from pathlib import Path

import pytest
from _door import sentence

from calc.launching.directory import MANIFEST, write

FILES = {"a.txt": "one\n", "nodes/b.sh": "#!/bin/sh\n"}


def stands(folder):
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8")
            for path in folder.rglob("*") if path.is_file()}


def test_files_and_a_manifest_are_written_and_scripts_can_run(tmp_path):
    write(tmp_path / "out", FILES)
    found = stands(tmp_path / "out")
    assert set(found) == {*FILES, MANIFEST}
    assert os.access(tmp_path / "out" / "nodes" / "b.sh", os.X_OK)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_ours_and_unchanged_is_replaced_and_what_is_left_out_goes(tmp_path):
    write(tmp_path / "out", FILES)
    write(tmp_path / "out", {"a.txt": "two\n"})
    assert set(stands(tmp_path / "out")) == {"a.txt", MANIFEST}
    assert stands(tmp_path / "out")["a.txt"] == "two\n"


@pytest.mark.parametrize("spoil", [
    lambda folder: (folder / "a.txt").write_text("mine\n", encoding="utf-8"),
    lambda folder: (folder / MANIFEST).unlink(),
    lambda folder: (folder / MANIFEST).write_text("[]", encoding="utf-8"),
    lambda folder: (folder / MANIFEST).write_text("{", encoding="utf-8"),
    lambda folder: (folder / MANIFEST).write_text(
        json.dumps({"../outside": "0"}), encoding="utf-8"),
    lambda folder: ((folder / "a.txt").unlink(), (folder / "a.txt").symlink_to("/etc/hostname")),
])
def test_what_somebody_changed_stops_it_before_anything_is_written(tmp_path, spoil):
    write(tmp_path / "out", FILES)
    spoil(tmp_path / "out")
    before = stands(tmp_path / "out")
    sentence(write, tmp_path / "out", {"a.txt": "two\n", "nodes/b.sh": "three\n"})
    assert stands(tmp_path / "out") == before


@pytest.mark.parametrize("before", [{}, FILES])
@pytest.mark.parametrize("moved", [0, 1, 2])
def test_killed_at_any_moment_the_same_goes_on(tmp_path, monkeypatch, before, moved):
    """An empty directory, or one with other files of ours: neither is somebody else's then."""
    folder, replace, done = tmp_path / "out", Path.replace, []
    folder.mkdir()
    if before:
        write(folder, before)

    def killed(self, target):
        if len(done) == moved:
            raise KeyboardInterrupt
        done.append(target)
        return replace(self, target)

    after = {"a.txt": "two\n", "c.txt": "new\n"}
    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write(folder, after)
    monkeypatch.undo()
    write(folder, after)
    assert set(stands(folder)) == {*after, MANIFEST}
    assert stands(folder).items() > after.items()


def test_a_file_of_the_readers_own_beside_ours_stays(tmp_path):
    write(tmp_path / "out", FILES)
    (tmp_path / "out" / "notes.txt").write_text("mine\n", encoding="utf-8")
    write(tmp_path / "out", {"a.txt": "two\n"})
    assert stands(tmp_path / "out")["notes.txt"] == "mine\n"


def test_a_folder_that_is_not_ours_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine\n", encoding="utf-8")
    assert "not empty and not ours" in sentence(write, tmp_path, FILES)
    assert stands(tmp_path) == {"notes.txt": "mine\n"}


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine\n", encoding="utf-8")
    assert "is no directory" in sentence(write, tmp_path / "out", FILES)


@pytest.mark.parametrize("before", [False, True])
def test_a_full_disk_is_one_sentence_and_leaves_what_stood(tmp_path, monkeypatch, before):
    if before:
        write(tmp_path / "out", FILES)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    stood = stands(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    assert "no space left on device" in sentence(write, tmp_path / "out", {"a.txt": "two\n"})
    assert stands(tmp_path) == stood
    assert (tmp_path / "out").exists() == before
