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


def _one_sentence(shell: Any, kind: type[BaseException], error: BaseException,
                  traceback: TracebackType | None, tb_offset: int | None = None) -> list[str]:
    sentence = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, sentence)
    return sentence
