// Memories, concepts and their links, drawn with WebGL; the list beside it does the same by keyboard.

import { get } from "../api.js";
import { announce, button, colour, el, field } from "../dom.js";
import { places } from "../graph_layout.js";
import { count, t, term } from "../language.js";
import { library } from "../vendor.js";
import { addressOf, linkName } from "./parts.js";

const PAGE = 500;
const MOST_NODES = 2_000;
const MOST_PAGES = 40;
const LISTED = 100;
const FEW = 50;
const PADDING = 5;
const GAP = 3;
const SHADES = { L1: "hot", L2: "accent", L3: "dim" };

export async function show(box, around) {
  const extent = el("p", { className: "dim", id: "extent", role: "status" }, t("loading"));
  const canvas = el("div", { className: "canvas", id: "canvas", role: "img", "aria-label": t("view_graph") });
  const detail = el("aside", { className: "detail", id: "detail", "aria-live": "polite" });
  const wanted = el("input", { type: "search", id: "node-filter" });
  const list = el("ul", { className: "names", id: "node-list" });
  const legend = el("p", { className: "meta" },
    ...[...Object.entries(SHADES).map(([tier, shade]) => [shade, term("tier", tier)]), ["concept", term("node", "concept")]]
      .map(([shade, text]) => el("span", { className: `dot ${shade}` }, text)));
  const drawing = el("div", { className: "split" },
    canvas,
    el("div", { className: "side" }, el("div", { className: "row", id: "zoom" }), detail, field(t("find_node"), wanted), list));
  box.append(extent, legend, drawing);

  const [nodes, links, cut] = await load(around, extent, box);
  if (!box.isConnected) return undefined;
  extent.textContent = nodes.size
    ? t(cut ? "graph_extent_cut" : "graph_extent", { nodes: count(nodes.size), links: count(links.length) })
    : t("graph_empty");
  if (!nodes.size) {
    legend.remove();
    drawing.remove();
    return undefined;
  }

  const [Sigma, graphology] = [await library("sigma.min.js", "Sigma"), await library("graphology.umd.min.js", "graphology")];
  const graph = new graphology.MultiGraph();
  const degree = new Map();
  for (const link of links) for (const end of [link.source, link.target]) degree.set(end, (degree.get(end) ?? 0) + 1);
  const placed = places([...nodes.keys()], links);
  for (const [id, node] of nodes) {
    graph.addNode(id, {
      ...placed.get(id), label: node.label.slice(0, 60), size: Math.min(12, 2 + Math.sqrt(degree.get(id) ?? 1)),
      color: colour(node.type === "concept" ? "concept" : SHADES[node.tier] ?? "accent"),
    });
  }
  for (const link of links) graph.addEdge(link.source, link.target, { size: 0.5 + link.weight, color: colour("line") });
  const drawn = new Sigma(graph, canvas, { defaultDrawNodeLabel: drawLabel, defaultDrawNodeHover: drawChosen, zIndex: true, labelRenderedSizeThreshold: graph.order > FEW ? 6 : 0, defaultEdgeColor: colour("line"), allowInvalidContainer: true });
  canvas.dataset.nodes = String(graph.order);

  function choose(id) {
    const node = nodes.get(id);
    const own = links.filter((link) => link.source === id || link.target === id).sort((a, b) => b.weight - a.weight);
    const near = new Set(own.flatMap((link) => [link.source, link.target]));
    drawn.setSetting("nodeReducer", (other, shown) => (other === id ? { ...shown, highlighted: true, zIndex: 2 } : near.has(other) ? { ...shown, zIndex: 1 } : { ...shown, color: colour("line"), label: "", size: shown.size / 2 }));
    drawn.setSetting("edgeReducer", (edge, shown) => (graph.hasExtremity(edge, id) ? { ...shown, color: colour("accent"), size: shown.size + 1.5, zIndex: 1 } : shown));
    detail.replaceChildren(
      el("p", {}, node.label),
      el("p", { className: "dim" }, [term("node", node.type), node.kind ? term("kind", node.kind) : "", node.tier, node.layer ? term("layer", node.layer) : ""].filter(Boolean).join(" · ")),
      el("p", { className: "row" },
        node.type === "memory" ? el("a", { href: addressOf(id) }, t("open_memory")) : "",
        el("a", { href: `#/graph/${encodeURIComponent(id)}` }, t("show_around"))),
      el("ul", {}, ...own.slice(0, 30).map((link) => {
        const other = link.source === id ? link.target : link.source;
        return el("li", {}, `${linkName(link)} ${link.weight.toFixed(2)}: `, button(nodes.get(other).label, () => choose(other), { className: "plain" }));
      })));
  }

  function fill() {
    const term_ = wanted.value.toLowerCase();
    const found = [...nodes].filter(([, node]) => node.label.toLowerCase().includes(term_));
    found.sort((a, b) => (degree.get(b[0]) ?? 0) - (degree.get(a[0]) ?? 0));
    list.replaceChildren(...found.slice(0, LISTED).map(([id, node]) => el("li", {}, button(node.label, () => choose(id), { className: "plain" }))));
  }

  const camera = drawn.getCamera();
  box.querySelector("#zoom").append(
    button(t("zoom_in"), () => camera.animatedZoom()), button(t("zoom_out"), () => camera.animatedUnzoom()),
    button(t("whole"), () => camera.animatedReset()), around ? el("a", { href: "#/graph" }, t("whole_graph")) : "");
  drawn.on("clickNode", ({ node }) => choose(node));
  wanted.addEventListener("input", fill);
  fill();
  if (around && nodes.has(around)) choose(around);
  announce(extent.textContent);
  return () => drawn.kill();
}

