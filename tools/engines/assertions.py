"""Find in which releases the checks stand that ``params/engines/assertions/`` names.

    python -m tools.engines.assertions [--only vllm] [--cache DIR]

For each pinned release the checks of its configuration are read from its source, which is parsed
and never run, and counted; a check that an assertion names is looked for among them. Both go to
``params/engines/checks/``. An assertion whose check stands nowhere is refused: something moved.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from catalogue.engines.assertions import Assertion, asserting, assertions
from tools.engines.checks import Check, checks
from tools.engines.command import run
from tools.engines.extract import ENGINES
from tools.engines.source import ExtractError, Fetch, fetch, find, load

TARGET = Path(__file__).resolve().parents[2] / "params" / "engines" / "checks"
CONFIGURATION = {
    "vllm": ("vllm/config/", "vllm/config.py", "vllm/engine/arg_utils.py"),
    "vllm-ascend": ("vllm_ascend/ascend_config.py", "vllm_ascend/platform.py",
                    "vllm_ascend/utils.py"),
    "sglang": ("sglang/srt/server_args.py", "sglang/srt/arg_groups/")}
"""Engine -> where its releases check what they are started with."""
_OWNER = re.compile(r"\b(?:[A-Za-z_]\w*(?:\([^()]*\))?\.)+(?=[A-Za-z_])")


@functools.cache
def plainly(condition: str) -> str:
    """A condition without whose attributes its names are, as that moves from release to release.

    >>> plainly("not (self.parallel_config.tp % resolved_view(self).dp == 0)")
    'not tp % dp == 0'
    """
    return ast.unparse(ast.parse(_OWNER.sub("", condition), mode="eval"))


def stands(assertion: Assertion, found: Sequence[Check], configuration: Sequence[str]
           ) -> str | None:
    """File and line of the check that an assertion names; None where a release has none."""
    wanted = set(map(plainly, assertion.checks))
    places = (assertion.file,) if assertion.file else configuration
    for check in found:
        if any(part in check.file for part in places) and plainly(check.fails) in wanted and (
                not assertion.within or plainly(assertion.within) in map(plainly, check.guards)):
            return f"{check.file}:{check.line}"
    return None


def checks_text(name: str, cache: Path | None, get: Fetch) -> str:
    """The file of one engine: how many checks each release has, and where named ones are.

    Raises ExtractError, one sentence, for a release that cannot be read, and for an assertion whose
    check stands in none.
    """
    engine, wanted = ENGINES[name], [each for each in assertions(name) if each.checks]
    configuration = CONFIGURATION[name]
    places = (*configuration, *(each.file for each in wanted if each.file))
    read: dict[str, int] = {}
    where: dict[str, dict[str, str]] = {each.name: {} for each in wanted}
    for release in find(engine.package or name, list(engine.releases), get):
        source = load(release, cache, get, engine.root)
        found = [check for path in sorted(source.files) if any(part in path for part in places)
                 for check in checks(path, source.files[path])]
        read[release.version] = sum(any(part in check.file for part in configuration)
                                    for check in found)
        for each in wanted:
            if place := stands(each, found, configuration):
                where[each.name][release.version] = place
        print(f"{name} {release.version}: {read[release.version]} checks, "
              f"{sum(release.version in each for each in where.values())} of them named")
    if lost := [each for each, found in where.items() if not found]:
        raise ExtractError(f"{name}: no release has the check of {', '.join(lost)}.")
    return (
        "# Written by python -m tools.engines.assertions: how many checks the configuration of a "
        "release has,\n# and where the check of an assertion stands.\n"
        + yaml.safe_dump({"read": read, "stands": where}, sort_keys=False, width=100))


def main(argv: Sequence[str] | None = None, target: Path = TARGET, get: Fetch = fetch) -> int:
    """Write the files. Returns 0, or 1 after one sentence that says what stopped it."""
    files = {name: target / f"{name}.yml" for name in asserting()}
    return run("tools.engines.assertions", __doc__, files, checks_text, argv, get)


if __name__ == "__main__":
    sys.exit(main())
