"""The browser of the tests is the one of the tools."""

from tools.site.browser import INSTALL, Browser, find_chromium

__all__ = ["INSTALL", "Browser", "find_chromium"]
