"""A Papermill engine that runs the cells in the process it is called in, without a kernel.

A page gives what ``papermill`` gives with a kernel: what cells display, print and raise becomes
their outputs. There is no input, and no message goes to a front end.
"""

from __future__ import annotations

import contextlib
import io
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_output
from papermill.engines import Engine
from traitlets import List, Type
from traitlets.config import Config

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from papermill.engines import NotebookExecutionManager

NAME = "in-process"
LANGUAGE = {"name": "python", "version": platform.python_version(), "file_extension": ".py",
            "mimetype": "text/x-python", "pygments_lexer": "ipython3",
            "nbconvert_exporter": "python", "codemirror_mode": {"name": "ipython", "version": 3}}


class _Publisher(DisplayPublisher):
    """Keeps what ``display`` is given."""

    def publish(self, data: Any, metadata: Any = None, source: Any = None, **_: Any) -> None:
        assert isinstance(self.shell, Shell)
        self.shell.outputs.append(new_output("display_data", data, metadata=metadata or {}))


class _Hook(DisplayHook):
    """Keeps the value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any],
                          md_dict: dict[str, Any] | None = None) -> None:
        assert isinstance(self.shell, Shell)
        self.shell.outputs.append(new_output(
            "execute_result", format_dict, metadata=md_dict or {},
            execution_count=self.shell.execution_count))


class _Stream(io.TextIOBase):
    """Keeps what is printed; what follows itself is one output."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: list[NotebookNode]) -> None:
        self._name, self._outputs = name, outputs

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        last = self._outputs[-1] if self._outputs else {}
        if last.get("name") == self._name:
            last["text"] += text
        elif text:
            self._outputs.append(new_output("stream", name=self._name, text=text))
        return len(text)


class Shell(InteractiveShell):
    """IPython whose cells leave their outputs in a list."""

    displayhook_class = Type(_Hook)
    display_pub_class = Type(_Publisher)
    outputs: list[NotebookNode] = List()  # type: ignore[assignment]

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException | None,
                       stb: list[str]) -> None:
        self.outputs.append(new_output(
            "error", ename=etype.__name__, evalue=str(evalue), traceback=stb))

    def enable_gui(self, gui: str | None = None) -> None:
        """A page has no windows."""


@contextlib.contextmanager
def _shell(folder: str) -> Iterator[Shell]:
    """A new shell in a folder, with modules beside it, and a namespace of its own."""
    Shell.clear_instance()
    main = ModuleType("__main__")
    saved = sys.modules["__main__"], sys.path[:], sys.displayhook
    sys.modules["__main__"] = main
    sys.path.insert(0, "")
    shell = Shell.instance(user_module=main, config=Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "NoColor"}}))
    try:
        with contextlib.chdir(Path(folder)):
            yield shell
    finally:
        sys.modules["__main__"], sys.path[:], sys.displayhook = saved
        Shell.clear_instance()


class InProcess(Engine):
    """Run cells in this process, up to the first that raises."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: NotebookExecutionManager, kernel_name: str,
                                 **options: Any) -> None:
        """Run a notebook; `kernel_name` is not asked for, ``cwd`` is the folder it runs in."""
        nb_man.nb.metadata.language_info = LANGUAGE  # as the kernel says
        with _shell(options.get("cwd") or ".") as shell:
            for number, cell in enumerate(nb_man.nb.cells):
                if cell.cell_type != "code" or not cell.source.strip():
                    continue
                nb_man.cell_start(cell, number)
                shell.outputs = cell.outputs = []
                with (contextlib.redirect_stdout(_Stream("stdout", shell.outputs)),
                      contextlib.redirect_stderr(_Stream("stderr", shell.outputs))):
                    result = shell.run_cell(cell.source, store_history=True)
                cell.execution_count = result.execution_count
                if not result.success:
                    nb_man.cell_exception(cell, number)
                nb_man.cell_complete(cell, number)
                if not result.success:
                    return
