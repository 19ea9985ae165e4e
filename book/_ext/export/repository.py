"""Links to the project's repository, whose address is set in ``_config.yml`` alone.

setuptools loads this too, without the book's extension.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

SETTINGS = "_config.yml"
ADDRESS = re.compile(r'^repository:\n +url: *"([^"\n]*)"', re.MULTILINE)
WEB = re.compile(r"https://[\w.-]+(?:/[\w.~-]+)+")
GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")


def address(root: Path) -> str:
    """Return the address of the repository, empty where none is set.

    Raises ValueError for what is no address of the web.
    """
    settings = root / SETTINGS
    match = ADDRESS.search(settings.read_text(encoding="utf-8")) if settings.is_file() else None
    url = match[1].rstrip("/") if match else ""
    if url and not WEB.fullmatch(url):
        raise ValueError(f"{SETTINGS}: repository url: expected https://HOST/PATH, not {url!r}")
    return url


def links(url: str, notebook: str = "") -> dict[str, str]:
    """Return addresses by name: source, issues and, on GitHub, a notebook in Colab and Binder.

    Args:
        url: of the repository; empty gives no links.
        notebook: stem of a committed ``notebooks/*.ipynb``.

    >>> links("https://github.com/a/b", "scenario")["colab"]
    'https://colab.research.google.com/github/a/b/blob/main/notebooks/scenario.ipynb'
    """
    if not url:
        return {}
    named = {"source": url, "issues": f"{url}/issues"}
    if notebook and (project := GITHUB.fullmatch(url)):
        path = f"notebooks/{notebook}.ipynb"
        named["colab"] = f"https://colab.research.google.com/github/{project[1]}/blob/main/{path}"
        named["binder"] = f"https://mybinder.org/v2/gh/{project[1]}/main?labpath={quote(path, '')}"
    return named
