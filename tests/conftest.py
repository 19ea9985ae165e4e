"""What the tests share: the project's folder, the book's extension, the book built once."""

from __future__ import annotations

import os

# tests run side by side: threads that wait for each other's parts of small sums only take turns
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# tests start Python more than a hundred times, which would compile the whole project every time
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import fcntl
import gc
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from _short import RECORD, is_slow, longest_first, short, within

from tools.site.browser import INSTALL, find_chromium

ROOT = Path(__file__).resolve().parents[1]
BUILDING = "test_book_build.py"  # the tests that look at the book as a whole
# modules, entries and tests are there to the end: looking through them for garbage is in vain
gc.set_threshold(100_000, 20, 20)
# whatever the environment says, what pytest makes of tests (and of Hypothesis) is kept
sys.dont_write_bytecode = False
SECONDS: dict[str, float] = {}  # test -> of processors, that it took in this run
SPENT = [0.0]  # seconds of processors that were spent when a part of a test was last reported


@pytest.fixture(autouse=True)
def _no_shell_is_left() -> Iterator[None]:
    """Numbers of a page begin a shell where there is none, and whatever is read then is hidden."""
    yield
    if shells := sys.modules.get("IPython.core.interactiveshell"):
        shells.InteractiveShell.clear_instance()


def pytest_configure() -> None:
    """Machines are noisy, and what one run finds the next must find again; EXPLORE draws others."""
    from hypothesis import settings

    settings.register_profile("default", deadline=None, derandomize="EXPLORE" not in os.environ)
    settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--short", action="store_true",
                     help="a tenth of every long series, and nothing that needs minutes by nature")
    parser.addoption("--whole", action="store_true",
                     help="all of every series, but nothing that needs minutes by nature")
    parser.addoption("--seconds", type=float, metavar="S",
                     help="of the tests only as many as took so long in all when last recorded")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """In a full run one process more than cores: tests wait for a browser, a kernel, the book."""
    return (os.cpu_count() or 1) + (not config.getoption("--short"))


def pytest_collection_finish() -> None:
    """What every test finds is not looked through for garbage again."""
    gc.collect()
    gc.freeze()
    SPENT[0] = _spent()


def _spent() -> float:
    """Seconds of processors of this process and those that it waited for; no load changes them."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    now = _spent()
    report.spent, SPENT[0] = now - SPENT[0], now  # type: ignore[attr-defined]
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    SECONDS[report.nodeid] = SECONDS.get(report.nodeid, 0.0) + getattr(report, "spent", 0.0)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Record what tests took: the next run begins with the longest, ``make check`` counts on it."""
    cache = getattr(session.config, "cache", None)  # none with -p no:cacheprovider
    if not hasattr(session.config, "workerinput") and SECONDS and cache:
        known = cache.get(RECORD, {})
        cache.set(RECORD, known | {
            name: round(seconds, 3) for name, seconds in SECONDS.items()})


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a short run leaves out, then order the files."""
    recorded = cache.get(RECORD, {}) if (cache := getattr(config, "cache", None)) else {}
    chosen = (short(items) if config.getoption("--short") else
              [item for item in items if not is_slow(item)] if config.getoption("--whole") else
              list(items))
    if (seconds := config.getoption("--seconds")) is not None:
        chosen = within(chosen, seconds, recorded)
    elif "PYTEST_XDIST_WORKER" in os.environ:
        chosen = longest_first(chosen, recorded)
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen
    _around_the_book(items)


def _around_the_book(items: list[pytest.Item]) -> None:
    """One file of tests that needs the book comes first, the others when it has been built.

    Processes that wait for it would do nothing meanwhile; at the end they would be waited for.
    """
    needing = dict.fromkeys(item.path for item in items if "site" in getattr(
        item, "fixturenames", ()))
    if not needing:
        return
    first = next((path for path in needing if path.name == BUILDING), next(iter(needing)))
    others = [item for item in items if item.path not in needing]
    middle = len(others) // 2
    while 0 < middle < len(others) and others[middle].path == others[middle - 1].path:
        middle += 1
    items[:] = [*(item for item in items if item.path == first), *others[:middle],
                *(item for item in items if item.path in needing and item.path != first),
                *others[middle:]]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the book as a reader would and return the folder of its pages.

    Of several processes one builds while the others wait; what it leaves tells them that it did.
    """
    command = Path(sys.executable).with_name("jupyter-book")
    own = tmp_path_factory.getbasetemp()  # of a process; those of a run lie in one folder
    built = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "built"
    lock = os.open(ROOT / "tests", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            done = subprocess.run([command, "build", "book/"], cwd=ROOT, capture_output=True,
                                  text=True, encoding="utf-8", check=False)
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
            built.touch()
    finally:
        os.close(lock)
    return ROOT / "_build" / "html"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Call the command line: its arguments to its exit code, what it printed and its errors."""
    from calc.commands.main import main

    def call(*args: str) -> tuple[int, str, str]:
        code = main(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str],
         monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Lines that a part of a command prints: called with it and its arguments."""
    from _options import lines_of

    monkeypatch.setenv("COLUMNS", "240")

    def call(part: Callable[..., object], *args: object) -> list[str]:
        part(*args)
        return lines_of(capsys.readouterr().out)

    return call


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly that nothing was looked at in a browser, and what to do about it."""
    if find_chromium() is None:
        terminalreporter.section("NO BROWSER TESTS", red=True)
        terminalreporter.write_line("Chromium is missing, so no page was opened. To install it:")
        terminalreporter.write_line(f"    {INSTALL}")
