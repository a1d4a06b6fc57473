// The energy of a memory over time, from what /v1 says of it.

import { colour } from "./dom.js";
import { locale, t, when } from "./language.js";
import { library } from "./vendor.js";

const HOUR_MS = 3_600_000;
const DAY_S = 86_400;
const EPOCH_MS = Date.UTC(2020, 0, 1);
const POINTS = 100;
const NEAR_MS = 1_000;
const FADED = 0.01;
const MOST_MS = 60 * 24 * HOUR_MS;

/** Decay per hour: `energy_key` is ln(energy) plus decay times the hours since 2020, at every instant. */
export function decay(node, now) {
  return node.energy > 0 ? Math.max(0, (node.energy_key - Math.log(node.energy)) / hours(now.getTime())) : 0;
}

/** Times in seconds, the energy since it was last set and onwards, and that of the writing until then. */
export function curve(node, now) {
  const rate = decay(node, now);
  const begun = new Date(node.created_at).getTime();
  const set = Math.max(begun, new Date(node.energy_since ?? node.created_at).getTime());
  const fades = rate > 0 ? Math.min(MOST_MS, (Math.log(1 / FADED) / rate) * HOUR_MS) : MOST_MS;
  const end = now.getTime() + fades;
  const spans = [[begun, end], [begun, Math.min(end, begun + fades)], [set, Math.min(end, set + fades)]];
  const times = [...new Set([...spans.flatMap(([from, to]) => steps(from, to)), now.getTime()])].sort((a, b) => a - b);
  const at = (time) => (node.energy > 0 ? Math.min(1, Math.exp(node.energy_key - rate * hours(time))) : 0);
  return [
    times.map((time) => time / 1_000),
    times.map((time) => (time < set ? null : at(time))),
    times.map((time) => (time > set ? null : node.initial_energy * Math.exp(-rate * (hours(time) - hours(begun))))),
  ];
}

function hours(time) {
  return (time - EPOCH_MS) / HOUR_MS;
}

function steps(from, to) {
  return Array.from({ length: POINTS }, (_, index) => from + ((to - from) * index) / (POINTS - 1));
}

/** A vertical line at an instant. */
function line(plot, at, name, width) {
  const x = Math.round(plot.valToPos(at.getTime() / 1_000, "x", true));
  plot.ctx.save();
  plot.ctx.setLineDash([]); // a curve may have left its own
  plot.ctx.strokeStyle = colour(name);
  plot.ctx.lineWidth = width;
  plot.ctx.beginPath();
  plot.ctx.moveTo(x, plot.bbox.top);
  plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
  plot.ctx.stroke();
  plot.ctx.restore();
}

/** Texts of the time axis in the reader's language; the day stands where it begins. */
function times(plot, splits, axis, space, step) {
  let last = "";
  return splits.map((seconds) => {
    const at = new Date(seconds * 1_000);
    const date = at.toLocaleDateString(locale(), { month: "short", day: "numeric" });
    if (step >= DAY_S) return date;
    const time = at.toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const text = date === last ? time : `${time}\n${date}`;
    last = date;
    return text;
  });
}

/** What is known of the times at which it was written, changed and used, oldest first. */
export function events(node, history) {
  const found = history.map((one) => ({ at: one.made_at, kind: one.revision === 1 ? "event_written" : "event_revised" }));
  if (node.accessed_at) found.push({ at: node.accessed_at, kind: "event_used" });
  const isKnown = [node.created_at, node.accessed_at].some((at) => at && Math.abs(new Date(at) - new Date(node.energy_since)) < NEAR_MS);
  if (node.energy_since && !isKnown) found.push({ at: node.energy_since, kind: "event_set" });
  return found.sort((a, b) => new Date(a.at) - new Date(b.at));
}

/** Draw it with a line for each event; returns what removes it. */
export async function draw(box, node, now, marks) {
  const uPlot = await library("uPlot.iife.min.js", "uPlot");
  const axis = { stroke: colour("dim"), grid: { stroke: colour("line") }, ticks: { stroke: colour("line") } };
  const plot = new uPlot({
    width: Math.max(280, box.clientWidth || 600),
    height: 220,
    scales: { y: { range: [0, 1] } },
    axes: [{ ...axis, values: times, space: 64 }, axis],
    series: [
      { label: t("time"), value: (self, seconds) => (seconds ? when(seconds * 1_000) : "–") },
      { label: t("energy_since_use"), stroke: colour("accent"), width: 2 },
      { label: t("energy_as_written"), stroke: colour("dim"), width: 1, dash: [4, 4] },
    ],
    hooks: {
      draw: [(self) => {
        for (const mark of marks) line(self, new Date(mark.at), mark.kind === "event_used" ? "accent" : "dim", 1);
        line(self, now, "hot", 2);
      }],
    },
  }, curve(node, now), box);
  return () => plot.destroy();
}
