"""The machine's Chromium, driven by Playwright, for what only a browser can tell of a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window. Skips where there is none; in CI nothing that could be installed may be missing."""
    if os.environ.get("CI"):
        import playwright  # noqa: F401 - of the extra `test`
    api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'anchorhold[test]'")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        assert not os.environ.get("CI"), "apt-get install chromium"
        pytest.skip("needs Chromium: apt-get install chromium")
    with api.sync_playwright() as driver:
        # As root, as in a container, it has no sandbox; the pages are our own.
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
