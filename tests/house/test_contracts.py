"""What holds the house together: layers, generated files, words that do not belong."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
BINARY = {".ttf", ".woff", ".woff2", ".png", ".ico"}


def tracked() -> list[Path]:
    """Files of the repository, without vendored ones."""
    if not (PROJECT / ".git").exists():
        pytest.skip("not a git checkout: git ls-files lists the files to look at")
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=PROJECT, capture_output=True, text=True,
                            check=True).stdout
    paths = [PROJECT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file() and "vendor" not in path.parts]


DERIVE = ("architecture", "communication", "compute", "latency", "memory", "serving", "throughput",
          "device", "devices", "engines", "nodes")  # or show the catalogue


@pytest.mark.parametrize("name", DERIVE)
def test_derivations_do_not_import_the_runtime(name):
    text = (PROJECT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    assert not re.search(r"^\s*(import|from) (calc|notebooks\.pages\.(deployments|deciding|audit"
                         r"|engineering|calculators))\b|\bcrosscheck\b|\bimport_module\b",
                         text, re.MULTILINE)


def test_the_books_extension_imports_neither_runtime_nor_notebooks():
    for path in (PROJECT / "book" / "_ext").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import|from) (calc|notebooks)\b", text,
                             re.MULTILINE), path


ROOMS = ("calc/physics", "calc/serving", "calc/costing")
SIMULATOR = {"requests", "scheduler", "step_times", "simulation", "metrics"}  # holds no formula
MODULES = [path.relative_to(PROJECT).as_posix() for room in ROOMS
           for path in sorted((PROJECT / room).rglob("*.py"))
           if path.stem not in {"__init__", *SIMULATOR}]
REFERENCES = [f"tests/reference/{name}.py" for name in ("operators", "queueing")]
WITHOUT_UNIT = {"None", "bool", "str", "Pair", "dict[str, Pair]", "Prices", "Powers", "Function"}


def formulas(module: str) -> list[ast.FunctionDef]:
    """Public functions of a module that compute a quantity."""
    tree = ast.parse((PROJECT / module).read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")]


def undocumented(node: ast.FunctionDef) -> Iterator[str]:
    """What a formula's docstring lacks: arguments, unit, source, exceptions, or a section."""
    text = ast.get_docstring(node) or ""
    arguments = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    raised = [raise_.exc.func.id for raise_ in ast.walk(node)
              if isinstance(raise_, ast.Raise) and isinstance(raise_.exc, ast.Call)]
    yield from (name for name in arguments if not re.search(rf"\b{name}\b", text))
    yield from (name for name in raised if name not in text)
    if node.returns is None or ast.unparse(node.returns) not in WITHOUT_UNIT:
        yield from ["unit"] * (not re.search(r"\[[^\]]+\]", text))
        yield from ["source"] * ("Source:" not in text)
    for notebook, titles in re.findall(r"notebooks/(\w+)\.md, sections? ([^;,.]+)", text):
        page = (PROJECT / "notebooks" / f"{notebook}.md").read_text(encoding="utf-8")
        yield from (title for title in re.split(r" and (?=[A-Z])", " ".join(titles.split()))
                    if not re.search(rf"^(#+|:+{{dropdown}}) {re.escape(title)}", page,
                                     re.MULTILINE))


@pytest.mark.parametrize("module", [*MODULES, *REFERENCES])
def test_every_formula_documents_arguments_unit_and_source(module):
    assert {node.name: lacking for node in formulas(module)
            if (lacking := list(undocumented(node)))} == {}


def test_the_templates_are_in_step_with_their_notebooks():
    from notebooks.derive import sync
    for stem in sync.TITLES:
        source = sync.NOTEBOOKS / f"{stem}.md"
        committed = source.with_suffix(".ipynb").read_text(encoding="utf-8")
        assert committed == sync.rendered(source, sync.repository()), "run make sync"


def test_every_template_of_the_book_and_every_page_with_parameters_has_a_notebook():
    from _ext import pipeline
    from notebooks.derive import sync
    parameterised = {source.stem for source in sync.NOTEBOOKS.glob("*.md")
                     if ":tags: [parameters" in source.read_text(encoding="utf-8")}
    assert set(pipeline.TEMPLATES) <= parameterised == set(sync.TITLES)


def test_no_path_of_a_machine_in_any_file():
    words = re.compile(r"/(work|farm|root|home/\w+|opt/pypi\S*)/")
    found = [f"{path.relative_to(PROJECT)}:{number}" for path in tracked()
             if path.suffix not in BINARY and path != Path(__file__).resolve()
             for number, line in enumerate(
                 path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
             if words.search(line)]
    assert found == []


def test_every_requirement_is_pinned_with_its_hashes():
    for name in ("requirements.txt", "requirements-engine.txt", "requirements-build.txt",
                 "requirements-test.txt"):
        text = (PROJECT / name).read_text(encoding="utf-8").replace("\\\n", "")
        for line in text.splitlines():
            assert ("==" in line and " --hash=sha256:" in line) or line.startswith("-c "), line
    pins = (PROJECT / "requirements.txt").read_text(encoding="utf-8")
    assert re.search(r"^jupyter-book==1\.", pins, re.MULTILINE)


def test_documents_name_the_version_of_the_package():
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    text = "".join((PROJECT / name).read_text(encoding="utf-8") for name in (
        "README.md", "README.zh.md", "book/taking.md", "CITATION.cff"))
    assert set(re.findall(r"will_it_fit-([\d.]+)-py3|^version: (.+)$", text, re.MULTILINE)) == {
        (version, ""), ("", version)}
    changes = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(version)} ", changes, re.MULTILINE), "make release needs it"


@pytest.mark.parametrize("path", sorted((PROJECT / ".github" / "workflows").glob("*.yml")),
                         ids=lambda path: path.stem)
def test_workflows_pin_actions_by_commit_and_build_with_read_access_alone(path):
    text = path.read_text(encoding="utf-8")
    for action in re.findall(r"uses: *(.*)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        if any("actions/checkout@" in step.get("uses", "") for step in job["steps"]):
            assert job["permissions"] == {"contents": "read"}


def test_what_is_pinned_by_hashes_is_installed_by_hashes_alone() -> None:
    """A file with hashes, be it of constraints, lets pip install nothing that has none."""
    told = [line for line in (PROJECT / "Makefile").read_text(encoding="utf-8").splitlines()
            if "pip install" in line]
    assert len(told) > 2
    assert [line for line in told
            if ("requirements" in line) != ("--require-hashes" in line)] == []
