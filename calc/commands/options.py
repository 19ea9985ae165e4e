"""How commands are declared: their options, each with one meaning, and how values are read."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from calc.commands.view import View, print_view
from catalogue import ParamsError, library
from catalogue.deployments.admission import length_words, positions, too_long
from catalogue.entries.models import Model
from catalogue.reading.near import TYPO, nearest_names
from catalogue.reading.synonyms import key_meant
from catalogue.reading.syntax import full_width, half_width
from catalogue.reading.units import parse
from catalogue.reading.values import is_path

if TYPE_CHECKING:
    from catalogue.reading.yamlfile import YamlFile

PATHS = ("-o", "--save")  # options whose values are paths
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Command(click.Command):
    """A command that refuses an option in place of a value, and full-width characters."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments. Raises UsageError in one sentence."""
        names = {name: param for param in self.params for name in param.opts}
        for before, word in itertools.pairwise(["", *args]):
            if word in names and not getattr(names.get(before), "is_flag", True):
                raise click.UsageError(f"{before}: expected a value, found {word}.")
            if (wide := full_width(word)) and not is_path(word) and before not in PATHS:
                option = f"{before}: " if before in names else ""
                narrow = half_width(word)
                way = (f"write {option.replace(':', '')}{narrow}" if narrow.isascii()
                       else "expected an ASCII one")
                raise click.UsageError(f"{option}{wide}, {way}.")
            if word.startswith(("–", "—")):  # an editor's, in place of two hyphens
                raise click.UsageError(f"'{word[:40]}' begins with a dash, write --{word[1:40]}.")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


def cli_command(name: str, *examples: str, sections: Sequence[str] = (), table: bool = True,
                has_quantities: bool = True) -> Callable[[Callable[..., View]], click.Command]:
    """Declare a command by a function that returns a `View`; its docstring is the help.

    Args:
        name: of the command.
        examples: arguments that help shows after the options.
        sections: of the view that options of this name print.
        table: whether there are rows for ``--csv``.
        has_quantities: whether they are quantities in SI units.
    """
    def declare(function: Callable[..., View]) -> click.Command:
        @functools.wraps(function)
        def run(**values: Any) -> int:
            ctx = click.get_current_context()
            shown = [section for section in sections if values.pop(f"show_{section}")]
            as_json, as_csv = values.pop("as_json"), values.pop("as_csv", False)
            view = function(**values)
            print_view(view, ctx.find_root().obj, shown, as_json, as_csv)
            return view.code

        lines = "\n".join(f"  will-it-fit {name} {example}".rstrip() for example in examples)
        declared = click.command(name, cls=Command, epilog=f"\b\nExamples:\n{lines}")(run)
        declared.params += [click.Option([f"--{section}", f"show_{section}"], is_flag=True,
                                         help=f"Print {SECTIONS[section]}.")
                            for section in sections]
        for form in ("csv", "json") if table else ("json",):
            declared.params.append(click.Option([f"--{form}", f"as_{form}"], is_flag=True, help=(
                f"Print {form.upper()}{', with values in SI units' * has_quantities}.")))
        return declared

    return declare


SECTIONS = {"details": "the full result", "parts": "the time breakdown of one engine step",
            "inputs": "every input with its range and source"}


def unambiguous(ctx: click.Context, argument: click.Parameter, name: str | None) -> str | None:
    """Return a name. Raises ParamsError for one of the catalogue and of a file here, and for the
    second part of a value with a space: ``--tpot 50 ms``."""
    kind = "goals" if argument.name == "goal" else "scenarios"
    if name and library.stands(kind, name):
        library.locate(kind, name, library.HERE)
    elif name and not is_path(name):
        words = ctx.find_root().obj
        option, value = ["", *words[:words.index(name)]][-2:]
        if option[:2] == "--" and not nearest_names(name, library.names(kind), 1, TYPO):
            joined = name if value == "=" else f"'{value} {name}'"
            raise ParamsError(f"unexpected argument '{name[:60]}': {option} takes one value, write "
                              f"{option} {joined[:60]}.")
    return name


