"""Pages' own cells: both languages alike, labels under their page's name, what they conclude."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import _sources as sources
import numpy as np
import pytest

import calc
import catalogue

FOLDER = sources.ROOT / "notebooks" / "supplements"
PAGES = sorted(FOLDER.glob("*.md"))


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def page(request: pytest.FixtureRequest) -> Path:
    return request.param


def prose(page: Path) -> list[tuple[str, str]]:
    texts = [cell.text for cell in sources.cells(page) if cell.kind == "markdown"]
    return list(zip(texts[::2], texts[1::2], strict=True))


def test_it_is_that_of_a_deployment(page: Path) -> None:
    assert page.stem in catalogue.names("scenarios")


def test_prose_stands_in_both_languages_next_to_each_other(page: Path) -> None:
    for kind, run in groupby(sources.cells(page), key=lambda cell: cell.kind):
        languages = [cell.languages for cell in run]
        assert languages == ([("en",), ("zh",)] * (len(languages) // 2) if kind == "markdown"
                             else [()] * len(languages))


def test_both_languages_have_the_same_structure_and_numbers(page: Path) -> None:
    for english, chinese in prose(page):
        assert sources.structure(english) == sources.structure(chinese)
        assert sources.glue_keys(english) == sources.glue_keys(chinese)


def test_its_headings_are_labelled_with_its_name(page: Path) -> None:
    for english, _ in prose(page):
        assert sources.bare_headings(english) == []
        assert all(label.startswith(f"{page.stem}-")
                   for label in sources.structure(english)["labels"])


def test_it_imports_what_it_uses(page: Path) -> None:
    """So that it also runs alone: its first cell of code begins with imports."""
    first = next(cell.text for cell in sources.cells(page) if cell.kind == "code")
    assert first.startswith(("import ", "from "))


class TestPerCard:
    """S3: the advantage per card of the two cards is that of a single request."""

    pair, eight = (catalogue.load_scenario(name) for name in ("s3-hybrid-910b4", "s3-eight-cards"))

    def measured(self) -> dict[int, float]:
        table = self.pair.measured
        columns = [table.column(name) for name in (
            "input_tokens", "output_tokens", "concurrency", "output_throughput")]
        return {round(requests): rate / self.pair.devices
                for given, length, requests, rate in zip(*columns, strict=True)
                if (round(given), round(length)) == (128, 512)}

    def predicted(self, requests: list[int]) -> np.ndarray:
        found = calc.evaluate(self.eight.inputs() | {"concurrency": np.array(requests, float)},
                              self.eight.model.attention)
        return found["output_throughput"] / self.eight.devices

    def test_it_holds_at_one_request_and_at_no_more(self) -> None:
        seen = self.measured()
        ahead = np.array(list(seen.values())) > self.predicted(list(seen))
        assert dict(zip(seen, ahead.tolist(), strict=True)) == {
            1: True, 2: False, 4: False, 8: False, 16: False}

    def test_at_equal_load_per_card_eight_cards_give_more(self) -> None:
        assert self.predicted([4])[0] > 2 * self.measured()[1]
        other = catalogue.load_scenario("s2-910b1-awq").measured
        row = next(row for row in range(len(other.rows))
                   if other.column("input_tokens")[row] == 128
                   and other.column("concurrency")[row] == 4)
        assert other.column("output_throughput")[row] / 8 > 1.5 * self.measured()[1]

    def test_the_memory_printed_for_the_host_is_that_of_161_experts(self) -> None:
        claim = next(claim for claim in self.pair.documented.claims
                     if claim.quantity == "host_expert_weights")
        recomputed = self.pair.documented.recomputed(claim)
        assert recomputed == pytest.approx(claim.value.value, rel=0.03)
        found = calc.evaluate(self.pair.inputs(), self.pair.model.attention)
        ratio = found["host_expert_weights"] / recomputed  # with the scales of the format
        assert ratio == pytest.approx(256 / 161, rel=0.005)
