"""Sentences on arguments that a command does not take, in place of click's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import click

from catalogue.deployments.loading import SHORT
from catalogue.library import GROUPS
from catalogue.reading.near import TYPO, nearest_names
from catalogue.reading.synonyms import OPTIONS, key_meant, present_name


def explained(error: click.ClickException, words: Sequence[str]) -> str:
    """Return a usage error as a sentence: what is wrong, and what was expected.

    Args:
        error: of click.
        words: arguments of the program.
    """
    ctx = getattr(error, "ctx", None)
    if ctx is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.format_message()
    command, name = ctx.command, ctx.command_path.partition(" ")[2] or ctx.info_name
    match error:
        case click.NoSuchOption():
            return unknown_option(ctx, name, error.option_name, words)
        case click.exceptions.NoSuchCommand():
            if present := present_name("commands", error.command_name):
                return f"'{error.command_name}' is {present}."
            near = nearest_names(error.command_name, command.list_commands(ctx), 1)
            return f"there is no command '{error.command_name[:60]}', " + (
                f"did you mean '{near[0]}'?" if near
                else f"expected one of {', '.join(command.list_commands(ctx))}.")
        case click.MissingParameter() if error.param:
            option = "" if isinstance(error.param, click.Argument) else f"{error.param.opts[0]} "
            example = (command.epilog or "").split("\n")[2].strip()
            return (f"{name}: expected {option}{error.param.make_metavar(ctx)}, such as "
                    f"`{example}`.")
        case click.BadParameter() if error.param:
            return f"{error.param.opts[0]}: {error.message}"
    if error.message.startswith("Got unexpected extra argument"):
        return unexpected(command, name, error.message.partition("(")[2].rstrip(")."), words)
    return error.format_message()


def unexpected(command: click.Command, name: str, extra: str, words: Sequence[str]) -> str:
    """Error message for unexpected arguments: a setting with spaces, or one too many."""
    first = extra.partition(" ")[0]
    for key, value in itertools.pairwise(words):
        if value == first and (first.startswith("=") or key.endswith("=")):
            joined = f"{key}{first}" + extra.partition(" ")[2] * (first == "=")
            return f"--set: expected KEY=VALUE without spaces, such as --set {joined}."
    taken = "".join(f"one {param.make_metavar(click.Context(command)).strip('[]')} and "
                    for param in command.params if isinstance(param, click.Argument))
    return (f"{name}: unexpected '{extra[:60]}', expected {taken}options; put a value with spaces "
            "in quotation marks.")


def unknown_option(ctx: click.Context, name: str, option: str, words: Sequence[str]) -> str:
    """Error message for an unknown option, with the option that was probably meant."""
    command = ctx.command
    word = next((word for word in words if word.partition("=")[0] == option), None) or next(
        (word for word in words if word.startswith(option)), option)
    option, equals, value = word.partition("=")
    if not equals:
        value = dict(itertools.pairwise(words)).get(word, "")
    if not value or value[0] in "-{" or "cache" in option:  # of a format with such a cache
        value = "VALUE"
    own = {opt.lstrip("-"): param for param in command.params for opt in param.opts
           if isinstance(param, click.Option)}
    stem, taken = option.lstrip("-").replace("_", "-"), [param.name for param in command.params]
    if stem not in own and (present := own.get(present_name("options", stem) or "")):
        return f"{name} has no option {option}, it is {present.opts[0]} now."
    if near := [stem] if stem in own else nearest_names(stem, own, 1, TYPO):
        return f"{name} has no option {option}, did you mean {own[near[0]].opts[0]}?"
    if key := key_meant(option):
        short = OPTIONS.get(key)
        if short in own and ("model" not in own or {"--model", "--card"} & {*words}):
            degree = next((text.upper() for text, path in SHORT.items() if path == key), "")
            return f"{name} has no option {option}, did you mean --{short} {degree}{value}?"
        if "set" in own and key not in GROUPS:
            meant = key_meant(option, goal="goal" in taken)
            return f"{name} has no option {option}, did you mean --set {meant}={value}?"
    if stem in ("model", "card") and "scenario" in taken:
        return (f"{name} has no option {option}, expected a file of the deployment; `will-it-fit "
                "estimate --model NAME --card NAME --save plan.yml` writes one.")
    if "flags" in taken:
        return f"{name}: a flag of an engine is written without its dashes, {stem}."
    root, group = ctx.find_root(), ctx.find_root().command
    if others := [other for other in group.list_commands(root) if any(
            f"--{stem}" in param.opts for param in getattr(
                group.get_command(root, other), "params", ()))
            ] if isinstance(group, click.Group) else []:
        return f"{name} has no option {option}, which is one of {', '.join(others)}."
    return f"{name} has no option {option[:60]}; `{ctx.command_path} --help` lists those it has."
