"""How the command line begins and ends: help, version, and signals that leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import calc
from calc.commands import listing
from calc.commands.main import COMMANDS

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
