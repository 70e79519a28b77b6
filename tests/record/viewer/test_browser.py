"""The page in a real browser: it opens, unfolds, finds and jumps, by keyboard alone, and runs nothing of a record."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from acp_client.record.tree.runs import Run
from tests.record.tree.wire import ask, decided, end, header, pick, prompt, run_of, said, stderr, update
from tests.record.viewer.browser import Browser
from tests.record.viewer.hostile import hostile_run

Show = Callable[..., Browser]

FOCUSED = "document.activeElement.textContent"
OTHERS = "[...document.querySelectorAll('#tree .item')].some((item) => item.innerText.includes('book it'))"
LINES = "[...document.querySelectorAll('#tree .line')].filter((line) => line.offsetParent).length"


def desk() -> list[Run]:
    """A parent, a child that failed after it was denied something, one that did well."""
    failure = {"stage": "prompt", "message": "extractor exited with code 1"}
    return [
        run_of(
            header("p", agent="desk", started="2026-12-01T04:00:00Z"),
            prompt(0.1, "book it"),
            said(0.2, "Line one\nsee https://example.test/book. And javascript:alert(1)"),
            update(5.0, "tool_call", toolCallId="t", title="Add up", status="failed", rawInput={"column": "price"}),
            end(6.0),
        ),
        run_of(
            header("c", "p", "extractor", "2026-12-01T04:00:01Z"),
            prompt(0.1, "extract back_office.csv"),
            ask(0.5, title="Run clean_up.sh", kind="execute", rawInput={"command": "clean_up.sh --all"}),
            pick(0.6, "n"),
            decided(0.6, action="reject", decided_by="rule 1: reject kind execute", why="not on this desk"),
            stderr(0.7, "Traceback: bad cell in row 7\n"),
            end(0.9, "agent_exited", "error", failure=failure),
        ),
        run_of(header("d", "p", "extractor", "2026-12-01T04:00:03Z"), prompt(0.1, "extract london.csv"), end(0.3)),
    ]


def text(browser: Browser, selector: str) -> Any:
    """What an element says."""
    return browser.eval(f"document.querySelector({selector!r}).innerText")


def test_the_summary_says_who_asked_who_answered_and_why_it_failed(shown: Show) -> None:
    """Without a click; and the browser has nothing to complain of."""
    browser = shown(*desk())
    assert text(browser, "h2") == "3 runs, 1 failed, 2 tool calls (1 failed), 1 permission asked (1 denied)"
    why = text(browser, ".failures")
    for told in ("desk › extractor", "extract back_office.csv", "exited with code 1", "bad cell in row 7"):
        assert told in why
    row = browser.eval("[...document.querySelectorAll('.asked tbody td')].map((cell) => cell.innerText)")
    assert row == [
        "desk › extractor\nextract back_office.csv",
        "Run clean_up.sh (execute)",
        "denied",
        "rule 1: reject kind execute",
        "not on this desk",
    ]
    assert browser.eval("document.querySelectorAll('.times .lanes li').length") == 3
    assert browser.complaints == []


def test_runs_and_items_unfold_and_fold(shown: Show) -> None:
    """`aria-expanded` says so, and what is hidden is hidden."""
    browser = shown(*desk())
    before = browser.eval(LINES)
    line = "document.querySelector('#tree .run-line')"
    assert browser.eval(f"{line}.getAttribute('aria-expanded')") == "true"
    browser.eval(f"{line}.click()")
    assert browser.eval(f"{line}.getAttribute('aria-expanded')") == "false"
    assert browser.eval(LINES) == 1
    browser.eval(f"{line}.click()")
    assert browser.eval(LINES) == before
    crumbs = browser.eval("[...document.querySelectorAll('.crumbs')].map((nav) => nav.innerText.replaceAll('\\n', ''))")
    assert crumbs[0] in ("deskextractor", "desk›extractor")


def test_the_keyboard_goes_everywhere(shown: Show) -> None:
    """F and n for failures, j and k for lines, Enter to open, ? for the keys, t for the theme."""
    browser = shown(*desk())
    browser.press("f")
    assert "failed" in browser.eval(FOCUSED)
    assert "extractor" in browser.eval(FOCUSED)
    assert text(browser, "#says") == "failure 1 of 2"
    browser.press("n")
    assert "Add up" in browser.eval(FOCUSED)
    assert browser.eval("document.activeElement.getAttribute('aria-expanded')") == "true"
    browser.press("Enter")
    assert browser.eval("document.activeElement.getAttribute('aria-expanded')") == "false"
    browser.press("k")
    assert "Add up" not in browser.eval(FOCUSED)
    browser.press("j")
    assert "Add up" in browser.eval(FOCUSED)
    browser.press("f")
    assert text(browser, "#says") == "failure 1 of 2, from the top again"
    browser.press("p")
    assert text(browser, "#says") == "failure 2 of 2, from the end again"
    browser.press("?")
    assert browser.eval("document.querySelector('dialog').open")
    browser.press("Escape")
    assert not browser.eval("document.querySelector('dialog').open")


def test_search_filters_counts_and_jumps(shown: Show) -> None:
    """Also in what was never opened; Escape ends it and stays at the hit."""
    browser = shown(*desk())
    browser.eval("document.querySelector('#tree .run-line').click()")
    browser.press("/")
    browser.type("CLEAN_up")
    browser.until("document.querySelector('#hits').textContent")
    assert text(browser, "#hits") == "2 hits"
    browser.press("Enter")
    assert "Run clean_up.sh" in browser.eval(FOCUSED)
    assert text(browser, "#hits") == "1 of 2"
    assert not browser.eval(
        "[...document.querySelectorAll('#tree .item')].some((i) => i.innerText.includes('book it'))"
    )
    browser.until("CSS.highlights.get('hit').size > 2")
    browser.press("n")
    assert "asked" in browser.eval(FOCUSED)
    browser.press("p")
    assert "tool" in browser.eval(FOCUSED)
    browser.press("Escape")
    assert "Run clean_up.sh" in browser.eval(FOCUSED)
    assert browser.eval("document.querySelector('#query').value") == ""
    assert browser.eval(OTHERS)


def test_kinds_of_items_can_be_left_out(shown: Show) -> None:
    """A search says what it left out; a jump to something hidden shows it again."""
    browser = shown(*desk())
    chip = "document.querySelector('[data-group=permissions]')"
    browser.eval(f"{chip}.click()")
    assert browser.eval(f"{chip}.getAttribute('aria-pressed')") == "false"
    assert browser.eval("document.querySelectorAll('#tree .permissions').length") == 0
    browser.press("/")
    browser.type("clean_up")
    browser.until("document.querySelector('#hits').textContent")
    assert text(browser, "#hits") == "1 hit, 1 not shown"
    browser.eval("document.querySelectorAll('.asked tbody .plain')[1].click()")
    assert "asked" in browser.eval(FOCUSED)
    assert browser.eval(f"{chip}.getAttribute('aria-pressed')") == "true"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_theme_follows_the_system_and_can_be_turned(shown: Show, *, dark: bool) -> None:
    """T turns it over."""
    browser = shown(*desk(), dark=dark)
    browser.eval("localStorage.clear()")
    browser = shown(*desk(), dark=dark)
    background = "getComputedStyle(document.body).backgroundColor"
    light, night = "rgb(246, 247, 249)", "rgb(17, 20, 24)"
    assert browser.eval(background) == (night if dark else light)
    browser.press("t")
    assert browser.eval(background) == (light if dark else night)
    browser.eval("localStorage.clear()")


def test_nothing_of_a_record_runs_and_nothing_is_loaded(shown: Show) -> None:
    """With every section open and every group shown; and the page itself still works."""
    browser = shown(hostile_run())
    browser.eval("document.querySelector('[data-group=protocol]').click()")
    browser.eval("document.querySelectorAll('[aria-expanded=false]').forEach((line) => line.click())")
    browser.eval("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.press("f")
    assert browser.eval("window.owned") is None
    assert (
        browser.eval("document.querySelectorAll('main img, main svg, main script, main style, main iframe').length")
        == 0
    )
    assert browser.eval("performance.getEntriesByType('resource').length") == 0
    assert browser.complaints == []
    links = browser.eval("[...document.querySelectorAll('main a')].map((a) => [a.protocol, a.rel, a.target])")
    assert links
    assert {tuple(link) for link in links} == {("https:", "noopener noreferrer", "_blank")}
    assert "onerror" in text(browser, "#tree")


def test_markup_that_got_into_the_page_would_not_run(shown: Show) -> None:
    """The second wall: the page's policy refuses scripts, styles, markup from text, and loads."""
    browser = shown(*desk())
    attempts = (
        "document.body.innerHTML = '<img src=x onerror=window.owned=1>'",
        "document.createElement('script').text = 'window.owned = 2'",
        "document.body.setAttribute('onclick', 'window.owned = 3')",
    )
    for attempt in attempts:
        refused = browser.eval(f"(() => {{ try {{ {attempt}; return false; }} catch {{ return true; }} }})()")
        assert refused or "onclick" in attempt
    browser.eval("document.body.click()")
    browser.eval("fetch('https://example.test/').then(() => { window.owned = 6; }, () => {})")
    assert browser.eval("window.owned") is None
    assert browser.complaints


