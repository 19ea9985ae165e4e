"""The command line, ``will-it-fit COMMAND`` or ``python -m calc COMMAND``."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

import calc
from calc.commands import BAD_INPUT, INTERRUPTED, OK

SCRIPT = "will-it-fit"
GC_THRESHOLD = 200_000  # allocations between collections
EXTRAS = {"analysis": ("distributed", "pandas", "pyarrow", "scipy"),
          "report": ("fluent", "matplotlib")}
"""Extra of the package -> libraries that single commands need from it."""

Commands = dict[str, tuple[str, str]]  # name -> module of this package, one line of help

GROUPS: dict[str, Commands] = {
    "Analyse": {
        "estimate": ("estimate", "Does a deployment fit? How fast is it? What limits it?"),
        "search": ("search", "Find the best deployments for your users and latency limits."),
        "simulate": ("simulate", "Simulate requests step by step: latency percentiles, goodput."),
        "cost": ("cost", "Cost per token, energy, cost of ownership; break-even against an API."),
        "capacity": ("capacity", "Replicas for a day's traffic; spare servers; KV-cache tiers."),
        "decide": ("decide", "Sensitivity analysis: which inputs does a result depend on?"),
        "sweep": ("sweep", "Evaluate many variants of a deployment; keep the Pareto front.")},
    "Deploy and measure": {
        "deploy": ("deploy", "Write the files that start and monitor a deployment."),
        "report": ("report", "Write a report on a deployment as a single HTML page."),
        "calibrate": ("calibrate", "Fit a calibration to measurements."),
        "log": ("log", "Compare an engine's start-up log with the prediction.")},
    "Catalogue": {
        "list": ("entries:list_command", "List the models, cards, servers, deployments, …"),
        "show": ("entries:show_command", "Show an entry, or an engine's flags by release."),
        "new": ("entries:new_command", "Write a template for your own file."),
        "check": ("check", "Check your files, or the whole catalogue."),
        "import-model": ("import_model", "Write a model file from a Hugging Face config.json.")},
    "Maintain": {
        "dev": ("main:dev", "Audit claims, validate predictions, fit kernel models.")},
}
DEV: Commands = {
    "audit": ("audit", "Check each claim in the audited documents."),
    "validate": ("validate", "Compare predictions with measurements."),
    "discrepancy": ("discrepancy", "Estimate model error by class of systems."),
    "kernels": ("kernel_tables", "List tables of measured kernels, or fit models to them.")}


class LazyGroup(click.Group):
    """Commands by section, whose modules are imported when they are called."""

    def __init__(self, sections: dict[str, Commands], **options: Any) -> None:
        super().__init__(**options)
        self.sections = sections
        self.commands: dict[str, Any] = {
            name: module for commands in sections.values()
            for name, (module, _) in commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which help prints them."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        if cmd_name not in self.commands:
            return None
        name, _, attribute = self.commands[cmd_name].partition(":")
        return getattr(import_module(f"{__package__}.{name}"), attribute or "command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section, without importing them."""
        for section, commands in self.sections.items():
            with formatter.section(section):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}
dev = LazyGroup({"Commands": DEV}, name="dev", context_settings=SETTINGS, help=(
    "Maintain the catalogue: check claims and predictions, fit models."))
cli = LazyGroup(GROUPS, name=SCRIPT, context_settings=SETTINGS, help="""
Predict memory, latency, throughput and cost of large language models on any card.

\b
  will-it-fit estimate --model deepseek-r1 --card h200 --cards 8 --users 64 --input 2k --output 1k
  will-it-fit search --model deepseek-v4-flash --card h20 --cards 16 --users 200 --tpot '33 ms'
  will-it-fit COMMAND --help
""", epilog="""
\b
Shell completion: add this line to ~/.bashrc (for zsh or fish, to the configuration file of that
shell, with zsh_source or fish_source):
  eval "$(_WILL_IT_FIT_COMPLETE=bash_source will-it-fit)"
""")


def _print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        click.echo(f"{SCRIPT} {calc.__version__}")  # looked up only here: that takes a while
        ctx.exit()


cli.params.append(click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False,
                               help="Show the version.", callback=_print_version))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, 2 for input that cannot be used, or 130 if it was interrupted.

    SIGTERM also ends the processes that the command has started.
    """
    gc.set_threshold(GC_THRESHOLD)  # parsed files hold no cycles: collections took a fifth
    gc.enable()
    atexit.register(gc.freeze)  # nothing to collect at exit: that took another sixth
    alone = threading.current_thread() is threading.main_thread()
    threads = set(threading.enumerate())
    before = signal.signal(signal.SIGTERM, _terminated) if alone else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        return _run(sys.argv[1:] if argv is None else argv)
    except (KeyboardInterrupt, click.Abort):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # another says nothing new
        print("interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # nobody reads on
        sys.stderr.close()
        return OK
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if "multiprocessing" in sys.modules:  # few commands start processes
            from calc.many.processes import end_processes

            end_processes(threads)
        if alone:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _run(argv: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    words = list(map(str, argv))
    try:
        code = cli.main(words or ["--help"], SCRIPT, standalone_mode=False, obj=words)
        print(end="", flush=True)
        return code if isinstance(code, int) else OK
    except click.ClickException as error:
        from calc.commands.usage import explained

        text = explained(error, words)
    except ModuleNotFoundError as error:
        text = missing_extra(words, error)
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk under the output
        print(f"the output cannot be written ({str(error.strerror).lower()}).", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered goes nowhere
        return BAD_INPUT
    except Exception as error:
        from catalogue import ParamsError

        if not isinstance(error, ParamsError):
            raise
        text = str(error)
    from calc.commands.view import print_error

    print_error(text, words)
    print(end="", flush=True)
    return BAD_INPUT


def missing_extra(words: Sequence[str], error: ModuleNotFoundError) -> str:
    """Name the extra that a command needs; raise the error again if none has the library."""
    library = str(error.name).partition(".")[0]
    extra = next((extra for extra, names in EXTRAS.items() if library in names), None)
    if extra is None:
        raise error
    return (f"{words[0]}: the library {library} is not installed, expected the package with its "
            f"extra: pip install 'will_it_fit-{calc.__version__}-py3-none-any.whl[{extra}]'.")


def _terminated(number: int, _: Any) -> None:
    raise SystemExit(128 + number)  # as a shell reports a signal
