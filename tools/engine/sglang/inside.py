"""Runs inside the engine's environment: SGLang's parser, resolution and checks, line by line.

Reads ``{"card", "lines": [{"name", "program", "argv", "environment"}]}`` and writes one JSON line
for each: parsed, configured, refused. A line of a router is parsed by the router's own program.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import stand_in

ROUTER = "sglang_router.launch_router"


def main() -> int:
    """Check what stands on the standard input."""
    asked = json.load(sys.stdin)
    stand_in.install(asked["card"])
    for line, verdict in stand_in.verdicts(asked["lines"]):
        steps = routed if line["program"] == ROUTER else served
        try:
            for step in steps(line["argv"]):
                verdict[step] = True
        except (Exception, SystemExit) as error:
            verdict["refused"].append(stand_in.error_summary(error))
    return 0


def served(argv: list[str]) -> Any:
    """A server's line: parsed, then resolved and checked as its launcher does."""
    from sglang.srt.arg_groups.overrides import model_config_of, resolving_view
    from sglang.srt.model_executor.model_runner_components.moe_ep_setup import (
        check_quantized_moe_compatibility,
    )
    from sglang.srt.server_args import prepare_server_args

    args = prepare_server_args(argv)
    yield "parsed"
    args.resolve_once()
    args.check_server_args()
    view = resolving_view(args)
    check_quantized_moe_compatibility(
        model_config=model_config_of(args), tp_size=view.tp_size, moe_ep_size=view.ep_size,
        moe_dp_size=view.moe_dp_size)
    yield "configured"


def routed(argv: list[str]) -> Any:
    """A router's line: parsed by its program, its own checks included."""
    from sglang_router.launch_router import Router, parse_router_args

    args = parse_router_args(argv)
    yield "parsed"
    args._validate_router_args()
    Router.from_args(args)
    yield "configured"


if __name__ == "__main__":
    sys.exit(main())
