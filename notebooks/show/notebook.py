"""Errors of a reader's own making, told in one sentence instead of a traceback."""

from __future__ import annotations

from traceback import walk_tb
from types import TracebackType
from typing import Any

from IPython import get_ipython

from catalogue import ParamsError
from notebooks.derive.formulas.errors import DerivationError, explain


def friendly() -> None:
    """From now on a ParamsError or DerivationError prints its sentence alone; the cell fails.

    A failed assertion says its law and what stood on either side. Does nothing outside a notebook.
    """
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((ParamsError, DerivationError, AssertionError), _explained)


def accept(*names: str) -> None:
    """Take these Papermill parameters and no others; call it before anything else is defined.

    Papermill itself only logs a warning for a parameter that the notebook does not know. Errors
    are one sentence from here on, see :func:`friendly`. A parameter ``lang`` is obeyed at once.

    Raises ParamsError for a variable that is none of ``names``, and for a language that the book
    does not speak.
    """
    friendly()
    shell = get_ipython()
    if shell is None:
        return
    defined = {name for name, value in shell.user_ns.items()
               if not name.startswith("_") and name not in shell.user_ns_hidden
               and value is not accept}
    if unknown := sorted(defined - set(names)):
        raise ParamsError(f"there is no parameter '{unknown[0]}', expected {' or '.join(names)}.")
    if "lang" in names:
        speak_only(shell.user_ns["lang"])


def speak_only(lang: object) -> None:
    """Let the notebook print one language alone: ``en``, ``zh``, or ``both``.

    Raises ParamsError for anything else.
    """
    from notebooks.show import display

    if lang not in (*display.LANGUAGES, display.BOTH):
        raise ParamsError(f"lang: expected {', '.join(display.LANGUAGES)} or {display.BOTH}, "
                          f"not {str(lang)[:40]!a}.")
    display.speak(str(lang))


def _explained(shell: Any, kind: type[BaseException], error: BaseException,
               traceback: TracebackType | None, tb_offset: int | None = None) -> list[str]:
    if isinstance(error, AssertionError):
        explain(error, *list(walk_tb(traceback))[-1])
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return []
    sentence = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, sentence)
    return sentence
