"""The numbers behind a plot, as the file has them that a reader downloads."""

from __future__ import annotations

import csv
import io

import pytest

from catalogue.reading import words
from notebooks.show import behind, figures


def rows(figure) -> list[dict[str, str]]:
    figures.svg(figure)
    return list(csv.DictReader(io.StringIO(behind.numbers(figure))))


def test_a_line_is_a_row_per_point_under_the_labels_of_the_axes():
    figure, axes = figures.axes()
    axes.plot([1, 2], [0.5, 1 / 3], label="card")
    axes.set(xlabel="requests", ylabel="time (ms)")
    axes.axvline(1.5)  # across all of it: none of the data
    assert rows(figure) == [
        {"series": "card", "requests": "1", "time (ms)": "0.5"},
        {"series": "card", "requests": "2", "time (ms)": "0.333333"}]


def test_a_bar_has_both_ends_and_the_name_of_its_tick():
    figure, axes = figures.axes()
    axes.barh([0, 1], [3, 4], left=[1, 1], label="reading")
    axes.set_yticks([0, 1], ["one", "two"])
    assert [(row["series"], row["name"], row["x"], row["to x"]) for row in rows(figure)] == [
        ("reading", "one", "1", "4"), ("reading", "two", "1", "5")]


def test_an_interval_has_both_ends():
    figure, axes = figures.axes()
    axes.errorbar([1], [2], yerr=[[0.5], [0.75]], fmt="o", label="measured")
    assert {(row["series"], row["y"], row["to y"]) for row in rows(figure)} == {
        ("measured", "2", ""), ("measured", "1.5", "2.75")}


def test_lines_without_a_name_are_kept_apart_and_panels_too():
    figures.style()
    from matplotlib.figure import Figure
    figure = Figure()
    left, right = figure.subplots(1, 2)
    left.plot([1], [1])
    left.plot([1], [2])
    right.plot([1], [3])
    right.set_title("right")
    assert [(row["panel"], row["series"]) for row in rows(figure)] == [
        ("1", "(1)"), ("1", "(2)"), ("right", "(1)")]


def test_a_file_says_what_a_readers_file_says():
    figure, axes = figures.axes()
    axes.plot([1], [1], label=words.hidden("<b>, 50 $ a card"))
    assert rows(figure)[0]["series"] == "<b>, 50 $ a card"


@pytest.mark.parametrize("empty", [True, False])
def test_a_plot_without_numbers_has_no_file(empty):
    figure, axes = figures.axes()
    if not empty:
        axes.text(0, 0, "nothing")
    figures.svg(figure)
    assert behind.numbers(figure) == ""
