// Whether the server can work, and what it holds of this scope.

import { get, whoami } from "../api.js";
import { el, facts, table } from "../dom.js";
import { count, t, term } from "../language.js";

const COUNTS = ["memories", "active", "pending", "archived", "conflicts"];

export async function show(box) {
  const reply = await fetch("/ready");
  const ready = await reply.json();
  const [stats, layers, about, letters] = await Promise.all([get("stats"), get("layers"), whoami(), get("dead-letters", { limit: 20 })]);
  box.append(
    el("p", { className: ready.ready ? "good" : "bad", id: "readiness" }, t(ready.ready ? "ready" : "not_ready")),
    table([t("server"), t("status")], Object.entries(ready.servers).map(([name, state]) => [name, term("server", state)])),
    el("h3", {}, t("counts")),
    facts(...COUNTS.map((name) => [term("count", name), count(stats.data[name] ?? 0)]),
      [t("core_tokens"), count(layers.data.core_tokens)], [t("indexed"), count(layers.data.indexed_count)], [t("vectors"), count(layers.data.vector_count)],
      [t("dead_letters"), count(letters.data.length)]),
    el("h3", {}, t("about")),
    facts([t("version"), about.version], [t("embedder"), about.embedder], [t("dimension"), String(about.dimension)],
      [t("languages"), about.languages.join(", ")], [t("grants"), about.grants.map((grant) => term("grant", grant)).join(t("separator"))]));
}
