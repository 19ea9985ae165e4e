"""A directory is written whole, and nothing that somebody changed there is overwritten."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from unittest import mock

import pytest
from _door import sentence

from calc.launching.directory import MANIFEST, write

FILES = {"a.txt": "one\n", "nodes/b.sh": "#!/bin/sh\n"}


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8")
            for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_with_their_checksums(tmp_path):
    out = tmp_path / "missing" / "out"
    files = {"z.txt": "中\n", "a/b/c/run.sh": "#!/bin/sh\n"}
    assert write(out, files) == [out / name for name in (*files, MANIFEST)]
    assert json.loads((out / MANIFEST).read_text("utf-8")) == {
        name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    assert stat.S_IMODE((out / "a/b/c/run.sh").stat().st_mode) == 0o755
    assert not os.access(out / "z.txt", os.X_OK)
    assert list(out.parent.iterdir()) == [out]


def test_unchanged_files_are_replaced_and_others_stay(tmp_path):
    write(tmp_path, FILES)
    (tmp_path / "notes.txt").write_text("mine\n", encoding="utf-8")
    write(tmp_path, {"a.txt": "two\n"})
    found = contents(tmp_path)
    assert set(found) == {"a.txt", "notes.txt", MANIFEST}
    assert (found["a.txt"], found["notes.txt"]) == ("two\n", "mine\n")
    (tmp_path / "a.txt").write_text("three\n", encoding="utf-8")
    write(tmp_path, {"a.txt": "three\n"})  # as it will be: no change


@pytest.mark.parametrize("change", [
    lambda out: (out / "a.txt").write_text("mine\n", encoding="utf-8"),
    lambda out: (out / MANIFEST).unlink(),
    lambda out: (out / MANIFEST).write_text(json.dumps({"../outside": "0"}), encoding="utf-8"),
    lambda out: ((out / "a.txt").unlink(), (out / "a.txt").mkdir()),
    lambda out: ((out / "a.txt").unlink(), (out / "a.txt").symlink_to("/etc/hostname")),
    lambda out: ((out / "nodes").rename(out.parent / "aside"),
                 (out / "nodes").symlink_to(out.parent / "aside"))])
def test_changed_directory_is_left_alone(tmp_path, change):
    out = tmp_path / "out"
    write(out, FILES)
    change(out)
    before = contents(tmp_path)
    sentence(write, out, {"a.txt": "two\n", "nodes/b.sh": "three\n"})
    assert contents(tmp_path) == before


@pytest.mark.parametrize("before", [{}, FILES])
@pytest.mark.parametrize("moved", [0, 1, 2])
def test_killed_write_is_continued(tmp_path, before, moved):
    replace, moves = Path.replace, []
    if before:
        write(tmp_path, before)

    def killed(self, target):
        if len(moves) == moved:
            raise KeyboardInterrupt
        moves.append(target)
        return replace(self, target)

    after = {"a.txt": "two\n", "c.txt": "new\n"}
    with mock.patch.object(Path, "replace", killed), pytest.raises(KeyboardInterrupt):
        write(tmp_path, after)
    write(tmp_path, after)
    found = contents(tmp_path)
    assert set(found) == {*after, MANIFEST}
    assert found.items() > after.items()


def test_other_places_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine\n", encoding="utf-8")
    assert "not a will-it-fit output directory" in sentence(write, tmp_path, FILES)
    assert "a file, expected a new" in sentence(write, tmp_path / "notes.txt", FILES)
