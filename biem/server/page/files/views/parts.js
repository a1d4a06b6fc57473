// What several views show.

import { button, el, guarded, meter } from "../dom.js";
import { count, percent, t, term, when } from "../language.js";

/** The address of a memory's own view. */
export const addressOf = (id) => `#/memory/${encodeURIComponent(id)}`;

/** What joins two nodes; memories that were useful together are not measured as similar. */
export const linkName = (link) => (link.type === "semantic" && link.weight === 0 ? t("link_together") : term("link", link.type));

/** A memory as it stood at a moment, or now without one: what was superseded later was not superseded then. */
export function asItWas(node, moment) {
  return moment && node.valid_to && new Date(node.valid_to) > moment ? { ...node, superseded_by: null } : node;
}

/** Why a memory is archived: what biem itself gives as a reason is in its words, which are English. */
export function archiveReason(given) {
  const [, held, reason] = /^(quarantine: )?(.*)$/s.exec(given);
  const shown = reason ? term("because", reason) : "–";
  return held ? t("held_for", { reason: shown }) : shown;
}

/** One memory of a list: its text leads to it. */
export function card(node, ...more) {
  const said = [
    term("kind", node.kind), term("layer", node.layer), node.speaker, when(node.at),
    node.status === "pending" ? t("pending") : "",
    node.access_count ? t("recalled_times", { count: count(node.access_count) }) : "",
    node.revision > 1 ? t("revision_number", { number: node.revision }) : "",
    node.superseded_by ? t("superseded") : "",
    node.status === "archived" ? t("archived_for", { reason: archiveReason(node.archive_reason) }) : "",
  ];
  return el("article", { "data-id": node.id },
    el("p", { className: "text" }, el("a", { href: addressOf(node.id) }, node.text)),
    el("div", { className: "meta" }, meter(node.energy, t("energy_of", { energy: percent(node.energy) })),
      ...said.filter(Boolean).map((word) => el("span", {}, word)),
      ...node.tags.map((tag) => el("span", { className: "tag" }, tag))),
    ...more);
}

/** A list that grows page by page: `page(after)` gives `{items, after}`. Returns once the first page is there. */
export async function paged(box, page, make, none) {
  const list = el("div", { className: "list" });
  const more = button(t("more"), () => grow(), { hidden: true });
  box.replaceChildren(list, more);
  let after = "";
  async function grow() {
    const found = await page(after);
    list.append(...found.items.map(make));
    after = found.after;
    more.hidden = !after;
    if (!list.children.length && !after) list.append(el("p", { className: "dim" }, none));
  }
  await grow();
}

/** A form whose submission is `work`. */
export function form(work, ...children) {
  return el("form", { onsubmit: guarded(work) }, ...children);
}

/** The value of a time field as an instant; empty when there is none. */
export function instant(input) {
  return input.value ? new Date(input.value).toISOString() : "";
}

/** An instant as a time field has it: local, to the minute. */
export function local(moment) {
  const shifted = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
