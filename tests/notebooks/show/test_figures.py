"""Figures: reproducible, colours per card, text of files as text, and the numbers they plot."""

from __future__ import annotations

import csv
import io

import pytest
from fontTools.ttLib import TTFont
from matplotlib.figure import Figure

import catalogue
from catalogue.reading import words
from notebooks.show import figures
from tools.fonts import TARGET, characters

CARDS = ("nvidia-h20", "nvidia-h200-sxm", "nvidia-h800", "ascend-910b2", "ascend-910c-die")


def numbers(figure: Figure) -> list[dict[str, str]]:
    """Return the rows of the file behind a figure."""
    figures.svg(figure)
    return list(csv.DictReader(io.StringIO(figures.plotted_csv(figure))))


def test_cards_keep_their_colour_in_every_figure():
    together = figures.card_colours(CARDS)
    assert figures.card_colours(reversed(CARDS)) == together
    for card in CARDS:
        assert figures.card_colours([card])[card] == together[card]
        for name in catalogue.load_device(card).name.values():
            assert figures.card_colours([name])[name] == together[card]
    every = [*CARDS, "nvidia-h20-141gb", "nvidia-l20", "amd-mi300x", "some other card"]
    assert len(set(figures.card_colours(every).values())) == len(every)


def test_figures_are_reproducible():
    def drawn():
        figure, axes = figures.axes()
        axes.plot([1, 2], [3, 4])
        axes.set_xlabel("显存 (GB), 10⁹")
        axes.set_title(r"$\eta_m$")
        return figures.svg(figure)

    text = drawn()
    assert text == drawn()
    assert "dc:date" not in text
    assert "<text" not in text  # letters are outlines


def test_text_of_files_is_drawn_as_text():
    figure, axes = figures.axes()
    axes.set_title(words.hidden(r"$\undefined{x}$ <b>"))
    axes.set_yticks([0], [words.hidden("$ a $")])
    figures.svg(figure)
    assert axes.get_title() == r"\$\undefined{x}\$ <b>"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [r"\$ a \$"]


def test_unknown_characters_are_boxes_in_text_and_errors_in_mathematics():
    figure, axes = figures.axes()
    axes.set_title("卡 龘")
    figures.svg(figure)
    assert axes.get_title().endswith(figures.MISSING)
    axes.set_title("$张量$")
    with pytest.raises((UserWarning, RuntimeError), match=r"[Gg]lyph"):
        figures.svg(figure)


def test_font_has_every_character_of_the_project():
    known = TTFont(TARGET).getBestCmap()
    wide = {letter for letter in characters() if ord(letter) > 0x2E80}
    assert not {letter for letter in wide if ord(letter) not in known}, "run: make font"


def test_lines_are_rows_under_the_labels_of_the_axes():
    figure, axes = figures.axes()
    axes.plot([1, 2], [0.5, 1 / 3], label="card")
    axes.set(xlabel="requests", ylabel="time (ms)")
    axes.axvline(1.5)  # no data
    assert numbers(figure) == [
        {"series": "card", "requests": "1", "time (ms)": "0.5"},
        {"series": "card", "requests": "2", "time (ms)": "0.333333"}]
