// One memory: what it says, what it said before, its energy, and what can be done with it.

import { ask, get, may, post } from "../api.js";
import { announce, button, confirmed, el, facts, field, select, table } from "../dom.js";
import { draw, events } from "../energy.js";
import { count, percent, t, term, when } from "../language.js";
import { addressOf, archiveReason, form, linkName } from "./parts.js";

const KINDS = ["knowledge", "skill", "emotion", "task", "event"];
const LISTED = 50;
const NEIGHBOURS = 100;
const LAYERS = ["core", "session", "short_term", "long_term"];

export async function show(box, id) {
  const [write, erase] = [await may("write"), await may("erase")];
  const inside = el("div", {});
  box.append(inside);
  let remove = null;

  async function refresh(said = "") {
    const path = `memories/${encodeURIComponent(id)}`;
    const [memory, history, links, near] = await Promise.all([
      get(path), get(`${path}/history`), get(`${path}/links`), get("graph", { around: id, limit: NEIGHBOURS })]);
    const labels = new Map(near.data.nodes.map((each) => [each.id, each.label]));
    const node = memory.data;
    const marks = events(node, history.data);
    remove?.();
    const chart = el("div", { className: "chart", role: "img", "aria-label": t("energy_chart", { energy: percent(node.energy) }) });
    inside.replaceChildren(
      el("article", {}, el("p", { className: "text whole", id: "memory-text" }, node.text), about(node)),
      actions(node),
      el("section", { className: "panel" }, el("h3", {}, t("energy")), el("p", { className: "dim" }, t("energy_note")), chart,
        el("details", { id: "events" }, el("summary", {}, t("energy_events")), table([t("time"), t("energy_event")],
          marks.map((mark) => [when(mark.at), t(mark.kind, { count: count(node.access_count) })])))),
      ...(write ? [editor(node, memory.tag)] : []),
      el("section", { className: "panel" }, el("h3", {}, t("history")), revisions(node, history.data)),
      el("section", { className: "panel" }, el("h3", {}, t("links")), linked(node, links.data, labels)));
    remove = await draw(chart, node, memory.at, marks);
    if (said) announce(said);
  }

  async function act(path, body, said) {
    await post(`memories/${encodeURIComponent(id)}/${path}`, body);
    await refresh(said);
  }

  function actions(node) {
    const row = el("div", { className: "row", id: "actions" });
    if (write && node.status !== "archived") {
      row.append(
        button(t("archive"), async () => {
          await ask("DELETE", `memories/${encodeURIComponent(id)}`);
          await refresh(t("archived"));
        }),
        button(t("quarantine"), () => act("quarantine", {}, t("quarantined"))));
    }
    if (write && node.status === "archived") {
      const held = /^quarantine/.test(node.archive_reason);
      row.append(held ? button(t("release"), () => act("release", {}, t("released"))) : button(t("restore"), () => act("restore", undefined, t("restored"))));
    }
    if (erase) {
      row.append(button(t("erase"), async () => {
        if (!(await confirmed(t("erase_question"), t("erase")))) return;
        const receipt = (await post("erasures", { id })).data;
        remove?.();
        remove = null;
        inside.replaceChildren(receiptOf(receipt));
        announce(t("erased"));
      }, { className: "danger" }));
    }
    return row;
  }

  function editor(node, tag) {
    const text = el("textarea", { rows: 4, required: true, value: node.text, id: "edit-text" });
    const tags = el("input", { value: node.tags.join(", ") });
    const importance = el("input", { type: "number", min: 1, max: 5, step: 0.5, value: node.importance });
    const kind = select(KINDS.map((name) => [name, term("kind", name)]), node.kind);
    const layer = select(LAYERS.map((name) => [name, term("layer", name)]), node.layer);
    return el("details", { className: "panel", id: "editor" }, el("summary", {}, t("edit")), form(async () => {
      const wanted = {
        text: text.value,
        tags: tags.value.split(/[,，]/).map((each) => each.trim()).filter(Boolean),
        importance: Number(importance.value),
        kind: kind.value,
        layer: layer.value,
      };
      const now = { text: node.text, tags: [...node.tags], importance: node.importance, kind: node.kind, layer: node.layer };
      const body = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name])));
      if (!Object.keys(body).length) return;
      try {
        await ask("PATCH", `memories/${encodeURIComponent(id)}`, { body, headers: { "If-Match": tag } });
      } catch (error) {
        throw error.status === 412 ? new Error(t("changed_meanwhile")) : error;
      }
      await refresh(t("saved"));
    },
    field(t("text"), text), field(t("tags_list"), tags), field(t("importance"), importance), field(t("kind"), kind),
    field(t("layer"), layer), el("button", {}, t("save"))));
  }

  function revisions(node, found) {
    return el("ol", { className: "list history", reversed: true }, ...[...found].sort((a, b) => b.revision - a.revision).map((one) =>
      el("li", { value: one.revision }, el("article", {},
        el("p", { className: "text" }, one.text),
        el("div", { className: "meta" }, el("span", {}, when(one.made_at)), one.by ? el("span", {}, term("by", one.by)) : "",
          one.tags.length ? el("span", {}, one.tags.join(", ")) : "",
          one.revision === node.revision ? el("span", { className: "good" }, t("present_one"))
            : write ? button(t("revert"), () => act("revert", { revision: one.revision }, t("reverted"))) : "")))));
  }

  await refresh();
  return () => remove?.();
}