/** The label of a node, where it begins, and its width: right of the node, left of it where the drawing would end first. */
function labelled(context, node, settings) {
  context.font = `${settings.labelWeight} ${settings.labelSize}px ${settings.labelFont}`;
  const room = context.canvas.clientWidth - 2 * PADDING;
  const label = fitting(context, node.label, room);
  const wide = context.measureText(label).width;
  const last = PADDING + room - wide;
  const [right, left] = [node.x + node.size + GAP, node.x - node.size - GAP - wide];
  return [label, right <= last ? right : left >= PADDING ? left : last, wide];
}

/** As much of a text as there is room for. */
function fitting(context, text, room) {
  let kept = [...text];
  const shown = () => (kept.length < [...text].length ? `${kept.join("")}…` : text);
  while (kept.length && context.measureText(shown()).width > room) kept = kept.slice(0, -1);
  return shown();
}

function drawLabel(context, node, settings) {
  if (!node.label) return;
  const [label, left] = labelled(context, node, settings);
  context.fillStyle = colour("text");
  context.fillText(label, left, node.y + settings.labelSize / 3);
}

/** The label of a node that is chosen or pointed at, in the colours of this theme: sigma's own ground is white in each. */
function drawChosen(context, node, settings) {
  if (!node.label) return;
  const [label, left, wide] = labelled(context, node, settings);
  const [begin, end] = [Math.min(left, node.x - node.size) - PADDING, Math.max(left + wide, node.x + node.size) + PADDING];
  const high = settings.labelSize + 2 * PADDING;
  context.beginPath();
  context.roundRect(begin, node.y - high / 2, end - begin, high, PADDING);
  context.fillStyle = colour("card");
  context.strokeStyle = colour("accent");
  context.fill();
  context.stroke();
  context.fillStyle = colour("text");
  context.fillText(label, left, node.y + settings.labelSize / 3);
}

async function load(around, extent, box) {
  const nodes = new Map(), links = [];
  let after = "";
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const part = (await get("graph", { around, limit: PAGE, after })).data;
    for (const node of part.nodes) if (nodes.size < MOST_NODES) nodes.set(node.id, node);
    links.push(...part.links);
    after = part.next;
    extent.textContent = t("loading_nodes", { count: count(nodes.size) });
    if (!after || nodes.size >= MOST_NODES || !box.isConnected) break;
  }
  return [nodes, links.filter((link) => nodes.has(link.source) && nodes.has(link.target)), Boolean(after)];
}
