"""Every view in both languages, what a person does with a memory, and a great graph: without one complaint."""

import base64
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from biem.domain.policies.life import EnergyPolicy
from biem.errors import NotFound
from tests.page.conftest import EVIL, GREAT, LINKS, NODES, OWN, Site, Window
from tests.support.fakes import eventually

VIEWS = ("timeline", "search", "tiers", "graph", "facts", "conflicts", "notes", "sessions", "keys", "health")
Open = Callable[..., Window]


@pytest.mark.parametrize(("locale", "heading"), [("en-GB", "Timeline"), ("zh-CN", "时间线")])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_opens_in_both_languages_and_themes(
    site: Site, tab: Open, locale: str, heading: str, theme: str
) -> None:
    # Given a browser of this language and theme / When each view is opened
    window = tab(locale=locale, color_scheme=theme)
    page = window.page
    page.goto(site.url)
    window.enter(site.key())
    window.shown("timeline")

    # Then its heading is in this language, nothing failed, and no text is missing from the dictionary
    expect(page.locator("h2").first).to_have_text(heading)
    for view in VIEWS:
        page.locator(f'nav a[data-view="{view}"]').click()
        window.shown(view)
        expect(page.locator("#error")).to_be_hidden()
        assert page.locator('nav a[aria-current="page"]').get_attribute("data-view") == view
        assert page.evaluate(_UNTRANSLATED) == [], view
    page.goto(f"{site.url}/#/memory/{site.ids[0]}")
    window.shown("memory")
    expect(page.locator(".uplot canvas")).to_be_visible()
    page.locator("#events summary").click()
    assert page.locator("#events tbody tr").count() >= 1
    assert page.evaluate(_UNTRANSLATED) == []
    assert "biem_" not in page.url


