// Memories that contradict, update or repeat each other, and the decision about them.

import { get, may, post } from "../api.js";
import { attempt, button, el, field, select } from "../dom.js";
import { percent, t, term, when } from "../language.js";
import { addressOf, paged } from "./parts.js";

const DECISIONS = ["keep_new", "keep_old", "merge", "keep_both", "ignore"];

export async function show(box) {
  const write = await may("write");
  const status = select(["pending", "resolved", "ignored", "all"].map((name) => [name, term("conflict", name)]), "pending");
  const list = el("div", { id: "conflict-list" });
  box.append(el("div", { className: "tools" }, field(t("status"), status)), list);

  function one(conflict) {
    const holder = el("article", { "data-id": conflict.id });
    const decide = (path, body) => async () => {
      fill((await post(`conflicts/${conflict.id}/${path}`, body)).data);
    };
    function fill(found) {
      holder.replaceChildren(
        el("p", {}, el("strong", {}, t("older")), " ", el("a", { href: addressOf(found.older_id) }, found.older_text)),
        el("p", {}, el("strong", {}, t("newer")), " ", el("a", { href: addressOf(found.newer_id) }, found.newer_text)),
        el("div", { className: "meta" },
          ...[term("conflict", found.kind), found.attribute.split(" ").map((each) => term("attribute", each)).join(t("separator")), t("confidence_of", { share: percent(found.confidence) }),
            term("conflict", found.status), found.resolution ? term("decision", found.resolution) : "",
            found.decided_by ? term("decider", found.decided_by) : "", found.moot ? t("moot") : "", when(found.created_at)]
            .filter(Boolean).map((word) => el("span", {}, word))),
        !write ? "" : el("div", { className: "row" }, ...(found.status === "pending"
          ? DECISIONS.map((name) => button(term("decision", name), decide("resolve", { resolution: name })))
          : [button(t("undo"), decide("undo"))])));
    }
    fill(conflict);
    return holder;
  }

  const load = () => paged(list, async (after) => {
    const found = await get("conflicts", { status: status.value, limit: 50, after });
    return { items: found.data, after: found.after };
  }, one, t("no_conflicts"));
  status.addEventListener("change", () => attempt(load));
  await load();
}