def test_landmarks_and_names_are_there_for_a_screen_reader(shown: Show) -> None:
    """Every control has a name; headings do not skip; the skip link leads to the runs."""
    browser = shown(*desk())
    landmarks = browser.eval(
        "['header', 'main', '[role=search]', 'nav', '.skip'].map((q) => !!document.querySelector(q))"
    )
    assert landmarks == [True] * 5
    unnamed = browser.eval(
        "[...document.querySelectorAll('button, input, a')].filter((one) => "
        "!(one.textContent.trim() || one.ariaLabel || (one.labels && one.labels.length))).length"
    )
    assert unnamed == 0
    assert browser.eval("[...document.querySelectorAll('h1, h2, h3')].map((one) => one.tagName)[0]") == "H1"
    browser.press("Tab")
    assert browser.eval(FOCUSED) == "Skip to the runs"


CONTRAST = """
(() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const one of document.querySelectorAll('main *, header *')) {
    if (!one.offsetParent || ![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push([one.className, one.textContent.slice(0, 30), ratio]);
  }
  return poor;
})()
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_text_has_contrast_enough(shown: Show, *, dark: bool) -> None:
    """WCAG AA: 4.5 to 1."""
    assert shown(*desk(), dark=dark).eval(CONTRAST) == []


def test_it_prints_with_everything_open(shown: Show) -> None:
    """What was folded is opened for the paper."""
    browser = shown(*desk())
    browser.eval("document.querySelector('#tree .run-line').click()")
    assert browser.print().startswith(b"%PDF")
    assert browser.eval("document.querySelector('#tree .run-line').getAttribute('aria-expanded')") == "true"


@pytest.mark.slow
def test_fifty_thousand_events_stay_usable(shown: Show) -> None:
    """Few elements until one asks for more; search and jumps are over the data. Times are loose: machines are busy."""
    calls = [
        update(n / 100, "tool_call", toolCallId=f"c{n}", title=f"Read file {n}", status="completed", rawInput={"n": n})
        for n in range(49_998)
    ]
    odd = update(600, "tool_call", toolCallId="odd", title="Needle", status="failed")
    browser = shown(run_of(header(), prompt(0, "go"), *calls, odd, end(601)))
    assert browser.eval("document.querySelectorAll('*').length") < 3000
    began = time.monotonic()
    browser.press("n")
    assert "Needle" in browser.eval(FOCUSED)
    browser.press("/")
    browser.type("file 4999")
    browser.until("document.querySelector('#hits').textContent")
    browser.press("Enter")
    assert "Read file 4999 " in browser.eval(FOCUSED)
    assert text(browser, "#hits") == "1 of 9"
    browser.press("Escape")
    assert "Read file 4999 " in browser.eval(FOCUSED)
    browser.eval("document.querySelector('.more .line').click()")
    browser.eval("[...document.querySelectorAll('.more .line')].pop().click()")
    assert "Read file" in browser.eval(FOCUSED)
    assert browser.eval("document.querySelectorAll('#tree li').length") < 500
    assert browser.eval("document.querySelectorAll('*').length") < 6000
    assert time.monotonic() - began < 30
