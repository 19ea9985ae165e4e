"""A tiny project with the book's machinery: two scenarios, a summary of them, a derivation.

The functions at the end run programs of the book: builds and the comparison of two sites.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = "catalogue/reading/words.py"
FONT = "notebooks/show/fonts/workbench-sans-sc.ttf"

CATALOGUE = '''
"""Parameters of a tiny project."""
from pathlib import Path

from catalogue.reading.yamlfile import note

FOLDER = Path(__file__).parents[1] / "params"


class ParamsError(Exception):
    """A mistake in a parameter file."""


class Scenario:
    def __init__(self, text):
        self.title = {"en": f"Plan {text}", "zh": f"方案{text}"}
        self.cards = text


def load_scenario(name):
    note(FOLDER / "scenarios" / f"{name}.yml")
    text = (FOLDER / "scenarios" / f"{name}.yml").read_text().strip()
    if not text.isdigit():
        raise ParamsError(f"params/scenarios/{name}.yml:1: '{text}' is not a number of cards.")
    return Scenario(int(text))


class Family:
    def __init__(self, name, of):
        self.id, self.title, self.deployments = name, of.title, (of,)


def load_family(name):
    return Family(name, load_scenario(name))


def names(kind):
    note(FOLDER / kind)
    return sorted(path.stem for path in (FOLDER / kind).glob("*.yml"))
'''

FOLLOWING = '''
import contextlib
from pathlib import Path

ROOT = Path(__file__).parents[2] / "params"
_following = []


def note(path):
    for files in _following:
        files[path] = None


@contextlib.contextmanager
def following(files=None):
    _following.append({} if files is None else files)
    yield _following[-1]
    _following.pop()
'''

PROSE = '''
+++ {{"tags": ["en"]}}
({label})=
# {english}

+++ {{"tags": ["zh"]}}
({label})=
# {chinese}
'''

CODE = '''
```{{code-cell}} python3
:tags: [{tags}]
{code}
```
'''


def notebook(label: str, english: str, chinese: str, *code: str, first: str = "") -> str:
    """Return the text of a notebook with a title in both languages and code cells."""
    parts = [PROSE.format(label=label, english=english, chinese=chinese)]
    if first:
        parts.append(CODE.format(tags="parameters, remove-cell", code=first))
    return "".join(parts + [CODE.format(tags="hide-input", code=text) for text in code])


def write(folder: Path, files: dict[str, str]) -> None:
    """Write texts to paths below `folder`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def make(folder: Path) -> Path:
    """Write the tiny project into `folder` and return it."""
    write(folder, {
        "catalogue/__init__.py": CATALOGUE,
        # what the machinery itself asks of the catalogue: not to be found where one is installed
        "catalogue/reading/__init__.py": "",
        "catalogue/reading/words.py": (ROOT / WORDS).read_text(encoding="utf-8"),
        "catalogue/reading/yamlfile.py": FOLLOWING,
        "params/scenarios/one.yml": "1\n",
        "params/scenarios/two.yml": "2\n",
        "requirements.txt": "numpy==2.4\n",
        "notebooks/derive/formulas/formulas.json": "{}\n",
        "notebooks/__init__.py": "", "notebooks/derive/__init__.py": "",
        "notebooks/derive/words.py": "from notebooks.derive import deep\n",
        "notebooks/derive/deep.py":
            "def formatted():\n    from .late import TEXT\n    return TEXT\n",
        "notebooks/derive/late.py": "TEXT = 1\n", "notebooks/derive/other.py": "",
        "notebooks/derivation.md": notebook(
            "derivation", "Derivation", "推导", "from notebooks.derive import words",
            "open('../runs', 'a').write('.')\nwords.deep.formatted()"),
        "notebooks/scenarios.md": notebook(
            "scenarios", "All", "全部",
            "import catalogue\n"
            "[catalogue.load_scenario(n).cards for n in catalogue.names('scenarios')]"),
        "notebooks/scenario.md": notebook(
            "@id@", "@title@", "@title@",
            "import catalogue\ncatalogue.load_scenario(scenario).cards", first="scenario = 'one'"),
    })
    return folder


def make_book(folder: Path) -> Path:
    """Write the tiny project with the real extension around it, ready for jupyter-book."""
    make(folder)
    book = folder / "book"
    for name in ("_ext", "_templates", "locales"):
        shutil.copytree(ROOT / "book" / name, book / name,
                        ignore=shutil.ignore_patterns("__pycache__", "*.mo"))
    shutil.copytree(ROOT / "book" / "assets", book / "assets",
                    ignore=shutil.ignore_patterns("vendor"))
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / FONT).parent.mkdir(parents=True)
    shutil.copy(ROOT / FONT, folder / FONT)  # of the pictures of an address
    write(book, {
        "_toc.yml": "format: jb-book\nroot: index\nchapters:\n- file: chapters/derivation\n"
                    "- file: chapters/scenarios\n  sections:\n  - glob: chapters/scenarios/*\n",
        "index.md": PROSE.format(label="index", english="Index", chinese="首页"),
    })
    return folder


def build(project: Path, *, cwd: Path | None = None, umask: int = -1,
          python: Path = Path(sys.executable), environment: Mapping[str, str] | None = None
          ) -> subprocess.CompletedProcess[str]:
    """Run jupyter-book on a project, with the packages of the environment of `python`."""
    paths = os.pathsep.join(map(str, (project, project / "book")))
    return subprocess.run(
        [python, python.with_name("jupyter-book"), "build", project / "book"],
        cwd=cwd or project, env={**os.environ, **(environment or {}), "PYTHONPATH": paths},
        capture_output=True, text=True, encoding="utf-8", check=False, umask=umask)


def differing(one: Path, other: Path) -> list[str]:
    """List the files of two folders that differ in a byte, or exist in one only."""
    files = [{path.relative_to(folder).as_posix(): path for path in folder.rglob("*")
              if path.is_file()} for folder in (one, other)]
    return sorted(name for name in {*files[0], *files[1]} if not all(name in each for each in files)
                  or files[0][name].read_bytes() != files[1][name].read_bytes())
