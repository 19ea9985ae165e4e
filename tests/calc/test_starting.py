"""What a program loads before it has asked for anything, and what the packages offer."""

import json
import subprocess
import sys

import pytest

import calc
import will_it_fit

FOR_SINGLE_COMMANDS = {
    "IPython", "jupytext", "matplotlib", "myst_nb", "nbformat", "papermill", "sphinx", "sympy",
    "distributed", "pandas", "pyarrow", "scipy.linalg", "scipy.optimize", "scipy.sparse",
    "scipy.special", "scipy.stats"}
LOADED = "import json, sys; {}; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


@pytest.mark.parametrize(("program", "spared"), [
    ("import calc", {"catalogue", "numpy", "pydantic", "yaml"}),
    ("import will_it_fit", {"catalogue", "numpy", "pydantic", "yaml"}),
    ("from calc.launching.launch import deployment, files_of; "
     "files_of(deployment('h200-r1-vllm-tp8'), 'en')", {"babel", "fluent"}),
    *((f"from calc.commands.main import main; main({asked.split()})", {"babel", "fluent"})
      for asked in ("estimate h200-r1-vllm-tp8", "estimate s0-scenario-1 --json"))])
def test_libraries_that_are_not_needed_are_not_loaded(program, spared):
    done = subprocess.run([sys.executable, "-c", LOADED.format(program)], check=True,
                          capture_output=True, text=True)
    assert not set(json.loads(done.stderr)) & (FOR_SINGLE_COMMANDS | spared)


def test_offered_names_exist():
    assert set(calc.__all__) <= set(dir(calc))
    assert set(will_it_fit.__all__) <= set(dir(will_it_fit))
    assert all(getattr(will_it_fit, name) is getattr(calc, name) for name in calc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = will_it_fit.nothing