function about(node) {
  return facts(
    [t("said_at"), when(node.at)], [t("stored_at"), when(node.created_at)], [t("changed_at"), when(node.revised_at)],
    [t("kind"), term("kind", node.kind)], [t("layer"), term("layer", node.layer)], [t("tier"), term("tier", node.tier)],
    [t("status"), term("status", node.status)], [t("archive_reason"), node.status === "archived" ? archiveReason(node.archive_reason) : ""],
    [t("importance"), String(node.importance)], [t("energy"), percent(node.energy)],
    [t("times_recalled"), count(node.access_count)], [t("times_useful"), count(node.useful_count)],
    [t("speaker"), node.speaker], [t("conversation"), node.conversation], [t("source"), node.source],
    [t("tags"), node.tags.join(", ")], [t("reason"), node.reason], [t("origin"), term("origin", node.origin)], [t("trust"), term("trust", node.trust)],
    [t("valid_to"), when(node.valid_to)], [t("expires_at"), when(node.expires_at)],
    [t("superseded_by"), node.superseded_by ? el("a", { href: addressOf(node.superseded_by) }, t("newer_memory")) : ""],
    [t("id"), el("code", {}, node.id)]);
}

function linked(node, found, labels) {
  if (!found.length) return el("p", { className: "dim" }, t("no_links"));
  return table([t("link_type"), t("link_weight"), t("link_strength"), t("link_other")], found.slice(0, LISTED).map((link) => {
    const other = link.source === node.id ? link.target : link.source;
    return [linkName(link), link.weight.toFixed(2), count(link.strength),
      link.type === "mention" ? labels.get(other) ?? other : el("a", { href: addressOf(other) }, labels.get(other) ?? other)];
  }));
}

function receiptOf(receipt) {
  return el("section", { className: "panel", id: "receipt" },
    el("h3", {}, t("receipt")),
    el("p", { className: receipt.stores.every((store) => store.after === 0) ? "good" : "bad" },
      t(receipt.stores.every((store) => store.after === 0) ? "receipt_complete" : "receipt_incomplete")),
    facts([t("id"), el("code", {}, receipt.id)], [t("erased_at"), when(receipt.erased_at)], [t("memories"), count(receipt.memories)]),
    table([t("store"), t("before"), t("after")], receipt.stores.map((store) => [store.store, shown(store.before), shown(store.after)])),
    receipt.backups.length ? el("ul", {}, ...receipt.backups.map((backup) => el("li", {}, t("backup_until", { name: backup.path, time: when(backup.expires_at) })))) : "");
}

function shown(number) {
  return number === null ? t("unreachable") : count(number);
}
