"""Runs inside the engine's environment: its parser and its configuration checks, line by line.

Reads ``{"lines": [{"name", "argv", "environment"}]}`` and writes one JSON line for each. A line
that a CPU refuses is configured again without what is of a card alone, which is then said.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

IMAGES = ("torchvision",)  # absent here; models that also read images import it
# what a CPU has no kernels or devices for; each group is left out alone, then all of them
CARD = (("--enable-eplb", "--eplb-config"), ("--quantization",), ("--kv-cache-dtype",),
        ("--all2all-backend",), ("--speculative-config",), ("--enable-dbo",))


def without(argv: list[str], names: tuple[str, ...]) -> list[str]:
    """Arguments without some options and their values."""
    kept: list[str] = []
    skipping = False
    for word in argv:
        if word.startswith("--"):
            skipping = word.partition("=")[0] in names
        if not skipping:
            kept.append(word)
    return kept


def main() -> int:
    """Check what stands on the standard input."""
    import stand_in

    sys.meta_path.append(stand_in.Finder(IMAGES))
    check(json.load(sys.stdin)["lines"], CARD)
    return 0


def check(lines: Iterable[dict[str, Any]], card: Sequence[tuple[str, ...]]) -> None:
    """Write what becomes of each line.

    Args:
        lines: name, arguments and environment of each.
        card: groups of options that are left out where the whole is refused.
    """
    import stand_in

    with contextlib.redirect_stdout(sys.stderr):
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
        from vllm.model_executor.models import registry
        from vllm.usage.usage_lib import UsageContext
        from vllm.utils.argparse_utils import FlexibleArgumentParser

    registry._run_in_subprocess = lambda ask: ask()  # another process would have no stand-in

    def parsed(argv: list[str]) -> Any:
        args = make_arg_parser(FlexibleArgumentParser()).parse_args(argv)
        args.model = args.model_tag
        validate_parsed_serve_args(args)
        return args

    for line, verdict in stand_in.verdicts(lines):
        try:
            parsed(line["argv"])
            verdict["parsed"] = True
        except (Exception, SystemExit) as error:
            verdict["refused"].append(stand_in.error_summary(error))
            continue
        for group in ((), *card, tuple(name for each in card for name in each)):
            left = [name for name in group if name in line["argv"]]
            if group and not left:
                continue
            try:
                args = parsed(without(line["argv"], group))
                AsyncEngineArgs.from_cli_args(args).create_engine_config(
                    usage_context=UsageContext.OPENAI_API_SERVER, headless=args.headless)
                verdict.update(configured=True, left_out=left)
                break
            except (Exception, SystemExit) as error:
                verdict["refused"].append(stand_in.error_summary(error))


if __name__ == "__main__":
    sys.exit(main())
