// Where memories are stored, tier by tier, and what each layer holds.

import { get } from "../api.js";
import { attempt, el, field, select, table } from "../dom.js";
import { count, t, term } from "../language.js";
import { card, paged } from "./parts.js";

const TIERS = ["L1", "L2", "L3"];
const LAYERS = ["core", "session", "short_term", "long_term"];

export async function show(box) {
  const layer = select([["", t("all_layers")], ...LAYERS.map((name) => [name, term("layer", name)])]);
  const order = select(["newest", "oldest", "energy", "importance"].map((name) => [name, term("order", name)]), "energy");
  const columns = TIERS.map((tier) => el("div", { "data-tier": tier }));
  const storage = (await get("layers/storage")).data;
  box.append(
    el("details", { className: "panel" }, el("summary", {}, t("layer_counts")),
      table([t("layer"), t("memories"), t("indexed"), t("bytes")], storage.map((one) =>
        [term("layer", one.layer), count(one.memories), count(one.indexed), count(one.text_bytes)]))),
    el("div", { className: "tools" }, field(t("layer"), layer), field(t("order"), order)),
    el("div", { className: "columns" }, ...TIERS.map((tier, index) =>
      el("section", {}, el("h3", {}, `${tier} `, el("small", {}, term("tier", tier))), columns[index]))));
  const fill = () => Promise.all(TIERS.map((tier, index) => paged(columns[index], async (after) => {
    const { data } = await get("memories", { tier, layer: layer.value, order: order.value, status: "all", limit: 20, after });
    return { items: data.items, after: data.next };
  }, (node) => card(node), t("no_memories"))));
  layer.addEventListener("change", () => attempt(fill));
  order.addEventListener("change", () => attempt(fill));
  await fill();
}
