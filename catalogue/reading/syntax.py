"""Explanations of YAML syntax errors: line and cause in a user's words."""

from __future__ import annotations

import re

import yaml

_WIDE_COLON = r"\s*(- )?[^\W\d][^:：#'\"{[]*："
_NO_KEY = r"[^\W\d][^:：=]*$"
_NO_SPACE = r"(\s*[A-Za-z_]\w*):(?=[^\s:/])"
_NOWHERE = {  # beginnings of lines that no parameter file has -> what is wrong with them
    _WIDE_COLON: "a full-width colon '：', write ': '",
    r"(<{7}|={7}|>{7})(\s|$)": "a merge conflict is not resolved",
    r"```": "a code fence of Markdown, expected YAML alone",
    r"\+\s*[A-Za-z_]\w*:": "a line of a diff, expected the file itself",
    r"\s*\d+:?\s+[A-Za-z_]\w*:": "a line number before the key, expected the file itself",
    r"\$ ": "a command of a shell, expected the file itself",
    r"\s*<(!DOCTYPE|html)": "a page in HTML, expected the file itself",
    r"version https://git-lfs": "a pointer of Git LFS, fetch the file itself"}
_AT_ERROR = {
    r"\s*[A-Za-z_]\w*\s*=\s*\S": "expected 'key: value', not 'key = value'",
    _NO_SPACE: "no space after the colon, write 'key: value'",
    r"\s*[]}]": "a closing bracket without an opening one",
    r".*: - ": "a list after a key, write it in brackets: 'key: [value]'",
    r"[^{]*: [^{]*: ": "a second ': ' in one line, put the text in quotation marks",
    r".*['\"]\s+\w": "text after a quotation mark, put all of it in quotation marks"}
_INDENTED = "wrong indentation, expected the keys of a group in one column"
_PROBLEMS = {  # of PyYAML -> whether it shows where its context begins, cause
    "found unexpected end of stream": (True, "a quotation mark is not closed"),
    "did not find expected ',' or ']'": (True, "a bracket is not closed"),
    "did not find expected ',' or '}'": (True, "a bracket is not closed"),
    "could not find expected ':'": (True, "expected 'key: value'"),
    "mapping values are not allowed in this context": (False, _INDENTED),
    "did not find expected key": (False, _INDENTED),
    "did not find expected node content": (False, "a value is missing"),
    "did not find expected <document start>": (False, _INDENTED)}
_BLANKS = {"\t": "tab", "\u00a0": "no-break space", "\u3000": "full-width space"}
_KEY = re.compile(r"( *)([\w-]+):(?:\s+(\S))?")
_COMMENT = re.compile(r"(^|\s)#.*")

_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {
    "\u3000": " ", "、": ",", "“": '"', "”": '"'}  # signs of Chinese keyboards -> those of ASCII


def full_width(text: str) -> str:
    """Name the first full-width character of a text; empty without one.

    >>> full_width("h20，h200"), half_width("h20，h200")
    ("a full-width '，'", 'h20,h200')
    """
    return next((f"a full-width '{char}'" for char in text if char in _WIDE), "")


def half_width(text: str) -> str:
    """A text with ASCII in place of full-width characters."""
    return "".join(_WIDE.get(char, char) for char in text)


def explained(text: str, error: yaml.YAMLError) -> tuple[int, str]:
    """Line and cause of a syntax error, as PyYAML states it where no usual cause is found."""
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    line = mark.line + 1 if mark else 1
    start = context.line + 1 if context else line
    problem = getattr(error, "problem", None) or "cannot be parsed"
    rows = text.split("\n")
    row = rows[line - 1] if line <= len(rows) else ""
    before = max(1, min(start, line - 1))
    for number, indented in enumerate(rows[before - 1:line], before):
        if blank := re.match(f" *([{''.join(_BLANKS)}])", indented):
            return number, f"a {_BLANKS[blank[1]]}, expected spaces"
    shows_at_start, cause = _PROBLEMS.get(problem, (False, f"not valid YAML, {problem}"))
    if mark and problem == "found character that cannot start any token":
        cause = f"'{row[mark.column]}' begins a value, put it in quotation marks"
    at = start if shows_at_start else line
    return (_open_quote(rows[:line]) or _matched(_NOWHERE, rows[:line])
            or (None if "not closed" in cause else _matched(_AT_ERROR, rows[:at], at))
            or (_misplaced(rows[:line]) if cause == _INDENTED else None) or (at, cause))


def _spaces(count: int) -> str:
    return f"{count} space{'s' * (count != 1)}"


def _misplaced(rows: list[str]) -> tuple[int, str] | None:
    """Line and cause of a key in a wrong column, near the last line; None without one."""
    keys = [(number, len(match[1]), match[2], bool(match[3])) for number, row in enumerate(rows, 1)
            if (match := _KEY.match(_COMMENT.sub("", row)))]
    if len(keys) < 2 or keys[-1][0] != len(rows):
        return None
    (before, left, above, is_stated), (number, column, key, _) = keys[-2:]
    if column > left and is_stated and keys[-3:-2] and not keys[-3][3] and keys[-3][1] == left:
        return before, (f"'{above}' belongs under '{keys[-3][2]}': indent it by "
                        f"{_spaces(column)}")
    return number, (f"'{key}' is indented by {_spaces(column)}, '{above}' above it by "
                    f"{_spaces(left)}: expected one column for the keys of a group")


def mended(text: str) -> tuple[str, dict[str, list[int]]]:
    """A text with ``: `` in place of other colons after keys and without lines that have no key,
    and the lines of what was wrong."""
    rows, wrong = text.split("\n"), dict[str, list[int]]()
    for number, row in enumerate(rows, 1):
        if match := re.match(_WIDE_COLON, row):
            rows[number - 1] = f"{match[0][:-1].rstrip()}: {row[match.end():].lstrip()}"
            wrong.setdefault(_NOWHERE[_WIDE_COLON], []).append(number)
        elif match := re.match(_NO_SPACE, row):
            rows[number - 1] = f"{match[1]}: {row[match.end():]}"
            wrong.setdefault(_AT_ERROR[_NO_SPACE], []).append(number)
        elif re.match(_NO_KEY, row):
            rows[number - 1] = ""
            wrong.setdefault("not 'key: value', delete the line or begin it with '#'",
                             []).append(number)
    return "\n".join(rows), wrong


def foreign(text: str) -> tuple[int, str] | None:
    """Line and cause where a text is none that this program reads, such as a page in HTML."""
    return _matched(_NOWHERE, text.split("\n"))


def not_a_mapping(text: str) -> tuple[int, str]:
    """Line and cause where a text is valid YAML, but no keys with values."""
    rows = text.split("\n")
    if not any(_COMMENT.sub("", row).strip() for row in rows):
        return 1, "an empty file, expected lines 'key: value'"
    return _matched(_NOWHERE | _AT_ERROR, rows) or (1, "expected lines 'key: value'")


def _matched(causes: dict[str, str], rows: list[str], first: int = 1) -> tuple[int, str] | None:
    """The first line that a pattern matches, from a number on, with its cause."""
    return next(((number, cause) for number, row in enumerate(rows, 1) if number >= first
                 for pattern, cause in causes.items() if re.match(pattern, row)), None)


def _open_quote(rows: list[str]) -> tuple[int, str] | None:
    """The last line with an odd number of quotation marks, if so are the lines up to an error."""
    odd = [number for number, row in enumerate(rows, 1)
           if _COMMENT.sub("", row).replace('\\"', "").count('"') % 2]
    return (odd[-1], "a quotation mark is not closed") if len(odd) % 2 else None
