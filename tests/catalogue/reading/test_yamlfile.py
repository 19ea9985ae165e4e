"""Reading YAML files: safety, and entries in memory that follow their files."""

import os
from pathlib import Path

import pytest
from _door import DEVICE, sentence

import catalogue
from catalogue.reading import files, words

FASTER = DEVICE.replace("1.6 TB/s", "3.2 TB/s")
BOMB = "l0: &l0 [lol]\n" + "\n".join(
    f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 30))


@pytest.fixture
def card(tmp_path):
    path = tmp_path / "card.yml"
    path.write_text(DEVICE, encoding="utf-8")
    return path


def bandwidth(path: Path) -> float:
    return catalogue.load_device(path).memory_bandwidth.value


def test_changed_file_is_read_again_despite_equal_size_and_time(card):
    before = catalogue.load_device(card)
    assert catalogue.load_device(card) is before
    status = card.stat()
    card.write_text(FASTER, encoding="utf-8")
    os.utime(card, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert bandwidth(card) == 2 * before.memory_bandwidth.value


def test_a_change_of_the_entry_that_like_names_is_seen(card, tmp_path):
    mine = tmp_path / "mine.yml"
    mine.write_text("like: ./card.yml\nname: {en: Mine, zh: 我的}\n", encoding="utf-8")
    before = bandwidth(mine)
    card.write_text(FASTER, encoding="utf-8")
    assert bandwidth(mine) == 2 * before
    card.unlink()
    with pytest.raises(catalogue.ParamsError, match=r"like: .*card\.yml: there is no such file"):
        catalogue.load_device(mine)


def test_texts_are_escaped_while_pages_are_made_and_not_afterwards(card):
    card.write_text(DEVICE.replace("en: Card", 'en: "<b>"'), encoding="utf-8")
    assert "<b>" in catalogue.load_device(card).name["en"]
    with words.as_for_pages():
        assert "<b>" not in catalogue.load_device(card).name["en"]
        assert catalogue.load_device("nvidia-b300").architecture == "sm_103"
    assert "<b>" in catalogue.load_device(card).name["en"]


@pytest.mark.parametrize("content", [
    b"\x00\xff\xfe", b"- a\n- b\n", b"", b"just text", b"[" * 100_000, b"a: " + b"[" * 900,
    b"a: 1\n" * 200_000, b"vendor: " + b"x" * files.MAX_BYTES, BOMB.encode()],
    ids=lambda content: repr(content[:12]))
def test_what_is_not_a_parameter_file(card, content):
    card.write_bytes(content)
    assert "card.yml" in sentence(catalogue.load_device, card)


@pytest.mark.parametrize(("old", "new"), [
    ("type: gpu", "type: {}"), ("vendor: Nobody", "{}: Nobody"), ("gpu", "gpu\nlike: {}"),
    ("1.6 TB/s", "{}"), ("vendor: Nobody", "mechanisms: ./{}.yml")])
def test_a_message_quotes_long_texts_in_part(card, old, new):
    card.write_text(DEVICE.replace(old, new.format("x 卡" * 1700)), encoding="utf-8")
    assert len(sentence(catalogue.load_device, card)) < 800


@pytest.mark.parametrize("name", ["/nowhere/card.yml", "nowhere.yml", ".", "a\0b", "",
                                  "x" * 3000 + ".yml", "a\nb.yml"])
def test_missing_files(name):
    sentence(catalogue.load_device, name)
