"""How the command line begins and ends: help, version, and signals that leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace as Made

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import calc
from calc.commands import listing, main, report
from calc.commands.main import COMMANDS
from catalogue import ParamsError

PROJECT = Path(__file__).resolve().parents[3]
LONG = ["search", "r1-80-users-910b", "--workers=2", "--set=cards.most=256"]


def children(parent: int) -> list[int]:
    """Processes that one has started and that have not ended."""
    return [int(number) for task in Path(f"/proc/{parent}/task").iterdir()
            for number in (task / "children").read_text().split()]


@pytest.fixture
def searching():
    """A search that has started its processes, and those."""
    running = subprocess.Popen(
        [sys.executable, "-m", "calc", *LONG], cwd=PROJECT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    while len(begun := children(running.pid)) < 2:
        time.sleep(0.02)
        assert running.poll() is None
    yield running, begun
    running.kill()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_help(cli, command):
    with pytest.raises(SystemExit) as ended:
        cli(command, "--help")
    assert ended.value.code == 0


def test_the_version_is_that_of_the_package(cli, capsys):
    with pytest.raises(SystemExit) as ended:
        cli("--version")
    assert ended.value.code == 0
    assert calc.__version__ in capsys.readouterr().out


def test_a_command_adds_up_in_one_thread_and_leaves_the_caller_its_own(cli, monkeypatch):
    def threads():
        return {library["num_threads"] for library in threadpool_info()
                if library["user_api"] == "blas"}

    found = []
    monkeypatch.setattr(listing, "run", lambda args: found.append(threads()) or 0)
    with threadpool_limits(2, "blas"):
        cli("devices")
        assert (found, threads()) == ([{1}], {2})


@pytest.mark.parametrize(("number", "code", "said"), [
    (signal.SIGINT, 130, "interrupted.\n"), (signal.SIGTERM, 143, "")])
def test_a_signal_ends_a_search_and_its_processes(searching, number, code, said):
    running, begun = searching
    running.send_signal(number)
    _, errors = running.communicate(timeout=120)
    assert (running.returncode, errors) == (code, said)
    for process in begun:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_processes_of_a_search_that_is_killed_end_by_themselves(searching):
    running, begun = searching
    running.kill()
    running.communicate(timeout=120)
    for process in begun:
        while alive(process):  # the suite's own limit ends the wait
            time.sleep(0.02)


def alive(process: int) -> bool:
    """Whether a process runs, and is not merely waiting to be told that it has ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def interrupted_before():
    """Begin a process to which somebody has said Ctrl-C before it could answer."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("program", ["calc", "will_it_fit"])
def test_a_command_interrupted_before_it_begins_says_so_in_a_sentence(program):
    done = subprocess.run([sys.executable, "-m", program, "devices"], cwd=PROJECT, text=True,
                          capture_output=True, check=False, preexec_fn=interrupted_before)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted.\n")


READ_ONLY = "/sys"  # for whoever runs the tests


@pytest.mark.parametrize("words", [
    ["deploy", "h200-r1-vllm-tp8", "-o", f"{READ_ONLY}/mine"],
    ["import-model", str(PROJECT / "tests/catalogue/models/configs/deepseek-v3.2.json"), "-o",
     f"{READ_ONLY}/mine.yml"],
    ["sweep", "h200-r1-vllm-tp8", "--axis=workload.concurrency=1,2", "--workers=1", "-o",
     f"{READ_ONLY}/mine"]], ids=lambda words: words[0])
def test_a_folder_that_cannot_be_written_to_is_a_sentence(cli, words):
    code, _, err = cli(*words)
    assert code == 2
    assert err.startswith(READ_ONLY)
    assert err.count("\n") == 1


@pytest.mark.parametrize(("called", "name"), [
    ("/usr/bin/will-it-fit", "will-it-fit"), ("will-it-fit", "will-it-fit"),
    ("calc/__main__.py", "python -m calc"), ("pytest", "python -m calc")])
def test_help_names_the_program_as_it_was_called(monkeypatch, called, name):
    monkeypatch.setattr(sys, "argv", [called])
    assert main._name() == name


@pytest.mark.parametrize(("library", "extra"), [
    ("pyarrow.parquet", "analysis"), ("scipy", "analysis"), ("sphinx.util", "book")])
def test_what_a_command_lacks_is_told_with_how_to_have_it(library, extra):
    told = main._lacks("sweep", ModuleNotFoundError(name=library))
    assert library.partition(".")[0] in told
    assert f"will_it_fit-{calc.__version__}-py3-none-any.whl[{extra}]" in told
    with pytest.raises(ModuleNotFoundError):
        main._lacks("sweep", ModuleNotFoundError(name="numpy"))


def arguments(*asked):
    """The options of the first command that has more than its help, and what may be asked."""
    parser = main._parser(asked)
    group, = parser._subparsers._group_actions
    return parser, {name: {option for action in command._actions
                           for option in action.option_strings} - {"-h", "--help"}
                    for name, command in group.choices.items()}


def test_of_the_command_that_is_asked_for_the_options_are_known_and_of_others_the_names():
    parser, options = arguments("devices")
    assert options.pop("devices") == {"--json", "--lang"}
    assert set(options) == set(COMMANDS) - {"devices"}
    assert not any(options.values())
    assert parser.description is None
    assert arguments("devices", "--help")[0].description
    assert arguments("-h")[0].description
    assert arguments("report")[1]["report"] == {
        "--json", "--device", "--lang", "-o", "--out", "--book"}
    assert parser.parse_args(["devices"]).json is False


# --- a report, which the book makes ---------------------------------------------------------------


def reported(monkeypatch, code, printed="", errors="", *, lacks=None, json=False):
    asked = []
    monkeypatch.setattr(report, "find_spec", lambda library: None if library == lacks else library)
    monkeypatch.setattr(report, "_ran", lambda words: asked.append(words) or (
        code, printed, errors))
    assert report.run(Made(scenario="mine", device="x", lang="zh", out="a", book="b",
                           json=json)) == 0
    return asked[0]


def test_a_report_is_asked_of_the_book_and_told_where_it_is(monkeypatch, capsys):
    words = reported(monkeypatch, 0, "mine.html\n")
    assert words[0] == sys.executable
    assert words[1].endswith("book/_ext/report.py")
    assert words[2:] == ["--device=x", "--lang=zh", "--out=a", "--book=b", "--", "mine"]
    assert capsys.readouterr().out == "mine.html\n"
    reported(monkeypatch, 0, "mine.html\n", json=True)
    assert '"mine.html"' in capsys.readouterr().out


def test_a_report_that_is_not_made_says_why(monkeypatch):
    with pytest.raises(ParamsError, match=r"^wrong\.$"):
        reported(monkeypatch, 2, errors="wrong.\n")
    with pytest.raises(ParamsError, match=r"^mine: .*: the last line\.$"):
        reported(monkeypatch, 1, errors="first\nthe last line.\n\n")
    with pytest.raises(ParamsError, match="no reason"):
        reported(monkeypatch, 1)
    with pytest.raises(ModuleNotFoundError, match="papermill"):
        reported(monkeypatch, 0, lacks="papermill")


def test_a_program_that_is_run_gives_its_code_and_what_it_said():
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert report._ran([sys.executable, "-c", code]) == (3, "out\n", "err\n")
