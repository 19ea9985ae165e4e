"""So that tests can import the programs of ``tools/``, which are not installed."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