scenario_argument = click.argument("scenario", metavar="DEPLOYMENT", callback=unambiguous)
"""A deployment, a name of the catalogue or a file."""

LIMITS = {
    "ttft": ("TIME", "TTFT limit on the mean ('2 s') or a percentile ('p90 2 s')."),
    "tpot": ("TIME", "TPOT limit on the mean ('50 ms', '30 token/s') or a percentile.")}
PLAN_OPTIONS = {
    "model": ("NAME|FILE", "Model: a catalogue name, e.g. deepseek-r1, or your own file."),
    "card": ("NAME|FILE", "Card: a catalogue name, e.g. h200, or your own file."),
    "cards": ("NUMBER", "Number of cards (default: those of one server)."),
    "users": ("NUMBER", "Concurrent users, each with one request at a time (default: 1)."),
    "input": ("TOKENS", "Mean prompt length in tokens, e.g. 2k, which is 2,000 (default: 2,048)."),
    "output": ("TOKENS", "Mean output length in tokens (default: 512)."),
    "engine": ("NAME[@RELEASE]", "Engine (default: vllm, or vllm-ascend on Ascend; the newest "
               "release that runs the model)."),
    "precision": ("NAME|FILE", "Weight format (default: a published one that runs on the card)."),
    "layout": ("LAYOUT", "Parallel layout, e.g. TP8, TP4xDP2/EP8 (default: tensor parallelism "
               "across one server, or the nearest layout that fits)."),
    "hits": ("SHARE", "Share of prompt tokens found in the prefix cache, e.g. 50% (default: 0)."),
    **LIMITS}
"""Option -> metavar and help, of a deployment that no file describes."""


def plan_options(argument: str = "deployment",
                 options: Mapping[str, tuple[str, str]] = PLAN_OPTIONS) -> Decorator:
    """Add a deployment or goal: a name, a file, or options in place of one, and ``--save``."""
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function = click.option("--save", metavar="FILE", help=(
            f"Write the {argument} to a file."))(function)
        for name, (metavar, text) in reversed([*options.items()]):
            function = click.option(f"--{name}", metavar=metavar, help=text)(function)
        return click.argument(argument, required=False, callback=unambiguous)(function)

    return add


def planned(deployment: str | None, values: dict[str, Any], goal: bool = False
            ) -> tuple[str | YamlFile, tuple[str, ...]]:
    """What is asked about: the reference of a file, or the contents that options describe.

    Args:
        deployment: name or path; None without one.
        values: of the options, with ``save``, which is taken out.
        goal: whether the options describe a goal.

    Returns it, and the defaults that were chosen, in words. Raises ParamsError, one sentence.
    """
    save = values.pop("save")
    stated = {name: value for name, value in values.items() if value is not None}
    if deployment is not None:
        if stated or save:
            option = next(iter(stated), "save")
            key = key_meant(option)
            instead = f"; write --set {key}={stated[option]}" if key else ""
            raise ParamsError(f"--{option}: describes a {'goal' if goal else 'deployment'} without "
                              f"a file, expected no '{deployment[:60]}' beside it{instead}.")
        return deployment, ()
    from calc.answer import quickplan  # loads the nearest changes

    if lacking := [name for name in ("model", "card") if name not in stated]:
        raise ParamsError(f"--{lacking[0]}: expected a name or file, or --model and --card, "
                          "such as --model deepseek-r1 --card h200.")
    quick = (quickplan.goal_plan if goal else quickplan.deployment_plan)(**stated, flags=True)
    if save:
        quick.save(save)
    return quick.file, quick.defaults


def settings_option(function: Callable[..., Any], what: str = "deployment",
                    example: str = "workload.concurrency=128") -> Callable[..., Any]:
    """Add ``--set``, any number of times.

    Args:
        function: a command.
        what: file whose keys are overridden.
        example: setting for the help text.
    """
    return click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=(
        f"Override a key of the {what}, e.g. {example} (repeatable). "
        "The key of a card is device; that of a server is cluster.node."))(function)


