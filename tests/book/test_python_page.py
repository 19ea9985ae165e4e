"""The examples of the page on Python run, and are the same in both languages."""

import doctest
import re

import _sources as sources

EXAMPLES = re.compile(r"^```python\n(.*?)```$", re.MULTILINE | re.DOTALL)


def test_the_ten_examples_run_and_both_languages_have_the_same():
    english, chinese = (EXAMPLES.findall(cell.text) for cell in sources.cells(
        sources.ROOT / "book" / "python.md"))
    assert english == chinese
    assert len(english) == 10
    test = doctest.DocTestParser().get_doctest("\n".join(english), {}, "python.md", None, 0)
    printed: list[str] = []
    assert doctest.DocTestRunner().run(test, out=printed.append).failed == 0, "".join(printed)
