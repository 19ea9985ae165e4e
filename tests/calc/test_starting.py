"""What a program loads before it has asked for anything, and a command besides what it needs."""

import json
import subprocess
import sys

import pytest

FOR_PAGES = {"IPython", "jupytext", "matplotlib", "myst_nb", "nbformat", "papermill", "sphinx",
             "sympy"}
FOR_SINGLE_COMMANDS = {"distributed", "pandas", "pyarrow", "SALib", "scipy.linalg",
                       "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"}

LOADED = "import json, sys; {}; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
ESTIMATE = "from calc.commands.main import main; main(['estimate', 'h200-r1-vllm-tp8'])"


def loaded(program: str) -> set[str]:
    """Modules that a process of its own has loaded after a program."""
    done = subprocess.run([sys.executable, "-c", LOADED.format(program)], check=True,
                          capture_output=True, text=True)
    return set(json.loads(done.stderr))


@pytest.mark.parametrize(("program", "spared"), [
    ("import calc", {"catalogue", "numpy", "pydantic", "yaml"}),
    ("import will_it_fit", {"numpy", "rich", "simpy"}),
    (ESTIMATE, set()),
], ids=["calc", "will_it_fit", "estimate"])
def test_what_is_not_needed_is_not_loaded(program, spared):
    assert not loaded(program) & (FOR_PAGES | FOR_SINGLE_COMMANDS | spared)


def test_what_is_offered_is_there_and_named():
    """A name that is loaded when it is asked for is listed before, and stands where it is said."""
    import calc
    import will_it_fit

    assert set(calc.__all__) <= set(dir(calc))
    assert set(will_it_fit.__all__) <= set(dir(will_it_fit))
    assert all(getattr(will_it_fit, name) is getattr(calc, name) for name in calc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = will_it_fit.nothing
