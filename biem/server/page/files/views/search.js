// A recall, and why each memory was found, in words; and what of it a prompt would leave out.

import { post } from "../api.js";
import { el, field, meter, select, table } from "../dom.js";
import { count, percent, t, term, translator, when } from "../language.js";
import { addressOf, asItWas, card, form, instant } from "./parts.js";

const SURE = 0.6;
const DOUBTFUL = 0.3;
const ELSEWHERE = ["energy", "status", "way", "confidence", "said_before", "renewed_by"];
const MEASURED = ["dense", "likeness", "former_likeness", "asked_likeness", "referred_likeness", "changed", "answering", "group", "rerank"];

export async function show(box, argument) {
  const query = el("input", { type: "search", required: true, maxLength: 2_000, value: argument, id: "query" });
  const most = select([5, 10, 20, 50].map((number) => [String(number), String(number)]), "10");
  const asOf = el("input", { type: "datetime-local" });
  const answer = el("div", { id: "answer", "aria-live": "polite" });
  let turn = 0;

  async function look() {
    const mine = ++turn;
    const wanted = { query: query.value, top_k: Number(most.value) };
    if (asOf.value) wanted.as_of = instant(asOf);
    history.replaceState(null, "", `#/search/${encodeURIComponent(query.value)}`);  // for the way back from a hit
    answer.replaceChildren(el("p", { className: "dim" }, t("searching")));
    const [recalled, context, translated] = await Promise.all([post("recall", wanted), post("context", wanted), translator()]);
    if (mine === turn) answer.replaceChildren(...trace(recalled.data, context.data, translated, wanted.as_of && new Date(wanted.as_of)));
  }

  box.append(form(look,
    field(t("question"), query), field(t("most"), most), field(t("as_of"), asOf), el("button", {}, t("search"))), answer);
  query.focus();
  if (argument) await look();
}

/** `moment` is the one as of which was asked, if there is one. */
function trace(recalled, context, translated, moment) {
  const shown = new Set(context.hits.map((hit) => hit.node.id));
  const fate = (id) => (shown.has(id) ? "" : context.omitted[id] ?? "elsewhere");
  return [
    el("section", { className: "panel" }, el("h3", {}, t("recall_summary")), el("ul", {}, ...summary(recalled, context, fate).map((line) => el("li", {}, line)))),
    recalled.hits.length ? el("ol", { className: "list hits" }, ...recalled.hits.map((hit) => el("li", {}, found(hit, fate(hit.node.id), translated, moment)))) : el("p", { className: "dim" }, t("nothing_found")),
    el("details", { className: "panel" }, el("summary", {}, t("prompt_block")),
      context.text ? el("pre", {}, context.text) : el("p", { className: "dim" }, t("prompt_empty"))),
  ];
}

/** What can be said of the recall as a whole; `fate` says why a prompt would not get a memory. */
function summary(recalled, context, fate) {
  const sure = recalled.confidence >= SURE ? "confidence_high" : recalled.confidence >= DOUBTFUL ? "confidence_middle" : "confidence_low";
  const dropped = recalled.hits.map((hit) => fate(hit.node.id)).filter(Boolean);
  const others = context.hits.length - (recalled.hits.length - dropped.length);
  const reasons = [...new Set(dropped)].map((why) => t("prompt_dropped", {
    count: count(dropped.filter((each) => each === why).length), why: term("omitted", why),
  }));
  return [
    t("found_count", { count: count(recalled.hits.length) }),
    t(sure, { share: percent(recalled.confidence) }),
    t(recalled.way === "orbit" ? "way_orbit" : "way_search"),
    recalled.indexing ? t("indexing_count", { count: count(recalled.indexing) }) : "",
    recalled.degraded.length ? t("degraded_servers", { servers: recalled.degraded.join(", ") }) : t("all_servers"),
    t("prompt_count", { count: count(recalled.hits.length - dropped.length) }),
    others ? t("prompt_others", { count: count(others) }) : "",
    ...reasons,
    context.left_out ? t("left_out_budget", { count: count(context.left_out) }) : "",
  ].filter(Boolean);
}

/** One hit; `omitted` says why a prompt would not get it, and is empty if it would. */
function found(hit, omitted, translated, moment) {
  const parts = Object.entries(hit.why).filter(([name, value]) => !ELSEWHERE.includes(name) && typeof value === "number");
  parts.sort((a, b) => MEASURED.includes(a[0]) - MEASURED.includes(b[0]) || Math.abs(b[1]) - Math.abs(a[1]));
  return card(asItWas(hit.node, moment),
    el("div", { className: "why" },
      meter(hit.score, t("score_of", { score: percent(hit.score) })),
      hit.reasons.length ? el("ul", { className: "reasons" }, ...hit.reasons.map((reason) => el("li", {}, translated(reason)))) : el("span", { className: "dim" }, t("no_reason")),
      el("span", { className: omitted ? "dim" : "good" }, omitted ? t("not_in_prompt", { why: term("omitted", omitted) }) : t("in_prompt"))),
    hit.why.renewed_by ? el("p", {}, el("a", { href: addressOf(hit.why.renewed_by) }, t("newer_first"))) : "",
    hit.why.disputed_by ? el("p", {}, el("a", { href: addressOf(hit.why.disputed_by) }, t("disputed"))) : "",
    hit.why.held_until ? el("p", { className: "dim" }, t("held_until", { time: when(hit.why.held_until) })) : "",
    hit.replaces ? el("p", { className: "dim" }, t("replaces", { text: hit.replaces.text })) : "",
    hit.evidence ? el("details", {}, el("summary", {}, t("original")), el("pre", {}, hit.evidence)) : "",
    el("details", {}, el("summary", {}, t("every_signal")),
      table([t("signal"), t("effect"), t("value")], parts.map(([name, value]) => [
        term("signal", name),
        MEASURED.includes(name) ? t("measured") : t(value >= 0 ? "speaks_for" : "speaks_against"),
        value.toFixed(3),
      ]))));
}
