// The views, their lists page by page, and the scope in the address bar.

import { ask, make, scope, when } from "./api.js";
import * as graph from "./graph.js";

const byId = (id) => document.getElementById(id);
const VIEWS = ["tiers", "graph", "facts", "conflicts"];
const TIERS = ["L1", "L2", "L3"];

function fail(error) {
  byId("error").textContent = error.message;
  byId("error").hidden = false;
}

/** Run an action and show its error. */
async function attempt(work) {
  byId("error").hidden = true;
  try {
    await work();
  } catch (error) {
    fail(error);
  }
}

/** Fill a list with its first page, and add a button for the next one. */
async function list(id, what, wishes, items, card, none) {
  const box = byId(id);
  const turn = (box.turn = (box.turn ?? 0) + 1); // a late response belongs to another list
  box.replaceChildren(make("p", { className: "dim" }, "…"));
  const page = async (after) => {
    const answer = await ask(what, { ...wishes, after });
    if (box.turn !== turn) return;
    box.lastChild?.remove();
    box.append(...answer[items].map(card));
    if (answer.next) {
      const more = make("button", { type: "button" }, box.children.length ? "More" : "Look further");
      more.addEventListener("click", () => attempt(() => { more.disabled = true; return page(answer.next).finally(() => { more.disabled = false; }); }));
      box.append(more);
    } else if (!box.children.length) box.append(make("p", { className: "dim" }, none));
  };
  await page("");
}

function memory(node) {
  const energy = make("meter", { min: 0, max: 1, value: node.energy, title: `energy ${node.energy.toFixed(2)}` });
  energy.setAttribute("aria-label", `energy ${node.energy.toFixed(2)}`);
  const around = make("button", { type: "button", onclick: () => open("graph", node.id) }, "graph");
  const said = [node.kind, node.layer, node.status === "pending" ? "pending" : "", node.speaker, when(node.at),
    node.access_count ? `recalled ${node.access_count}×` : "", node.superseded_by ? "superseded" : "",
    node.archive_reason ? `archived: ${node.archive_reason}` : ""];
  return make("article", {}, make("p", {}, node.text),
    make("div", { className: "meta" }, energy, ...said.filter(Boolean).map((word) => make("span", {}, word)), node.tier === "L3" ? null : around));
}

function fact(found) {
  const around = make("button", { type: "button", onclick: () => open("graph", found.id) }, "graph");
  return make("article", {}, make("p", {}, found.content),
    make("div", { className: "meta" }, make("span", {}, `confidence ${found.confidence.toFixed(2)}`),
      make("span", {}, `from ${found.source_node_ids.length} memories`), make("span", {}, when(found.created_at)), around));
}

function conflict(found) {
  const state = [found.status, found.resolution, found.decided_by ? `by ${found.decided_by}` : ""].filter(Boolean).join(" ");
  return make("article", {}, make("p", { className: "older" }, `older: ${found.older_text}`), make("p", {}, `newer: ${found.newer_text}`),
    make("div", { className: "meta" }, ...[found.kind, found.attribute, `confidence ${found.confidence.toFixed(2)}`, state, when(found.created_at)]
      .filter(Boolean).map((word) => make("span", {}, word))));
}

const LOAD = {
  tiers: () => Promise.all(TIERS.map((tier) =>
    list(`list-${tier}`, "memories", { tier, layer: byId("layer").value }, "memories", memory, "No memories here."))),
  graph: (center) => graph.show(center),
  facts: () => list("list-facts", "facts", {}, "facts", fact, "No facts yet: they grow from memories that are used together."),
  conflicts: () => list("list-conflicts", "conflicts", { status: byId("status").value }, "conflicts", conflict, "No such conflicts."),
};

/** Show one view; the graph may be opened around a node. */
function open(view, center = "") {
  for (const other of VIEWS) {
    byId(other).hidden = other !== view;
    byId(`tab-${other}`).setAttribute("aria-selected", String(other === view));
    byId(`tab-${other}`).tabIndex = other === view ? 0 : -1;
  }
  history.replaceState(null, "", `#${view}`);
  return attempt(() => LOAD[view](center));
}

async function count() {
  const { scope: whose, stats } = await ask("stats");
  for (const part of ["tenant", "user", "project"]) byId("scope").elements[part].value = whose[part];
  byId("stats").replaceChildren(...["memories", "active", "pending", "archived", "conflicts"].map((name) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, String(stats[name])))));
}

byId("scope").addEventListener("submit", (event) => {
  event.preventDefault();
  const wanted = new URLSearchParams();
  const form = event.target.elements;
  for (const part of ["tenant", "user"]) if (form[part].value) wanted.set(part, form[part].value);
  wanted.set("project", form.project.value);
  history.pushState(null, "", `?${wanted}${location.hash}`);
  begin();
});
for (const view of VIEWS) byId(`tab-${view}`).addEventListener("click", () => open(view));
document.querySelector("nav").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const at = VIEWS.findIndex((view) => !byId(view).hidden);
  const view = VIEWS[(at + step + VIEWS.length) % VIEWS.length];
  byId(`tab-${view}`).focus();
  open(view);
});
byId("layer").addEventListener("change", () => open("tiers"));
byId("status").addEventListener("change", () => open("conflicts"));
byId("whole").addEventListener("click", () => open("graph"));
byId("further").addEventListener("click", () => attempt(graph.extend));
addEventListener("popstate", begin);
addEventListener("biem-failed", (event) => fail(event.detail));

function begin() {
  const view = location.hash.slice(1);
  document.title = `biem ${[...scope().values()].filter(Boolean).join("/")}`.trim();
  open(VIEWS.includes(view) ? view : "tiers");
  attempt(count);
}

begin();
