"""Two builds of the book byte for byte: every file that differs is named, and nothing is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import identical

HELD = {"index.html": "fits", ".buildinfo": "config: 1", "chapters/memory.html": "671 GB"}


def site(folder: Path, **changed: str | None) -> Path:
    """A site whose files differ from `HELD` as said; None leaves one out."""
    for name, text in (HELD | changed).items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return folder


def test_the_same_files_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = site(tmp_path / "one"), site(tmp_path / "other")
    before = identical.RECORD.read_bytes() if identical.RECORD.is_file() else None
    assert identical.main([str(one), str(other)]) == 0
    assert capsys.readouterr().out == "3 files compared, 0 differ\n"
    after = identical.RECORD.read_bytes() if identical.RECORD.is_file() else None
    assert after == before


@pytest.mark.parametrize(("changed", "said"), [
    ({".buildinfo": "config: 2"}, ".buildinfo: from byte 8: b'config: 1', b'config: 2'"),
    ({"index.html": "fits."}, "index.html: from byte 4: b'fits', b'fits.'"),
    ({"chapters/memory.html": None}, "chapters/memory.html: only in "),
    ({"new.html": ""}, "new.html: only in "),
])
def test_a_file_that_differs_is_named_with_the_place(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, str | None],
        said: str) -> None:
    one, other = site(tmp_path / "one"), site(tmp_path / "other", **changed)
    assert identical.main([str(one), str(other)]) == 1
    assert capsys.readouterr().out.startswith(said)


def test_what_is_no_site_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        identical.main([str(site(tmp_path / "one")), str(tmp_path / "nothing")])
    assert "expected the folders html/ of two builds, or nothing" in capsys.readouterr().err


def test_both_builds_differ_in_all_that_may_not_matter() -> None:
    one, other = identical.PLACES
    assert not any(left == right for left, right in zip(one[:3], other[:3], strict=True))
    assert one.told.keys() == other.told.keys()
    assert not one.told.items() & other.told.items()
