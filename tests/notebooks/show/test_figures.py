"""Figures: a card has one colour on all of them."""

from __future__ import annotations

import itertools

import pytest

import catalogue
from notebooks.show import figures

DRAWN = ("nvidia-h20", "nvidia-h200-sxm", "nvidia-h800", "ascend-910b2", "ascend-910c-die")


class TestCardColours:
    def test_a_card_has_its_colour_beside_any_others(self) -> None:
        together = figures.card_colours(DRAWN)
        for card in DRAWN:
            assert figures.card_colours([card])[card] == together[card]
        assert figures.card_colours(reversed(DRAWN)) == together

    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_a_card_has_the_colour_of_its_identifier_by_its_name_too(self, lang: str) -> None:
        for card in DRAWN:
            name = catalogue.load_device(card).name[lang]
            assert figures.card_colours([name])[name] == figures.card_colours([card])[card]

    def test_no_two_cards_of_a_figure_share_a_colour(self) -> None:
        every = [*DRAWN, "nvidia-h20-141gb", "nvidia-l20", "amd-mi300x", "some other card"]
        assert len(set(figures.card_colours(every).values())) == len(every)


def test_a_slow_machine_says_nothing_of_it_and_draws_the_same(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Matplotlib warns where a legend's place took more than a second: onto the page, otherwise."""
    def drawn() -> str:
        figure, axes = figures.axes()
        axes.plot([1, 2], [1, 2], label="TPOT")
        axes.legend()
        return figures.svg(figure)

    before = drawn()
    clock = itertools.count(step=10)
    monkeypatch.setattr("matplotlib.legend.time.perf_counter", lambda: next(clock))
    assert drawn() == before
    assert next(clock) >= 20  # it was asked
