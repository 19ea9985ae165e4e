"""The wheel, an installation from a wheelhouse without a network, and the Containerfile."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from _project import ROOT

from _ext.export import build, bundle, repository

WHEELHOUSE = ROOT / "dist" / "wheelhouse"
ANSWER = "will-it-fit estimate h200-r1-vllm-tp8"
REPORT = ("fluent", "matplotlib")
EXTRAS = ("distributed", "IPython", "pandas", "pyarrow", "scipy", "sphinx", "sympy")
ANSWERS = [((*REPORT, "babel"), "estimate h200-r1-vllm-tp8 --csv"),
           ((), "report h200-r1-vllm-tp8 --lang zh")]
needs_wheelhouse = pytest.mark.skipif(
    not WHEELHOUSE.is_dir(), reason="no dist/wheelhouse: run make wheelhouse")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build.build(ROOT, tmp_path_factory.mktemp("dist"))


def shell(script, folder, **variables):
    """Run a script in a folder, with the interpreter of the tests first and without an index."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(folder), "PIP_NO_INDEX": "1", **variables}
    done = subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_is_one_package_without_dates(wheel):
    archive = zipfile.ZipFile(wheel)
    tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {bundle.PACKAGE}
    assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("address", ["", "https://github.com/a/b"])
def test_metadata_link_to_the_repository_where_its_address_is_set(address, tmp_path):
    for path in build.sources(ROOT):
        if path.parent == ROOT or path.parent == Path(repository.__file__).parent:
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    settings = tmp_path / "_config.yml"
    settings.write_text(repository.ADDRESS.sub(f'repository:\n  url: "{address}"',
                                               settings.read_text("utf-8")), "utf-8")
    shell("""mkdir metadata
python -c 'from setuptools import build_meta as backend
backend.prepare_metadata_for_build_wheel("metadata")'""", tmp_path)
    metadata, = tmp_path.glob("metadata/*/METADATA")
    links = re.findall("(?m)^Project-URL: .*, (.*)$", metadata.read_text("utf-8"))
    assert links == list(repository.links(address, "scenario").values())


@pytest.mark.parametrize(("absent", "asked"), ANSWERS)
def test_wheel_answers_without_the_checkout_and_other_extras(wheel, tmp_path, absent, asked):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = f"""
        import sys
        sys.modules.update(dict.fromkeys({(*EXTRAS, *absent)!r}))  # importing one of them fails
        from will_it_fit.__main__ import main
        sys.argv = ["will-it-fit", *{asked.split()!r}]
        try:
            main()
        except SystemExit as end:
            assert not end.code
        assert not {{*{bundle.ROOMS!r}}} & {{*sys.modules}}
    """.replace("\n        ", "\n")
    paths = os.pathsep.join((str(tmp_path), sysconfig.get_path("purelib")))
    printed = shell('"$INTERPRETER" -c "$SCRIPT"', tmp_path, SCRIPT=script, PYTHONPATH=paths,
                    INTERPRETER=str(Path(sys.executable).resolve()))
    assert printed


def test_a_command_runs_in_one_thread(tmp_path):
    """Threads of BLAS would only wait: NumPy is imported after they are turned off."""
    script = """
import os, sys
from will_it_fit.__main__ import main
sys.argv = ["will-it-fit", "estimate", "h200-r1-vllm-tp8"]
try:
    main()
finally:
    assert "numpy" in sys.modules
    print(len(os.listdir("/proc/self/task")))
"""
    printed = shell('python -c "$SCRIPT"', tmp_path, SCRIPT=script, PYTHONPATH=str(ROOT))
    assert printed.splitlines()[-1] == "1"


@needs_wheelhouse
def test_sources_install_offline_with_the_pinned_backend(tmp_path):
    for path in build.sources(ROOT):
        copy = tmp_path / "source" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    printed = shell(f"""
        python -m venv --without-pip v
        pip --python v/bin/python install --no-compile --find-links "$WHEELHOUSE" setuptools
        pip --python v/bin/python install --no-compile --find-links "$WHEELHOUSE" \\
          --no-build-isolation ./source
        v/bin/{ANSWER}""", tmp_path, WHEELHOUSE=str(WHEELHOUSE))
    assert "TPOT" in printed


@needs_wheelhouse
def test_build_steps_of_the_containerfile_run_without_a_network(tmp_path):
    stage = (ROOT / "Containerfile").read_text(encoding="utf-8").split("\nFROM ")[1]
    for source, target in re.findall(r"(?m)^COPY (\S+) (\S+)$", stage):
        shutil.copytree(ROOT / source, tmp_path / target)
    steps = re.findall(r"(?m)^RUN (.+)$", stage)
    printed = shell("\n".join(steps), tmp_path, PREFIX=str(tmp_path / "prefix"))
    assert len(steps) > 1
    assert "TPOT" in printed
