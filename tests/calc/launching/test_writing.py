"""A directory is written whole, and nothing that stood there is lost."""

import errno
import hashlib
import json
import os
import stat
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


def test_paths_are_told_and_their_sums_stand_in_the_manifest(tmp_path):
    """Into an empty directory too, whatever folders it lacks; what is no script does not run."""
    out = tmp_path / "out"
    out.mkdir()
    files = {"z.txt": "中\n", "a/b/c/run.sh": "#!/bin/sh\n"}
    assert write(out, files) == [out / name for name in (*files, MANIFEST)]
    assert (out / MANIFEST).read_text("utf-8") == json.dumps({
        name: hashlib.sha256(files[name].encode()).hexdigest() for name in sorted(files)},
        indent=1) + "\n"
    assert stat.S_IMODE((out / "a/b/c/run.sh").stat().st_mode) == 0o755
    assert not os.access(out / "z.txt", os.X_OK)
    assert list(tmp_path.iterdir()) == [out]
    write(out, {})
    assert stands(out) == {MANIFEST: "{}\n"}


def test_what_stands_there_as_it_will_be_is_no_change(tmp_path):
    """Also where the manifest has other sums of it, as after a write that was cut off."""
    write(tmp_path / "out", FILES)
    (tmp_path / "out" / "a.txt").write_text("two\n", encoding="utf-8")
    write(tmp_path / "out", {**FILES, "a.txt": "two\n"})
    (tmp_path / "out" / "a.txt").unlink()
    write(tmp_path / "out", FILES)
    assert stands(tmp_path / "out")["a.txt"] == "one\n"


@pytest.mark.parametrize("spoil", [
    lambda out: ((out / "a.txt").unlink(), (out / "a.txt").mkdir()),
    lambda out: (out / "nodes" / "b.sh").write_text("mine", encoding="utf-8"),
    lambda out: ((out / "a.txt").rename(out / "b.txt"), (out / "a.txt").symlink_to(out / "b.txt"))])
def test_a_file_that_somebody_changed_is_named(tmp_path, spoil):
    write(tmp_path / "out", FILES)
    spoil(tmp_path / "out")
    assert "has been changed since it was written" in sentence(write, tmp_path / "out", FILES)


def test_nothing_is_written_where_a_link_leads(tmp_path):
    out, aside = tmp_path / "out", tmp_path / "aside"
    write(out, FILES)
    (out / "nodes").rename(aside)
    (out / "nodes").symlink_to(aside)
    assert sentence(write, out, FILES).startswith(f"{out / 'nodes'}: is a link, expected a folder")
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "nowhere")
    assert sentence(write, linked, FILES) == f"{linked}: is no directory."
    linked.unlink()
    linked.symlink_to(out)
    (out / "nodes").unlink()
    write(linked, FILES)  # a directory by another name
    assert stands(out).items() > FILES.items()


@pytest.mark.parametrize("data", [
    "{", "[]", "3", '{"a.txt": 3}', '{"/a.txt": "0"}', '{"b/../../a.txt": "0"}', '{"": "0"}',
    '{".": "0"}'])
def test_a_manifest_that_is_none_is_not_ours(tmp_path, data):
    (tmp_path / MANIFEST).write_text(data, encoding="utf-8")
    assert sentence(write, tmp_path, FILES) == (
        f"{tmp_path / MANIFEST}: is no manifest of ours; expected a new or empty directory.")


@pytest.mark.parametrize(("error", "why"), [
    (PermissionError(errno.EACCES, "Permission denied"), "permission denied"),
    (OSError(), "refused")])
def test_a_directory_that_cannot_be_read_or_written_is_one_sentence(
        tmp_path, monkeypatch, error, why):
    def refused(*_):
        raise error

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "fsync", refused)
    assert sentence(write, tmp_path / "out", FILES) == (
        f"{tmp_path / 'out'}: cannot be written ({why}).")
    monkeypatch.setattr(Path, "iterdir", refused)
    assert sentence(write, tmp_path / "out", FILES) == (
        f"{tmp_path / 'out'}: cannot be read ({why}).")
