// Memories by day, as they stood at an instant that a slider chooses.

import { get } from "../api.js";
import { attempt, button, el, field } from "../dom.js";
import { day, t, when } from "../language.js";
import { asItWas, card, local } from "./parts.js";

const STEPS = 1_000;
const PAUSE_MS = 200;

export async function show(box) {
  const oldest = (await get("memories", { order: "oldest", limit: 1, status: "all" })).data.items[0];
  const now = new Date();
  const start = oldest ? Math.min(new Date(oldest.at).getTime(), now.getTime() - 60_000) : now.getTime() - 86_400_000;
  const slider = el("input", { type: "range", min: 0, max: STEPS, value: STEPS, id: "as-of" });
  const exact = el("input", { type: "datetime-local", max: local(now), min: local(new Date(start)) });
  const shown = el("output", { htmlFor: "as-of" });
  const list = el("div", { id: "timeline-list" });
  const more = button(t("more"), () => grow(), { hidden: true });
  let moment = null; // null: now
  let after = "";
  let turn = 0;
  let last = "";
  let timer = 0;

  async function grow() {
    const mine = turn;
    const at = moment?.toISOString();
    const found = await get("memories", { limit: 50, after, as_of: at, until: at });
    if (mine !== turn) return;
    if (!after) list.replaceChildren();
    for (const node of found.data.items) {
      const heading = day(node.at);
      if (heading !== last) list.append(el("h3", {}, heading));
      last = heading;
      list.append(card(asItWas(node, moment)));
    }
    after = found.data.next;
    more.hidden = !after;
    if (!list.children.length) list.append(el("p", { className: "dim" }, t("no_memories")));
  }

  function choose(chosen) {
    moment = chosen;
    turn += 1;
    after = last = "";
    shown.textContent = moment ? when(moment) : t("now");
    slider.setAttribute("aria-valuetext", shown.textContent);
    clearTimeout(timer);
    timer = setTimeout(() => attempt(grow), PAUSE_MS);
  }

  slider.addEventListener("input", () => {
    const at = new Date(start + ((Date.now() - start) * slider.value) / STEPS);
    exact.value = Number(slider.value) === STEPS ? "" : local(at);
    choose(Number(slider.value) === STEPS ? null : at);
  });
  exact.addEventListener("change", () => {
    const at = exact.value ? new Date(exact.value) : null;
    slider.value = at ? ((at.getTime() - start) / (Date.now() - start)) * STEPS : STEPS;
    choose(at);
  });
  shown.textContent = t("now");
  box.append(
    el("p", { className: "dim" }, t("timeline_note")),
    el("div", { className: "tools" },
      el("label", { className: "scrubber" }, el("span", {}, t("as_of")), slider), shown,
      field(t("exact_time"), exact),
      button(t("now"), () => { slider.value = STEPS; exact.value = ""; choose(null); })),
    list, more);
  await grow();
  return () => clearTimeout(timer);
}
