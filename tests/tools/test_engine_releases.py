"""The releases that the engine catalogue is made from, and the program that makes it."""

import hashlib
import io
import tarfile
import zipfile

import pytest

from catalogue.engines.engine import engine_of
from catalogue.reading import yamlfile
from tools.engines import extract
from tools.engines.source import ExtractError, Release, Source, find, load

ARGS = "vllm/engine/arg_utils.py"


def archive(files: dict[str, str], wheel: bool) -> bytes:
    """A source distribution or a wheel with these files."""
    buffer = io.BytesIO()
    if wheel:
        with zipfile.ZipFile(buffer, "w") as packed:
            for name, body in files.items():
                packed.writestr(name, body)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
            for name, body in files.items():
                entry = tarfile.TarInfo(f"vllm-1.0/{name}")
                entry.size = len(body.encode())
                packed.addfile(entry, io.BytesIO(body.encode()))
    return buffer.getvalue()


class Index:
    """A package index in memory: one page, and the files it lists."""

    def __init__(self, files: dict[str, bytes], package: str = "vllm") -> None:
        links = "".join(f'<a href="../files/{name}#sha256={hashlib.sha256(body).hexdigest()}" '
                        f'data-upload-time="2024-05-06T07:08:09Z">{name}</a>'
                        for name, body in files.items())
        self.bodies = {f"https://pypi.org/simple/{package}/": f"<html>{links}</html>".encode()}
        self.bodies |= {f"https://pypi.org/simple/files/{name}": body
                        for name, body in files.items()}
        self.asked: list[str] = []

    def __call__(self, url: str) -> bytes:
        self.asked.append(url)
        if url not in self.bodies:
            raise ExtractError(f"{url}: the server answers 404 Not Found.")
        return self.bodies[url]


class TestSource:
    """The file that is read is the one that the index names."""

    @pytest.mark.parametrize(("name", "wheel"), [("vllm-1.0.tar.gz", False),
                                                 ("vllm-1.0-py3-none-any.whl", True)])
    def test_a_release_is_found_checked_and_unpacked(self, name, wheel, tmp_path):
        body = archive({"vllm/envs.py": "A = 1\n", "vllm/data.bin": "x", "other/b.py": "2"}, wheel)
        index = Index({name: body, "vllm-2.0.tar.gz": b"x"})
        (release,) = find("vllm", ["1.0"], index)
        assert (release.version, release.date) == ("1.0", "2024-05-06")
        assert release.sha256 == hashlib.sha256(body).hexdigest()
        assert load(release, tmp_path, index).files == {"vllm/envs.py": "A = 1\n"}
        asked = len(index.asked)
        assert load(release, tmp_path, index).files == {"vllm/envs.py": "A = 1\n"}
        assert len(index.asked) == asked  # the second time from the folder

    def test_a_source_distribution_is_preferred(self):
        index = Index({"vllm-1.0-cp38-abi3-linux.whl": b"w", "vllm-1.0.tar.gz": b"s"})
        assert find("vllm", ["1.0"], index)[0].url.endswith("vllm-1.0.tar.gz")

    def test_an_index_in_json(self):
        page = ('{"files": [{"filename": "vllm-1.0.tar.gz", "url": "/f/vllm-1.0.tar.gz", '
                '"hashes": {"sha256": "ab"}, "upload-time": "2024-05-06T07:08:09Z"}]}')
        (release,) = find("vllm", ["1.0"], lambda url: page.encode())
        assert release == Release("vllm", "1.0", "2024-05-06",
                                  "https://pypi.org/f/vllm-1.0.tar.gz", "ab")

    def test_a_file_with_another_sum_is_refused(self):
        index = Index({"vllm-1.0.tar.gz": b"body"})
        (release,) = find("vllm", ["1.0"], index)
        index.bodies[release.url] = b"another"
        with pytest.raises(ExtractError, match=r"^[^\n]+SHA-256 differs\.$"):
            load(release, None, index)

    def test_what_is_no_archive_is_refused(self):
        index = Index({"vllm-1.0.tar.gz": b"body"})
        with pytest.raises(ExtractError, match=r"^[^\n]+is no archive that can be unpacked\.$"):
            load(find("vllm", ["1.0"], index)[0], None, index)


class TestProgram:
    """One sentence and exit code 1, and nothing half-written."""

    def run(self, index, tmp_path, capsys) -> str:
        target = tmp_path / "engines"
        assert extract.main(["--only", "vllm"], target, index) == 1
        assert not target.exists() or list(target.iterdir()) == []
        error = capsys.readouterr().err.strip()
        assert "\n" not in error
        assert error.endswith(".")
        return error

    def test_no_network(self, tmp_path, capsys):
        def none(url):
            raise ExtractError(f"{url}: cannot be reached (no route to host).")
        assert "cannot be reached" in self.run(none, tmp_path, capsys)

    def test_a_release_that_the_index_does_not_have(self, tmp_path, capsys):
        assert "lists no file of vllm 0.2.7" in self.run(Index({}), tmp_path, capsys)

    @pytest.mark.parametrize(("files", "says"), [
        ({"vllm/envs.py": ""}, "vllm 0.2.7: the release has no vllm/engine/arg_utils.py"),
        ({ARGS: "def add(p):\n    p.add_argument('--model')\n"}, "nothing declares --port"),
    ])
    def test_a_release_without_what_is_read(self, files, says, tmp_path, capsys):
        body = archive(files, wheel=False)
        index = Index({f"vllm-{version}.tar.gz": body
                       for version in extract.ENGINES["vllm"].releases})
        assert says in self.run(index, tmp_path, capsys)

    def test_the_catalogue_is_written_and_read(self, tmp_path):
        body = archive({ARGS: "def add(p):\n    p.add_argument('--port', type=int)\n"}, False)
        index = Index({f"vllm-{version}.tar.gz": body
                       for version in extract.ENGINES["vllm"].releases})
        assert extract.main(["--only", "vllm"], tmp_path, index) == 0
        engine = engine_of(yamlfile.read(tmp_path / "vllm.yml"))
        assert list(engine.entries["arguments"]) == ["--port"]

    @pytest.mark.parametrize("folder", ["", "py_src/", "bindings/python/src/", "src/"])
    def test_a_routers_options_are_those_of_its_own_command(self, folder, tmp_path):
        text = ("def add(parser, other=False):\n    prefix = 'router-' if other else ''\n"
                "    parser.add_argument(f'--{prefix}policy', choices=['a', 'b'])\n")
        name = f"{folder}vllm_router/router_args.py"
        body = archive({name: text}, wheel=False)
        index = Index({f"vllm_router-{version}.tar.gz": body
                       for version in extract.ENGINES["vllm-router"].releases}, "vllm-router")
        assert extract.main(["--only", "vllm-router"], tmp_path, index) == 0
        tool = engine_of(yamlfile.read(tmp_path / "tools" / "vllm-router.yml"))
        assert list(tool.entries["arguments"]) == ["--policy"]

    def test_a_syntax_of_another_python_does_not_stop_it(self):
        release = Release("vllm", "1.0", "2024-01-01", "https://example.org", "0")
        source = Source(release, {ARGS: "def add(p):\n    p.add_argument('--port')\n",
                                  "vllm/envs.py": "print 'no'\n"})
        assert extract.extract(extract.ENGINES["vllm"], source)
