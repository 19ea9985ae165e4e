"""Programs that print and check the built site; only tests of the site import them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
