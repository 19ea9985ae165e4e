"""What is folded stands once in each language, and what is no text passes through."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from notebooks.show import display


class Output(SimpleNamespace):
    """What a cell shows, as IPython captures it."""

    def display(self):
        self.passed.append(self.data)


@pytest.fixture
def captured(monkeypatch):
    """Puts outputs in the place of what is shown; what is folded, and what passes through."""
    folded, passed = [], []

    def give(*outputs):
        @contextmanager
        def capture(**_):
            yield SimpleNamespace(outputs=[
                Output(data=data, metadata=metadata, passed=passed) for data, metadata in outputs])

        monkeypatch.setattr(display, "capture_output", capture)
        monkeypatch.setattr(display, "show", lambda en, zh: folded.append((en, zh)))
        with display.folded("Title", "标题"):
            pass
        return folded[0], passed

    return give


def test_an_equation_is_in_both_languages_and_a_sentence_in_its_own(captured):
    text = "text/markdown"
    (en, zh), passed = captured(({text: "$$ a $$ (eq-a)"}, {}), ({text: "width"}, {"lang": "en"}),
                                ({text: "宽度"}, {"lang": "zh"}))
    assert en.startswith("::::::{dropdown} Title")
    assert zh.startswith("::::::{dropdown} 标题")
    assert "eq-a" in en
    assert "eq-a" in zh
    assert "width" in en
    assert "宽度" not in en
    assert "宽度" in zh
    assert passed == []


def test_glued_numbers_and_figures_pass_through(captured):
    glued = {"application/papermill.record/text/plain": "7"}
    (en, _), passed = captured((glued, {"scrapbook": {"name": "seven"}}),
                               ({"text/markdown": "words"}, {}))
    assert passed == [glued]
    assert "7" not in en


def test_the_other_rows_of_a_table_are_folded(monkeypatch):
    tables = []
    monkeypatch.setattr(display, "table",
                        lambda rows, columns, **how: tables.append((len(rows), how.get("folded"))))
    display.short_table([{"a": n} for n in range(6)], {"a": "a"})
    display.short_table([{"a": n} for n in range(4)], {"a": "a"})
    assert tables == [(4, None), (2, ("The other rows", "其余各行")), (4, None)]
