"""Print what the command line answers to every question of the set, a line of JSON each.

    python -m tools.answers [QUESTION ...] [--write]

``--write`` records the answers instead (``recorded/``), against which the tests hold every change
and every machine. An answer that is recorded is no proof that it is right; it shows what moves.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from tools.answers.asking import answer
from tools.answers.questions import QUESTIONS
from tools.answers.recorded import FOLDER, record


def main(argv: Sequence[str] | None = None) -> None:
    """Ask, and print or record."""
    parser = argparse.ArgumentParser(prog="python -m tools.answers",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("questions", nargs="*", default=QUESTIONS, help="of the set; all of them")
    parser.add_argument("--write", action="store_true", help=f"into {FOLDER.name}/")
    given = parser.parse_args(argv)
    for question in given.questions:
        told = answer(question)
        if given.write:
            record(question, told)
        else:
            print(json.dumps({"question": question, "answer": told}), flush=True)


if __name__ == "__main__":
    main()
