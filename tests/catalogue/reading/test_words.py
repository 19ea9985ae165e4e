"""No text of a file gets onto a page by a way of its own: every free text is read as words."""

from typing import Any, get_args, get_origin

from catalogue.entries.entry import Entry
from catalogue.library import KINDS
from catalogue.reading import words
from catalogue.reading.values import both_languages

NO_FREE_TEXT = {  # texts that only the project's own files have, and names that are looked up
    "latex", "en", "zh", "documented_latex", "right_quantity", "section", "quantity",
    "metric", "mechanisms", "system", "benchmark", "columns", "pools", "sections",
    "engine", "flags", "of",  # of a deployment; of a profile and its statements; a class of errors
    "device", "precision"}  # of a measured system, as the catalogue has them


def classes() -> set[type[Entry]]:
    """Every class of a file or of a part of one."""
    found: set[type[Entry]] = set()

    def visit(annotation: Any) -> None:
        if (isinstance(annotation, type) and issubclass(annotation, Entry)
                and annotation not in found):
            found.add(annotation)
            for field in annotation.model_fields.values():
                visit(field.annotation)
        for part in get_args(annotation):
            visit(part)

    for cls in KINDS.values():
        visit(cls)
    return found


def bare(annotation: Any, metadata: tuple[Any, ...] = ()) -> bool:
    """Whether a field takes any text, as it stands."""
    inner, marks = annotation, list(metadata)
    if hasattr(annotation, "__metadata__"):
        inner, marks = annotation.__origin__, [*marks, *annotation.__metadata__]
    if inner is str:
        return not marks
    parts = get_args(inner)[1:] if get_origin(inner) is dict else get_args(inner)  # keys are names
    return not marks and any(bare(part) for part in parts if part is not type(None))


def test_every_free_text_of_an_entry_is_read_as_words():
    """Whatever a file says is escaped on pages."""
    wild = {(cls.__name__, name) for cls in classes() for name, field in cls.model_fields.items()
            if bare(field.annotation, tuple(field.metadata)) and name not in NO_FREE_TEXT}
    assert wild == set()


def test_words_are_hidden_where_pages_are_made_and_nowhere_else():
    texts = {"en": "a *b*", "zh": "甲"}
    assert both_languages(dict(texts)) == texts
    with words.as_for_pages():
        hidden = both_languages(dict(texts))
    assert "*" not in hidden["en"]
    assert words.revealed(hidden["en"]) == "a *b*"
    assert words.markdown(hidden["en"]) == "a &#42;b&#42;"
