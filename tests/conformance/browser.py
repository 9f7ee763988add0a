"""The machine's Chromium, driven by Playwright, for what only a browser can tell of a page."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window. Skips where there is none; in CI nothing that could be installed may be missing."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        assert not os.environ.get("CI"), "apt-get install chromium"
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        # As root, as in a container, it has no sandbox; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
