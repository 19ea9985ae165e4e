"""Print the answers of the command line to the recorded questions, a line of JSON each.

    python -m tools.answers [QUESTION ...] [--write]

``--write`` records the answers to all questions instead (``recorded/``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from tools.answers.asking import QUESTIONS, answer
from tools.answers.recorded import record_all


def main(argv: Sequence[str] | None = None) -> None:
    """Print or record."""
    parser = argparse.ArgumentParser(prog="python -m tools.answers",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("questions", nargs="*", default=QUESTIONS, metavar="QUESTION",
                        help="question to ask (default: all of questions.txt)")
    parser.add_argument("--write", action="store_true", help="record the answers to all questions")
    args = parser.parse_args(argv)
    if args.write:
        record_all()
        return
    for question in args.questions:
        print(json.dumps({"question": question, "answer": answer(question)}), flush=True)


if __name__ == "__main__":
    main()
