"""Errors of a reader's own making, told in one sentence instead of a traceback."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from IPython import get_ipython

from params import ParamsError
from workbench.errors import DerivationError


def friendly() -> None:
    """From now on a ParamsError or DerivationError prints its sentence alone; the cell fails.

    Does nothing outside a notebook.
    """
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((ParamsError, DerivationError), _one_sentence)


def accept(*names: str) -> None:
    """Take these Papermill parameters and no others; call it before anything else is defined.

    Papermill itself only logs a warning for a parameter that the notebook does not know. Errors
    are one sentence from here on, see :func:`friendly`.

    Raises ParamsError for a variable that is none of ``names``.
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


def _one_sentence(shell: Any, kind: type[BaseException], error: BaseException,
                  traceback: TracebackType | None, tb_offset: int | None = None) -> list[str]:
    sentence = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, sentence)
    return sentence
