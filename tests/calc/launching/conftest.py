"""Deployments whose files several modules check."""

import pytest
from _launch import CASES, WRITTEN

from calc.launching.launch import deployment


@pytest.fixture(scope="session")
def made():
    """Deployments of every kind: one server, several, over nodes, wide, drafts, two pools."""
    return {name: deployment(scenario, overrides, engine=engine)
            for name, (scenario, overrides, engine) in CASES.items() if name in WRITTEN}
