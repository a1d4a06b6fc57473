// Libraries of notes, and searches in them.

import { get } from "../api.js";
import { button, el, field, meter, table } from "../dom.js";
import { count, percent, t, term, when } from "../language.js";
import { form } from "./parts.js";

export async function show(box) {
  const found = (await get("notes/stats")).data;
  const query = el("input", { type: "search", required: true, maxLength: 2_000 });
  const results = el("div", { className: "list", "aria-live": "polite" });
  const page = el("article", { hidden: true, tabIndex: -1 });
  box.append(
    found.length
      ? table([t("library"), t("files"), t("chunks"), term("count", "pending"), t("scanned_at")], found.map((one) => [
        one.library.name, count(Object.values(one.files).reduce((sum, each) => sum + each, 0)), count(one.chunks),
        count(one.pending_chunks), when(one.library.scanned_at)]))
      : el("p", { className: "dim" }, t("no_libraries")),
    form(async () => {
      const { data } = await get("notes/search", { query: query.value, top_k: 20 });
      page.hidden = true;
      results.replaceChildren(...data.hits.map((hit) => el("article", {},
        el("p", { className: "text" }, hit.chunk.body),
        el("div", { className: "meta" }, meter(hit.score, t("score_of", { score: percent(hit.score) })),
          button(hit.citation, () => open(hit.note.path), { className: "plain" })))));
      if (!data.hits.length) results.append(el("p", { className: "dim" }, t("nothing_found")));
    }, field(t("search_notes"), query), el("button", {}, t("search"))), results, page);

  async function open(path) {
    const { data } = await get("notes/page", { path });
    page.replaceChildren(el("h3", {}, data.note.title || data.note.path), el("p", { className: "dim" }, data.note.path),
      ...data.chunks.flatMap((chunk, place) => [...opened(chunk, data.chunks[place - 1]?.headings ?? [data.note.title]), el("p", { className: "text" }, chunk.body)]));
    page.hidden = false;
    page.focus();
  }
}

/** The headings above a chunk that its predecessor does not have. */
function opened(chunk, before) {
  const at = chunk.headings.findIndex((heading, level) => heading !== before[level]);
  return at < 0 ? [] : chunk.headings.slice(at).map((heading) => el("h4", {}, heading));
}
