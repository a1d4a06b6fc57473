// Draws a part of the graph: a small force layout in SVG.

import { ask, make } from "./api.js";

const MOST_NODES = 400;
const SVG = "http://www.w3.org/2000/svg";
const canvas = document.getElementById("canvas");
const detail = document.getElementById("detail");
const extent = document.getElementById("extent");
const further = document.getElementById("further");

let nodes = new Map();
let links = new Map();
let around = "";
let next = "";
let chosen = "";
let running = 0;
let asked = 0;

/** Draw the first page: of the scope, or around one node. */
export async function show(center = "") {
  nodes = new Map();
  links = new Map();
  around = chosen = center;
  next = "";
  await extend();
}

/** Add the next page. */
export async function extend() {
  const mine = ++asked;
  const part = await ask("graph", { around, after: next });
  if (mine !== asked) return; // another request was made meanwhile
  for (const node of part.nodes) {
    if (!nodes.has(node.id)) nodes.set(node.id, { ...node, ...place(nodes.size), dx: 0, dy: 0 });
  }
  for (const link of part.links) links.set(`${link.source} ${link.target} ${link.type}`, link);
  next = part.next;
  further.disabled = !next || nodes.size >= MOST_NODES;
  const more = next ? (nodes.size >= MOST_NODES ? "; choose a node to see more of it" : ", and there are more") : "";
  extent.textContent = nodes.size ? `${nodes.size} nodes, ${links.size} links${more}` : next ? "none in this page" : "no links yet";
  draw();
  tell();
}

/** The initial position of a node: on a spiral, so that a page always looks the same. */
function place(number) {
  const radius = 30 * Math.sqrt(number + 1);
  return { x: radius * Math.cos(number * 2.4), y: radius * Math.sin(number * 2.4) };
}

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function draw() {
  const lines = [...links.values()].map((link) => {
    const line = svg("line", { class: link.type, "stroke-width": 0.5 + 2.5 * link.weight });
    return { line, source: nodes.get(link.source), target: nodes.get(link.target) };
  });
  const marks = [...nodes.values()].map((node) => {
    const mark = svg("circle", {
      class: `node ${node.type} ${node.tier} ${node.id === chosen ? "chosen" : ""}`,
      r: 7, tabindex: 0, role: "button", "aria-label": node.label,
    });
    mark.append(svg("title", {}));
    mark.firstChild.textContent = node.label;
    const choose = () => { chosen = node.id; for (const other of marks) other.mark.classList.toggle("chosen", other.node === node); tell(); };
    mark.addEventListener("click", choose);
    mark.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } });
    const name = svg("text", {});
    name.textContent = node.label.length > 24 ? `${node.label.slice(0, 23)}…` : node.label;
    return { node, mark, name };
  });
  canvas.replaceChildren(...lines.map(({ line }) => line), ...marks.map(({ mark }) => mark), ...marks.map(({ name }) => name));
  settle(lines, marks);
}

function settle(lines, marks) {
  cancelAnimationFrame(running);
  const all = [...nodes.values()];
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let heat = 1;
  const step = () => {
    do {
      move(all, heat);
      heat *= 0.97;
    } while (still && heat > 0.02);
    position(lines, marks, all);
    if (heat > 0.02) running = requestAnimationFrame(step);
  };
  if (all.length) step();
}

/** One step of the layout: nodes repel each other, links attract, and all are drawn to the centre. */
function move(all, heat) {
  for (let i = 0; i < all.length; i++) {
    const a = all[i];
    for (let j = i + 1; j < all.length; j++) {
      const b = all[j];
      const x = a.x - b.x || 0.1, y = a.y - b.y || 0.1;
      const push = 4000 / (x * x + y * y + 20);
      a.dx += x * push * 0.1; a.dy += y * push * 0.1;
      b.dx -= x * push * 0.1; b.dy -= y * push * 0.1;
    }
  }
  for (const link of links.values()) {
    const a = nodes.get(link.source), b = nodes.get(link.target);
    const x = b.x - a.x, y = b.y - a.y;
    const far = Math.hypot(x, y) || 1;
    const pull = ((far - 110) / far) * 0.08;
    a.dx += x * pull; a.dy += y * pull;
    b.dx -= x * pull; b.dy -= y * pull;
  }
  for (const node of all) {
    const speed = Math.hypot(node.dx, node.dy) || 1;
    const most = Math.min(speed, 25 * heat) / speed;
    node.x += node.dx * most - node.x * 0.01 * heat;
    node.y += node.dy * most - node.y * 0.01 * heat;
    node.dx = node.dy = 0;
  }
}

function position(lines, marks, all) {
  for (const { line, source, target } of lines) {
    for (const [name, value] of [["x1", source.x], ["y1", source.y], ["x2", target.x], ["y2", target.y]]) line.setAttribute(name, value);
  }
  for (const { node, mark, name } of marks) {
    mark.setAttribute("cx", node.x); mark.setAttribute("cy", node.y);
    name.setAttribute("x", node.x + 10); name.setAttribute("y", node.y + 4);
  }
  const xs = all.map(({ x }) => x), ys = all.map(({ y }) => y);
  const left = Math.min(...xs) - 40, right = Math.max(...xs) + 180;
  const top = Math.min(...ys) - 40, bottom = Math.max(...ys) + 40;
  const width = Math.max(right - left, 800), height = Math.max(bottom - top, 500); // limits the scale of a small graph
  canvas.setAttribute("viewBox", `${(left + right - width) / 2} ${(top + bottom - height) / 2} ${width} ${height}`);
}

/** Show the chosen node next to the drawing. */
function tell() {
  const node = nodes.get(chosen);
  if (!node) {
    detail.replaceChildren(make("p", { className: "dim" }, nodes.size ? "Choose a node to see what it is linked with." : ""));
    return;
  }
  const own = [...links.values()].filter((link) => link.source === chosen || link.target === chosen);
  const rows = own.sort((a, b) => b.weight - a.weight).slice(0, 50).map((link) => {
    const other = nodes.get(link.source === chosen ? link.target : link.source);
    return make("li", {}, `${link.type} ${link.weight.toFixed(2)}: ${other.label}`);
  });
  const failed = (detail) => dispatchEvent(new CustomEvent("biem-failed", { detail }));
  const center = make("button", { type: "button", onclick: () => show(chosen).catch(failed) }, "Show its neighbours");
  const about = [node.type, node.kind, node.tier, node.layer].filter(Boolean).join(" · ");
  detail.replaceChildren(make("p", {}, node.label), make("p", { className: "dim" }, about), center, make("ul", {}, ...rows));
}
