// Facts distilled from memories that were used together.

import { get } from "../api.js";
import { el, meter } from "../dom.js";
import { count, percent, t, when } from "../language.js";
import { addressOf, paged } from "./parts.js";

export async function show(box) {
  const list = el("div", {});
  box.append(list);
  await paged(list, async (after) => {
    const found = await get("facts", { limit: 50, after });
    return { items: found.data, after: found.after };
  }, (fact) => el("article", {},
    el("p", { className: "text" }, el("a", { href: addressOf(fact.id) }, fact.content)),
    el("div", { className: "meta" }, meter(fact.confidence, t("confidence_of", { share: percent(fact.confidence) })),
      el("span", {}, t("from_memories", { count: count(fact.source_node_ids.length) })), el("span", {}, when(fact.created_at)),
      ...fact.source_node_ids.slice(0, 10).map((id, index) => el("a", { href: addressOf(id) }, t("source_number", { number: index + 1 }))))),
  t("no_facts"));
}
