"""Text of a scenario never runs: titles, names and paths reach a shell quoted, or not at all."""

from __future__ import annotations

import json
import os
import re

import pytest
import yaml
from _launch import done, needs
from _plain import plain

import catalogue
from calc.launching.directory import write
from calc.launching.launch import deployment

TITLES = ("$(touch pwned)", "`touch pwned`", "x\n touch pwned #", "'; touch pwned; '",
          "\"; touch pwned; \"", "# {{ query \"up\" }}", "a | b <script>alert(1)</script>",
          "tail\\\n touch pwned")
NAME = "a b;touch pwned;'$(touch pwned)'.yml"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A directory for each title, of a reader's own file with a hostile name."""
    found = []
    data = plain((catalogue.ROOT / "scenarios" / "h200-r1-vllm-tp8.yml").read_text("utf-8"))
    data.pop("measured")
    data["workload"] |= {"concurrency": "8 request", "requests": "32 request"}
    for title in TITLES:
        folder = tmp_path_factory.mktemp("hostile")
        (folder / NAME).write_text(yaml.safe_dump(data | {"title": {"en": title, "zh": title}}),
                                   encoding="utf-8")
        write(folder / "out", deployment(str(folder / NAME)).files)
        found.append(folder)
    return found


@needs("promtool", "shellcheck")
def test_title_is_text_in_scripts_and_rules(folders):
    """Scripts stay valid and pass their arguments on; rules stay what they are."""
    checked = done("shellcheck", *(path for each in folders for path in each.rglob("*.sh")))
    assert checked.returncode == 0, checked.stdout
    rules = [each / "out" / "monitoring" / "alerts.yml" for each in folders]
    assert done("promtool", "check", "rules", *rules).returncode == 0
    assert not any("{{ query" in path.read_text("utf-8") for path in rules)
    for folder in folders:
        for path in (folder / "out" / "compose.yml", *folder.glob("out/kubernetes/*")):
            assert "touch pwned" not in re.sub(r"#.*", "", path.read_text("utf-8"))
        stub = folder / "bin" / "vllm"
        stub.parent.mkdir()
        stub.write_text("#!/usr/bin/env python3\nimport json, sys\n"
                        "print(json.dumps(sys.argv[1:]))\n", encoding="utf-8")
        stub.chmod(0o755)
        ran = done("env", f"PATH={stub.parent}:{os.environ['PATH']}",
                   "MODEL=/a path/$(touch pwned)", "bash", folder / "out" / "nodes" / "serve-0.sh",
                   "--extra arg", folder=folder)
        assert ran.returncode == 0, ran.stderr
        words = json.loads(ran.stdout)
        assert words[:2] == ["serve", "/a path/$(touch pwned)"]
        assert words[-1] == "--extra arg"
        assert not list(folder.rglob("pwned"))
