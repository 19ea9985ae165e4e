"""What ``deploy`` writes to start a deployment, without what watches it: that is simulated."""

from __future__ import annotations

from pathlib import Path

from calc.launching.deployment import deployment
from calc.launching.directory import write
from calc.launching.scripts import cluster_file, node_files, router_files
from catalogue import ParamsError


def started(name: str, release: str, folder: Path) -> str | None:
    """Write the scripts of a deployment, unless they stand there; the sentence of its refusal.

    Args:
        name: of the deployment, or the path of its file.
        release: engine and release, ``vllm@0.33.0``.
        folder: where.
    """
    if folder.exists():
        return None
    try:
        pools = deployment(name, engine=release).pools
        files = {"cluster.env": cluster_file(pools), **router_files(pools)}
        for pool in pools:
            files |= node_files(pool)
        write(folder, files)
    except ParamsError as error:
        return str(error)
    except Exception as error:  # a defect of ours, told as a row
        return f"{type(error).__name__}: {error}"
    return None