def lengths_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how long requests are; `listed_lengths` reads them."""
    function = click.option("--variation", metavar="NUMBER", help=(
        "Coefficient of variation of the lengths; required with --lengths lognormal, and "
        "valid only with it."))(function)
    return click.option("--lengths", metavar="DISTRIBUTION|FILE", help=(
        "Request lengths: constant, exponential, lognormal, or a CSV file of input and output "
        "token counts, one request per line (default: from the deployment)."))(function)


def output_option(what: str, metavar: str = "FILE", **options: Any) -> Decorator:
    """Add ``-o``, where something is written."""
    return click.option("-o", "output", metavar=metavar, help=what, **options)


class Number(click.ParamType):
    """Type of an option: a number in SI, written with its unit, between bounds."""

    def __init__(self, unit: str = "1", least: float = 0.0, most: float = 1e9, *,
                 integer: bool = False, above: bool = False) -> None:
        self.unit, self.least, self.most = unit, least, most
        self.integer, self.above = integer, above  # an integer; more than ``least``
        self.name = {"s": "time", "s/token": "time", "B": "size", "request/s": "rate"}.get(
            unit, "number")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None
                ) -> float | int:
        """Parse a text. Raises ParamsError, one sentence, for another unit or out of bounds."""
        option = f"{param.opts[0] if param else self.name} {value[:40]}"
        if self.unit == "request/s" and value[-1:].isdigit():  # a rate may be a plain number
            value += " request/s"
        try:
            number = parse(value, self.unit)
        except ValueError as error:
            raise ParamsError(f"{option}: {error}.") from None
        if (not self.least <= number <= self.most or (self.above and number == self.least)
                or (self.integer and number != int(number))):
            most = f" and at most {self.most:g}" if number > self.most or self.most < 1e9 else ""
            raise ParamsError(f"{option}: expected a {'whole ' * self.integer}number "
                              f"{'above' if self.above else 'of at least'} {self.least:g}{most}.")
        return int(number) if self.integer else float(number)


seed_option = click.option("--seed", type=Number(integer=True), default="0", help="Random seed.")


DAILY = Number("request", 1e-3, 1e12)  # requests or users
think_time_option = click.option("--think-time", type=Number("s"), help=(
    "Time between an answer and the user's next request, e.g. '30 s' (default: none)."))


def refuse_too_long(where: str, model: Model, longest: float | None) -> None:
    """Raise ParamsError, one sentence, for requests longer than the positions of the model.

    Args:
        where: file and line, or an identifier.
        model: of a deployment or a goal.
        longest: tokens of the longest request [token]; None where nothing states them.
    """
    if longest is not None and too_long(longest, positions(model)):
        raise ParamsError(f"{where}: {length_words(longest, model)[0]}.")


def require(stated: Mapping[str, Any], needed: Sequence[tuple[str, str]]) -> None:
    """Refuse options without another that they need. Raises ParamsError, one sentence.

    Args:
        stated: option, with ``_`` for ``-``, and its value, None where it is not given.
        needed: options, and the other that each needs.
    """
    for name, other in needed:
        if stated[name] is not None and stated[other] is None:
            raise ParamsError(f"--{name.replace('_', '-')}: expected --{other.replace('_', '-')} "
                              "as well.")


def limit_options(function: Callable[..., Any], at: str) -> Callable[..., Any]:
    """Add ``--ttft`` and ``--tpot``, the latency limits ``at`` which requests are judged."""
    function = click.option("--tpot", type=Number("s/token", above=True), metavar="TIME", help=(
        f"TPOT limit {at}, e.g. '50 ms' or '20 token/s' (default: the deployment's, if any)."
    ))(function)
    return click.option("--ttft", type=Number("s", above=True), metavar="TIME", help=(
        f"TTFT limit {at}, e.g. '2 s' (default: the deployment's, if any)."))(function)