_UNTRANSLATED = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const isData = walker.currentNode.parentElement.closest("code, .text, pre");
    if (/^[a-z]+(_[a-z0-9]+)+$/.test(text) && !isData) found.push(text);
  }
  return found;
}"""


def test_language_and_theme_are_switched_and_stay(site: Site, tab: Open) -> None:
    # Given an English page / When both are switched, and the page is loaded again / Then it stays so
    window = tab()
    page = window.page
    page.goto(site.local)
    window.shown("timeline")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#language").select_option("zh")
    page.locator("#theme").select_option("dark")
    for _ in range(2):
        window.shown("timeline")
        expect(page.locator("h2").first).to_have_text("时间线")
        assert page.evaluate("document.documentElement.lang") == "zh"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
        page.reload()


def test_a_key_is_asked_for_kept_in_the_tab_and_never_in_an_address(site: Site, tab: Open) -> None:
    # Given a server with keys / When one is entered / Then every request has it in a header, and no address
    window = tab()
    addresses: list[str] = []
    window.page.on("request", lambda request: addresses.append(request.url))
    window.page.goto(site.url)
    token = site.key()
    window.enter(token)
    window.shown("timeline")
    expect(window.page.locator("#scope")).to_have_text("acme / li")
    assert any("/v1/memories" in address for address in addresses)
    assert not [address for address in addresses if token in address]
    assert window.page.evaluate("Object.values(sessionStorage)").count(token) == 1
    assert token not in str(window.page.evaluate("Object.values(localStorage)"))


def test_text_of_a_memory_is_never_markup(site: Site, tab: Open) -> None:
    # Given a memory that looks like markup / When it is shown / Then it is text
    window = tab()
    window.page.goto(f"{site.local}/#/memory/{site.ids[2]}")
    window.shown("memory")
    expect(window.page.locator("#memory-text")).to_have_text(f"{EVIL} was in a message")
    assert window.page.locator("main img, main script").count() == 0


def test_the_scrubber_shows_what_was_there_before(site: Site, tab: Open) -> None:
    # Given memories of forty days / When the slider is moved back by keys / Then later ones are not shown
    window = tab()
    page = window.page
    page.goto(site.local)
    window.shown("timeline")
    texts = page.locator("#timeline-list .text")
    expect(texts.filter(has_text="I live in Porto now")).to_have_count(1)
    page.locator("#as-of").focus()
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")
    expect(texts.filter(has_text="I live in Porto now")).to_have_count(0)
    expect(texts.filter(has_text="The boat is called Andorinha")).to_have_count(1)
    lisbon = page.locator("#timeline-list article").filter(has_text="I live in Lisbon")
    for _ in range(4):
        page.keyboard.press("PageUp")  # half of the forty days; the newer home was given on the thirtieth
    expect(lisbon).to_have_count(1)
    expect(lisbon).not_to_contain_text("superseded")
    page.keyboard.press("End")
    expect(texts.filter(has_text="I live in Porto now")).to_have_count(1)
    expect(lisbon).to_contain_text("superseded")
    assert page.locator("#as-of").get_attribute("aria-valuetext") == "Now"


def test_a_search_as_of_a_past_time_calls_nothing_superseded_that_was_valid_then(site: Site, tab: Open) -> None:
    # Given a home that was stated on the tenth day and superseded on the thirtieth / When one searches as of now
    window = tab()
    page = window.page
    page.goto(f"{site.local}/#/search/{quote('Where do I live?')}")
    window.shown("search")
    lisbon = page.locator("ol.hits > li").filter(has=page.locator(".text", has_text="I live in Lisbon"))
    expect(lisbon.locator(".meta").first).to_contain_text("superseded")

    # And as of the twentieth day / Then it was not superseded yet, and what came later is not there
    day = datetime.now(UTC) - timedelta(days=20)
    page.locator("input[type=datetime-local]").fill(f"{day:%Y-%m-%dT%H:%M}")
    page.locator("#query").press("Enter")
    expect(page.locator("ol.hits > li").filter(has_text="I live in Porto now")).to_have_count(0)
    expect(lisbon.locator(".meta").first).not_to_contain_text("superseded")


def test_a_search_says_in_words_why_and_what_is_left_out(site: Site, tab: Open) -> None:
    # Given memories / When one asks by keyboard alone / Then hits come with reasons, signals, and what a prompt gets
    window = tab()
    page = window.page
    page.goto(f"{site.local}/#/search")
    window.shown("search")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("What is the boat called?")
    page.keyboard.press("Enter")
    first = page.locator("ol.hits > li").first
    expect(first.locator(".text")).to_have_text("The boat is called Andorinha")
    expect(page.locator("#answer")).to_contain_text("Memories found")
    expect(page.locator("#answer")).to_contain_text("A prompt would get")
    expect(first).to_contain_text("in the prompt")
    others = page.locator("ol.hits > li").filter(has_text="left out of the prompt: ")
    expect(others.first).to_be_visible()
    for index in range(others.count()):
        assert re.search(r"left out of the prompt: [a-z][a-z ]{15,}", others.nth(index).inner_text())
    expect(page.locator("#answer")).to_contain_text("Left out of it: ")
    first.get_by_text("Every signal").click()
    expect(first.locator("tbody tr").first).to_be_visible()
    assert page.evaluate(_UNTRANSLATED) == []


def test_a_reader_of_chinese_who_asks_in_english_reads_the_reasons_in_chinese(site: Site, tab: Open) -> None:
    # Given a page in Chinese / When an English question is asked / Then its reasons, which came in English, are Chinese
    window = tab(locale="zh-CN")
    page = window.page
    page.goto(f"{site.local}/#/search")
    window.shown("search")
    page.locator("#query").fill("What is the boat called?")
    page.keyboard.press("Enter")
    first = page.locator("ol.hits > li").first
    expect(first.locator(".text")).to_have_text("The boat is called Andorinha")
    expect(first.locator(".reasons")).to_contain_text("含有你的词：boat、called")
    said = page.locator(".reasons li").all_inner_texts()
    assert said
    assert [each for each in said if not re.search("[\u4e00-\u9fff]", each)] == []


def test_dates_are_written_as_in_the_readers_country(site: Site, tab: Open) -> None:
    # Given readers of English in two countries / When both read the timeline / Then each reads a day as at home
    for locale, form in (("en-GB", r"\d{1,2} [A-Z]\w+ \d{4}"), ("en-US", r"[A-Z]\w+ \d{1,2}, \d{4}")):
        window = tab(locale=locale)
        window.page.goto(site.local)
        window.shown("timeline")
        expect(window.page.locator("#timeline-list h3").first).to_have_text(re.compile(form))


def test_a_memory_is_revised_reverted_archived_restored_and_erased(site: Site, tab: Open) -> None:
    # Given a memory / When it is edited / Then it has a second revision
    memory_id = site.memory.remember("The gate code is 4711", wait=True)
    window = tab()
    page = window.page
    page.goto(f"{site.local}/#/memory/{memory_id}")
    window.shown("memory")
    page.locator("#editor summary").click()
    page.locator("#edit-text").fill("The gate code is 4712")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#memory-text")).to_have_text("The gate code is 4712")
    assert site.memory.get(memory_id).revision == 2

    # When the first is returned to / Then it says that again, as a third
    page.get_by_role("button", name="Return to this").click()
    expect(page.locator("#memory-text")).to_have_text("The gate code is 4711")
    expect(page.locator(".history > li")).to_have_count(3)
    expect(page.locator(".history > li").first).to_contain_text("returned to an earlier one")

    # When it is archived and restored / Then it is, and it is again active
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert site.memory.get(memory_id).status == "archived"
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Archive", exact=True)).to_be_visible()
    assert site.memory.get(memory_id).status != "archived"

    # When it is to be erased, first cancelled, then confirmed / Then a receipt counts nothing left in any store
    page.get_by_role("button", name="Erase for ever").click()
    page.keyboard.press("Escape")
    assert site.memory.get(memory_id).text == "The gate code is 4711"
    page.get_by_role("button", name="Erase for ever").click()
    page.locator("#confirm-yes").click()
    expect(page.locator("#receipt .good")).to_be_visible()
    with pytest.raises(NotFound):
        site.memory.get(memory_id)


def test_the_curve_of_energies_decays_as_the_memory_does(site: Site, tab: Open) -> None:
    # Given a memory / When the page derives its decay from what the API says / Then it is the one of the engine
    window = tab()
    window.page.goto(site.local)
    window.shown("timeline")
    found = window.page.evaluate(_DECAY, site.ids[0])
    assert found == pytest.approx(EnergyPolicy().decay_per_hour, rel=1e-3)


_DECAY = """async (id) => {
  const { decay } = await import("/page/energy.js");
  const reply = await fetch(`/v1/memories/${id}`);
  return decay(await reply.json(), new Date(reply.headers.get("Date")));
}"""


def test_the_curve_is_true_at_every_time_that_is_known(site: Site, tab: Open) -> None:
    # Given a memory that feedback changed after it was written
    memory_id = site.memory.remember("The oars are in the attic", reason="they are looked for each spring", wait=True)
    site.memory.feedback(useful=[memory_id])
    node = site.memory.get(memory_id)
    assert node.energy_since is not None

    # When the page draws its energy / Then each curve has the energy of the memory where it begins, and now
    window = tab()
    window.page.goto(site.local)
    window.shown("timeline")
    begun, solid, now, dashed = window.page.evaluate(_CURVE, memory_id)
    assert begun == pytest.approx(node.energy_since.timestamp(), abs=0.01)
    assert solid == pytest.approx(now, rel=0.05)
    assert now == pytest.approx(site.memory.get(memory_id).energy, rel=0.05)
    assert dashed == pytest.approx(node.initial_energy, rel=1e-6)
    assert solid > dashed


_CURVE = """async (id) => {
  const { curve } = await import("/page/energy.js");
  const reply = await fetch(`/v1/memories/${id}`);
  const node = await reply.json();
  const now = new Date();
  const [times, solid, dashed] = curve(node, now);
  const first = solid.findIndex((value) => value !== null);
  return [times[first], solid[first], solid[times.indexOf(now.getTime() / 1000)], dashed[0]];
}"""


def test_a_conflict_is_decided_and_undone(site: Site, tab: Open) -> None:
    # Given a conflict in any state / When all are listed / Then it can be undone and decided again
    assert site.memory.conflicts(status=None)
    window = tab()
    page = window.page
    page.goto(f"{site.local}/#/conflicts")
    window.shown("conflicts")
    page.locator("main select").select_option("all")
    one = page.locator("#conflict-list article").first
    expect(one).to_contain_text("I live in")
    if one.get_by_role("button", name="Undo").count():
        one.get_by_role("button", name="Undo").click()
    one.get_by_role("button", name="Keep both").click()
    expect(one.get_by_role("button", name="Undo")).to_be_visible()
    assert site.memory.conflicts(status=None)[0].resolution == "keep_both"


def test_two_thousand_nodes_are_drawn(site: Site, tab: Open) -> None:
    # Given a scope with many linked concepts / When its graph is opened / Then all are drawn, and found by keyboard
    window = tab()
    page = window.page
    page.goto(f"{site.url}/#/graph")
    window.enter(site.key(GREAT))
    window.shown("graph")
    assert page.locator("#canvas").get_attribute("data-nodes") == str(NODES)
    assert page.locator("#canvas canvas").count() > 1

    def painted(name: str) -> int:
        image = base64.b64encode(page.locator("#canvas").screenshot()).decode()
        return int(page.evaluate(_PAINTED, [image, name]))

    assert painted("concept") > NODES
    assert painted("accent") == 0
    page.locator("#node-filter").fill("concept 1234")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#detail")).to_contain_text("concept 1234")
    expect(page.locator("#extent")).to_contain_text(f"{NODES:,} nodes")
    assert LINKS > NODES

    # And of all its links those of the chosen node stand out, and so do the nodes at their ends
    eventually(lambda: painted("accent") > 100)
    assert 0 < painted("concept") < NODES


_PAINTED = """async ([image, name]) => {
  const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(image), (each) => each.charCodeAt(0))]));
  const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  context.drawImage(picture, 0, 0);
  const { data } = context.getImageData(0, 0, picture.width, picture.height);
  const wanted = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue) < 12) found += 1;
  }
  return found;
}"""


def test_the_label_of_a_chosen_node_is_readable_in_the_dark(site: Site, tab: Open) -> None:
    # Given a dark page / When a node of the graph is chosen / Then its label stands on the ground of this theme
    page = tab(color_scheme="dark").page
    page.goto(f"{site.local}/#/graph")
    page.locator("#node-list button").first.click()
    page.wait_for_function(f"() => ({_LABEL})('accent') > 100")
    assert page.evaluate(_LABEL, "card") > 500
    assert page.evaluate(_LABEL, "white") == 0
    links = page.locator("#detail li")
    expect(links.filter(has_text="useful together").first).to_be_visible()


_LABEL = """(name) => {
  const canvas = document.querySelector("canvas.sigma-hovers");
  if (!canvas) return 0;
  const style = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#ffffff";
  const wanted = [1, 3, 5].map((at) => parseInt(style.slice(at, at + 2), 16));
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 255 && wanted.every((each, place) => Math.abs(data[at + place] - each) < 4)) found += 1;
  }
  return found;
}"""


def test_sessions_are_read_and_keys_are_made_and_revoked(site: Site, tab: Open) -> None:
    # Given an administrator's key / When the session is opened / Then it has its messages
    window = tab()
    page = window.page
    page.goto(f"{site.url}/#/sessions")
    window.enter(site.key())
    window.shown("sessions")
    page.get_by_role("link", name="harbour").click()
    expect(page.locator("main article")).to_have_count(2)
    expect(page.locator("main h3")).to_have_text("harbour")

    # When a key is made / Then its token is shown once; when it is revoked / Then it says so
    page.locator('nav a[data-view="keys"]').click()
    window.shown("keys")
    page.get_by_label("Name", exact=True).fill("a laptop")
    page.get_by_role("button", name="Make a key").click()
    expect(page.locator(".panel code")).to_contain_text("biem_")
    row = page.locator("tbody tr").filter(has_text="a laptop")
    row.get_by_role("button", name="Revoke").click()
    page.locator("#confirm-yes").click()
    expect(page.locator("tbody tr").filter(has_text="a laptop")).to_contain_text("revoked")
    assert OWN.user in (page.locator("#scope").text_content() or "")
