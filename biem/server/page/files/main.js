// The frame: navigation, language, theme, key.

import { enterKey, isOpen, whoami } from "./api.js";
import { announce, attempt, el } from "./dom.js";
import { choose, language, speak, t } from "./language.js";
import * as conflicts from "./views/conflicts.js";
import * as facts from "./views/facts.js";
import * as graph from "./views/graph.js";
import * as health from "./views/health.js";
import * as keys from "./views/keys.js";
import * as memory from "./views/memory.js";
import * as notes from "./views/notes.js";
import * as search from "./views/search.js";
import * as sessions from "./views/sessions.js";
import * as tiers from "./views/tiers.js";
import * as timeline from "./views/timeline.js";

const VIEWS = { timeline, search, tiers, graph, facts, conflicts, notes, sessions, keys, health };
const OTHERS = { memory };
const THEME = "biem-theme";
const byId = (id) => document.getElementById(id);
let leave = null;

/** Show the view that the address names: #/view/argument. */
async function open() {
  const [, name = "", ...rest] = location.hash.split("/");
  const chosen = { ...VIEWS, ...OTHERS }[name] ? name : "timeline";
  leave?.();
  leave = null;
  for (const link of byId("nav").children) {
    if (link.dataset.view === chosen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = t(`view_${chosen}`);
  document.title = `${title} · biem`;
  const box = el("section", { "aria-busy": "true", "data-view": chosen }, el("h2", {}, title));
  byId("main").replaceChildren(box);
  await attempt(async () => {
    const ended = await ({ ...VIEWS, ...OTHERS })[chosen].show(box, plain(rest.join("/")));
    if (box.isConnected) leave = ended ?? null;
    else ended?.();
  });
  box.setAttribute("aria-busy", "false");
  if (box.isConnected) announce(title);
}

/** A part of the address as text; one that a person typed may be no encoding. */
function plain(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function scope() {
  const { tenant, user, project } = await whoami();
  byId("scope").textContent = [tenant, user ?? sessionStorage.getItem("biem-user"), project ?? sessionStorage.getItem("biem-project")].filter(Boolean).join(" / ");
}

function navigation() {
  byId("nav").setAttribute("aria-label", t("navigation"));
  byId("nav").replaceChildren(...Object.keys(VIEWS).map((view) =>
    el("a", { href: `#/${view}`, "data-view": view }, t(`view_${view}`))));
}

function paint() {
  const theme = localStorage.getItem(THEME) ?? "system";
  byId("theme").value = theme;
  document.documentElement.dataset.theme = theme;
}

async function begin() {
  byId("language").value = language();
  navigation();
  await attempt(scope);
  await open();
}

byId("language").addEventListener("change", async (event) => {
  await choose(event.target.value);
  await begin();
});
byId("theme").addEventListener("change", (event) => {
  localStorage.setItem(THEME, event.target.value);
  paint();
  open();
});
byId("skip").addEventListener("click", () => byId("main").focus());
byId("change-key").addEventListener("click", async () => {
  if (await enterKey("")) await begin();
});
byId("change-key").hidden = isOpen();
addEventListener("hashchange", open);

paint();
await speak();
await begin();
