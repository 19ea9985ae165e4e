"""Files are written whole or not at all: on a full disk, over links."""

import resource
import signal
from contextlib import contextmanager

import pytest

from catalogue.reading.files import make_folder, write_whole

OLD, NEW = b"old\n", b"new " * 100


@contextmanager
def full_disk():
    """No file may grow beyond a few bytes: writing fails half-way, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(OLD), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_replaced_file_keeps_permissions_and_leaves_no_temporary_file(tmp_path):
    target = tmp_path / "a.yml"
    target.write_bytes(OLD)
    target.chmod(0o640)
    write_whole(target, NEW)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (NEW, 0o640)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("stands", [None, OLD])
def test_full_disk_keeps_the_old_file(tmp_path, stands):
    target = tmp_path / "a.yml"
    if stands:
        target.write_bytes(stands)
    with full_disk(), pytest.raises(OSError):  # noqa: PT011 any reason a file system has
        write_whole(target, NEW)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == (
        {"a.yml": stands} if stands else {})


@pytest.mark.parametrize("name", ["a.yml", ".a.yml.tmp"])
def test_a_planted_link_is_not_followed(tmp_path, name):
    precious = tmp_path / "precious"
    precious.write_bytes(OLD)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).symlink_to(precious)
    write_whole(folder / "a.yml", NEW)
    assert precious.read_bytes() == OLD
    assert (folder / "a.yml").read_bytes() == NEW
    assert not (folder / "a.yml").is_symlink()


def test_a_folder_too_deep_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match="too many folder levels"):
        make_folder(tmp_path / ("a/" * 2000))
