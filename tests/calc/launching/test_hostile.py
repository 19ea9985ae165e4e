"""What a file says never runs: titles, identifiers and paths reach a shell quoted, or not at all.
"""

import json
import os
import shlex
import stat

import pytest
import yaml
from _door import sentence
from _launch import done, needs
from _plain import plain
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.launching.deployment import _HOST, deployment
from calc.launching.directory import write
from calc.launching.settings import Setting, Variable, comment

TITLES = ("$(touch pwned)", "`touch pwned`", "x\n touch pwned #", "'; touch pwned; '",
          "\"; touch pwned; \"", "# {{ query \"up\" }}", "a | b <script>alert(1)</script>",
          "\\", "tail\\\n touch pwned")
NAME = "a b;touch pwned;'$(touch pwned)'.yml"


def scenario(folder, title, name="mine.yml"):
    """The H200 deployment with a title and a few users, as a reader's own file."""
    text = (catalogue.ROOT / "scenarios" / "h200-r1-vllm-tp8.yml").read_text("utf-8")
    data = plain(text)
    data.pop("measured")
    data["workload"] |= {"concurrency": "8 request", "requests": "32 request"}
    path = folder / name
    path.write_text(yaml.safe_dump(data | {"title": {"en": title, "zh": title}}),
                    encoding="utf-8")
    return path


def started(folder, made):
    """Run a node's script with a stand-in for the engine; its arguments."""
    write(folder / "out", made.files)
    stub = folder / "bin" / "vllm"
    stub.parent.mkdir()
    stub.write_text("#!/usr/bin/env python3\nimport json, sys\n"
                    "print(json.dumps(sys.argv[1:]))\n", encoding="utf-8")
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    ran = done("env", f"PATH={stub.parent}:{os.environ['PATH']}", "MODEL=/a path/$(touch pwned)",
               "bash", folder / "out" / "nodes" / "serve-0.sh", "--extra arg", folder=folder)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.one
@needs("promtool", "shellcheck")
@pytest.mark.parametrize("title", TITLES)
def test_a_title_is_text(tmp_path, title):
    """In scripts, which stay valid, and in rules, which stay what they are."""
    made = deployment(str(scenario(tmp_path, title, NAME)))
    words = started(tmp_path, made)
    assert words[:2] == ["serve", "/a path/$(touch pwned)"]
    assert words[-1] == "--extra arg"
    checked = done("promtool", "test", "rules", "alerts.test.yml",
                   folder=tmp_path / "out" / "monitoring")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert done("shellcheck", *sorted((tmp_path / "out").rglob("*.sh"))).returncode == 0
    assert "{{ query" not in made.files["monitoring/alerts.yml"]
    assert not list(tmp_path.rglob("pwned"))


@given(st.text())
def test_a_comment_is_one_line(text):
    line = comment(text)
    assert line.isprintable() or line == ""
    assert len(line.splitlines()) <= 1


@given(st.text(alphabet=st.characters(blacklist_characters="\0", blacklist_categories=("Cs",))))
def test_a_value_is_one_word(text):
    words = Setting("--flag", text, "").words
    assert shlex.split(" ".join(words)) == ["--flag", text]


def test_a_variable_is_expanded_by_the_shell_alone():
    assert Setting("--flag", Variable("MODEL"), "").words == ["--flag", '"${MODEL}"']


@pytest.mark.parametrize("host", ["a b", "$(id)", "a;b", "", "-x", "a\nb", "é"])
def test_a_host_is_a_name(host):
    assert "--hosts" in sentence(deployment, "h200-r1-vllm-tp8", hosts=[host])


@pytest.mark.parametrize(("host", "named"), [
    ("a", True), ("node-1.rack.example", True), ("9a", True), (f"a{'-' * 251}z", True),
    (f"a{'-' * 252}z", False), ("a-", False), (".a", False), ("a_b", False), ("a\n", False)])
def test_a_host_has_up_to_253_signs_and_begins_and_ends_with_a_letter_or_digit(host, named):
    assert bool(_HOST.fullmatch(host)) == named
