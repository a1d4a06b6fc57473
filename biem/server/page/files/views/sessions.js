// Conversations, word for word.

import { get } from "../api.js";
import { el } from "../dom.js";
import { count, t, term, when } from "../language.js";
import { addressOf, paged } from "./parts.js";

export async function show(box, id) {
  if (id) {
    await conversation(box, id);
    return;
  }
  const { data } = await get("sessions", { limit: 200 });
  box.append(el("div", { className: "list" }, ...data.map((session) => el("article", {},
    el("p", {}, el("a", { href: `#/sessions/${encodeURIComponent(session.id)}` }, session.name || session.id)),
    el("div", { className: "meta" }, ...[term("session", session.status), when(session.opened_at),
      t("message_count", { count: count(session.messages) }), t("token_count", { count: count(session.all_tokens) })]
      .map((word) => el("span", {}, word)))))));
  if (!data.length) box.append(el("p", { className: "dim" }, t("no_sessions")));
}

async function conversation(box, id) {
  const list = el("div", {});
  const { data } = await get(`sessions/${encodeURIComponent(id)}`);
  box.append(el("p", {}, el("a", { href: "#/sessions" }, t("all_sessions"))), el("h3", {}, data.name || data.id), list);
  await paged(list, async (after) => {
    const found = await get(`sessions/${encodeURIComponent(id)}/messages`, { limit: 100, after });
    return { items: found.data, after: found.after };
  }, (message) => el("article", { className: `role-${message.role}` },
    el("div", { className: "meta" }, el("strong", {}, term("role", message.role)), el("span", {}, when(message.at)),
      message.memory_id ? el("a", { href: addressOf(message.memory_id) }, t("remembered")) : ""),
    el("p", { className: "text" }, message.content)), t("no_messages"));
}
