"""Pages and badges as Chromium shows them: narrow and wide, dark and light, by keyboard, and from disk alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from browser import chromium
from report_samples import conforming, failing, partial

from anchorhold import report
from anchorhold.result import Result, broken, result
from anchorhold.verdict import History, VerdictKind

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

LONG = "x" * 300 + " " + "word " * 100


def hostile() -> tuple[Result, dict[str, History]]:
    document, histories = failing(noise=30, compactor=LONG, stderr=LONG + "\n" + "<script>alert(1)</script>")
    expected = {"ANC-1": LONG}
    return msgspec.structs.replace(document, expected=expected), histories


SAMPLES: dict[str, Callable[[], tuple[Result, dict[str, History]]]] = {
    "failing": lambda: failing(noise=30, stderr="some words"),
    "long words": hostile,
    "a level": lambda: (conforming(), {}),
    "nothing decided": lambda: (
        result(compactor="bare", version="1", verdicts=[], failures=(), seconds=1.0, seed=0),
        {},
    ),
    "some rules": lambda: (partial({"PTR-1": VerdictKind.FAIL, "OUT-1": VerdictKind.PASS}), {}),
    "no verdict": lambda: (
        broken(compactor="cmd:node x.js", error=f"it died: {LONG}", seconds=1, seed=0, stderr=LONG),
        {},
    ),
}

CONTRAST = """() => {
  const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = (css) => (css.match(/[\\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a > 0.99) return [r, g, b];
    }
    return parse(getComputedStyle(document.documentElement).backgroundColor).slice(0, 3);
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("svg") || !element.checkVisibility()) continue;
    const pair = [parse(getComputedStyle(element).color), ground(element)].map(luminance).sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${element.className} ${node.textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(poor)];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@contextmanager
def opened(
    browser: Browser, path: Path, *, width: int = 1280, scheme: str = "light"
) -> Iterator[tuple[Page, list[str], list[str]]]:
    """The page, what it asked for, and what the browser had to say of it."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    try:
        page.goto(path.resolve().as_uri())
        yield page, asked, said
    finally:
        context.close()


def written(tmp_path: Path, sample: str) -> Path:
    return report.write(tmp_path, *SAMPLES[sample]()).html


@pytest.mark.parametrize("sample", SAMPLES)
def test_page_opens_from_disk_fits_every_width_and_can_be_read_in_dark_and_light(
    browser: Browser, tmp_path: Path, sample: str
) -> None:
    path = written(tmp_path, sample)
    grounds = {}
    for scheme in ("light", "dark"):
        for width in (320, 400, 1280):
            with opened(browser, path, width=width, scheme=scheme) as (page, asked, said):
                assert said == []
                assert [url for url in asked if not url.startswith("data:")] == [path.resolve().as_uri()]
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                if width == 1280:
                    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                    assert page.evaluate(CONTRAST) == []
                    grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds["light"] != grounds["dark"]


def test_page_is_gone_through_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    focused = "[document.activeElement.tagName, document.activeElement.className, document.activeElement.textContent]"
    with opened(browser, written(tmp_path, "failing")) as (page, _, _):
        page.keyboard.press("Tab")
        tag, name, _ = page.evaluate(focused)
        assert (tag, name) == ("A", "skip")
        box = page.locator("a.skip").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        page.keyboard.press("Enter")
        assert page.url.endswith("#main")
        seen = set()
        for _ in range(200):
            page.keyboard.press("Tab")
            tag, name, text = page.evaluate(focused)
            if tag == "BODY":
                break
            seen.add((tag, name.split(" ")[0]))
            if tag == "SUMMARY" and "ANC-2" in text:
                page.keyboard.press("Enter")
                assert page.locator("details#ANC-2").get_attribute("open") is not None
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"the focus on {tag} cannot be seen"
        # Diagrams that are wider than the page are scrolled by keyboard, commands selected.
        assert {("DIV", "scroll"), ("CODE", "command"), ("SUMMARY", "")} <= seen


def test_a_link_to_a_failure_leads_there(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, "failing")) as (page, _, _):
        page.locator("#ANC-1 summary").click()
        page.get_by_role("link", name="See the failure.").first.click()
        assert page.url.endswith("#failure-1")
        assert page.locator("#failure-1").is_visible()


@pytest.mark.parametrize("sample", SAMPLES)
def test_badge_opens_as_a_picture_and_its_words_fit(browser: Browser, tmp_path: Path, sample: str) -> None:
    path = report.write(tmp_path, *SAMPLES[sample]()).badge
    with opened(browser, path) as (page, _, said):
        assert said == []
        width, boxes = page.evaluate(
            "[document.documentElement.width.baseVal.value, [...document.querySelectorAll('text')].map((text, n) => {"
            "const room = document.querySelectorAll('rect')[n].getBBox(); const box = text.getBBox();"
            "return [room.x, box.x, box.x + box.width, room.x + room.width]; })]"
        )
        lengths = page.evaluate(
            "[...document.querySelectorAll('text')].map((text) => {"
            "const given = text.textLength.baseVal.value; text.removeAttribute('textLength');"
            "return [given, text.getComputedTextLength()]; })"
        )
    assert len(boxes) == 2
    for left, begins, ends, right in boxes:
        assert left < begins < ends < right
    assert boxes[1][3] == width
    # Nor are the words spread or squeezed: with letters as wide as Verdana's they take about that room by themselves.
    assert all(0.85 < given / natural < 1.15 for given, natural in lengths)
