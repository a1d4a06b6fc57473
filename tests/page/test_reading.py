"""What a reader meets: counts that agree, ways back, refusals and reasons in words, small windows, long labels."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from biem.domain.scope import Scope
from tests.page.conftest import Site
from tests.page.test_page import VIEWS, Open


def test_the_counts_of_a_search_agree_and_the_way_back_leads_to_it(site: Site, tab: Open) -> None:
    # Given a search / When it has found something / Then what a prompt gets and what it does not are together all of it
    window = tab()
    page = window.page
    page.goto(f"{site.local}/#/search")
    window.shown("search")
    page.locator("#query").fill("What is the boat called? 100% sure")
    page.keyboard.press("Enter")
    hits = page.locator("ol.hits > li")
    expect(hits.first).to_contain_text("in the prompt")
    said = page.locator("#answer .panel").first.inner_text()
    parts = [
        int(number)
        for number in re.findall(r"would get (\d+) of them|Left out of it: (\d+)", said)
        for number in number
        if number
    ]
    assert sum(parts) == hits.count() == int(re.findall(r"found: (\d+)", said)[0])

    # When one of them is opened, and then the way back is taken / Then the question and its hits are there
    hits.first.locator(".text a").click()
    window.shown("memory")
    page.go_back()
    expect(page.locator("#query")).to_have_value("What is the boat called? 100% sure")
    expect(hits.first.locator(".text")).to_have_text("The boat is called Andorinha")


def test_what_is_refused_is_said_in_the_language_of_the_page(site: Site, tab: Open) -> None:
    # Given a page in Chinese / When a memory is opened that is not there / Then it says so in Chinese
    window = tab(locale="zh-CN")
    page = window.page
    page.goto(f"{site.local}/#/memory/01a22510-2925-794e-9293-31013c7f0000")
    window.shown("memory")
    expect(page.locator("#error")).to_have_text("这里没有此项，可能已被删除，或属于其他范围。")

    # And of a memory that was archived, the reason that biem gives stands in Chinese
    memory_id = site.memory.remember("The old anchor is sold", wait=True)
    site.memory.archive(memory_id)
    page.goto(f"{site.local}/#/memory/{memory_id}")
    window.shown("memory")
    expect(page.locator(".facts")).to_contain_text("应要求")

    # And an address that is no encoding is a question like any other
    page.goto(f"{site.local}/#/search/100%")
    window.shown("search")
    expect(page.locator("#query")).to_have_value("100%")
    expect(page.locator("#error")).to_be_hidden()
    window.complaints[:] = [each for each in window.complaints if "404" not in each]  # a browser logs every refusal


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_a_narrow_window_cuts_nothing_off(site: Site, tab: Open, locale: str) -> None:
    # Given the window of a telephone / When each view is opened / Then nothing is wider than it
    window = tab(locale=locale)
    page = window.page
    page.set_viewport_size({"width": 360, "height": 640})
    for view in (*VIEWS, f"memory/{site.ids[0]}", f"search/{quote('Where do I live?')}"):
        page.goto(f"{site.local}/#/{view}")
        window.shown(view.split("/")[0])
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        if view.startswith("memory"):
            page.locator("#editor summary").click()
            panel, text = page.locator("#editor").bounding_box(), page.locator("#edit-text").bounding_box()
            assert panel
            assert text
            assert text["x"] + text["width"] < panel["x"] + panel["width"]


def test_labels_of_the_graph_end_inside_it(site: Site, tab: Open) -> None:
    # Given a narrow window / When the graph is drawn / Then every label begins and ends inside the drawing
    window = tab()
    page = window.page
    page.set_viewport_size({"width": 360, "height": 640})
    page.add_init_script(_RECORD_LABELS)
    page.goto(f"{site.local}/#/graph")
    window.shown("graph")
    page.wait_for_function("() => globalThis.labels.length > 2")
    outside = "globalThis.labels.filter(([, begin, end, wide]) => begin < 0 || end > wide)"
    assert page.evaluate(outside) == []
    page.locator("#node-list button").first.click()
    assert page.evaluate(outside) == []


_RECORD_LABELS = """(() => {
  globalThis.labels = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, ...more) {
    if (/^sigma-/.test(this.canvas.className)) {
      globalThis.labels.push([text, x, x + this.measureText(text).width, this.canvas.clientWidth]);
    }
    return write.call(this, text, x, ...more);
  };
})();"""


def test_a_note_is_read_with_its_headings(site: Site, tab: Open, tmp_path: Path) -> None:
    # Given a note of two parts / When it is found and opened / Then each part stands under its heading
    (tmp_path / "boat.md").write_text("# The boat\n\n## Mooring\nIt is number 17.\n\n## 保养\n每年四月刷一次船底漆。\n")
    site.memory.notes.add(tmp_path, name="harbour")
    site.memory.notes.sync()
    site.memory.flush(30)
    window = tab()
    page = window.page
    page.goto(f"{site.local}/#/notes")
    window.shown("notes")
    page.get_by_label("Search in notes").fill("mooring number")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=re.compile("boat.md")).first.click()
    expect(page.locator("main h3")).to_have_text("The boat")
    expect(page.locator("main h4")).to_have_text(["Mooring", "保养"])


def test_an_empty_scope_has_no_empty_drawing_and_a_key_needs_a_grant(site: Site, tab: Open) -> None:
    # Given a scope without memories / When its graph is opened / Then it says that there is none, and shows no frame
    window = tab(locale="zh-CN")
    page = window.page
    page.goto(f"{site.url}/#/graph")
    window.enter(site.key(Scope("acme", "new", "")))
    window.shown("graph")
    expect(page.locator("#extent")).to_have_text("尚无关联。")
    expect(page.locator("#canvas")).to_have_count(0)

    # When a key is to be made that may do nothing / Then the page says what is missing
    page.locator('nav a[data-view="keys"]').click()
    window.shown("keys")
    page.get_by_label("读取").uncheck()
    page.get_by_role("button", name="创建密钥").click()
    expect(page.locator("#error")).to_have_text("请至少选择一项权限。")
