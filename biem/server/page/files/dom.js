// Elements. Texts become text nodes: nothing on this page is made of markup that a memory holds.

/** An element with properties, data-, aria- and other attributes with a hyphen or in `set`, and children. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

export function button(text, onclick, more = {}) {
  return el("button", { type: "button", onclick: guarded(onclick), ...more }, text);
}

export function field(label, input) {
  return el("label", {}, el("span", {}, label), input);
}

export function select(options, value = "", more = {}) {
  const made = el("select", more, ...options.map(([name, text]) => el("option", { value: name }, text)));
  made.value = value;
  return made;
}

/** Names and values. */
export function facts(...pairs) {
  return el("dl", { className: "facts" },
    ...pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined)
      .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

export function table(heads, rows) {
  return el("div", { className: "wide" }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell)))))));
}

/** A bar with its meaning in words, which is all that a screen reader reads. */
export function meter(value, label) {
  return el("span", { className: "measure" }, el("meter", { min: 0, max: 1, value, "aria-hidden": "true" }), label);
}

/** Run work; show its failure above the view. */
export async function attempt(work) {
  const line = document.getElementById("error");
  line.hidden = true;
  try {
    return await work();
  } catch (error) {
    line.textContent = error.message;
    line.hidden = false;
    return undefined;
  }
}

/** A handler that cannot run twice at a time and shows its failure. */
export function guarded(work) {
  let busy = false;
  return async (event) => {
    event?.preventDefault();
    if (busy) return;
    busy = true;
    try {
      await attempt(() => work(event));
    } finally {
      busy = false;
    }
  };
}

/** Say to a screen reader what changed. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Ask before something that cannot be undone. */
export function confirmed(question, answer) {
  const dialog = document.getElementById("confirm-dialog");
  document.getElementById("confirm-text").textContent = question;
  document.getElementById("confirm-yes").textContent = answer;
  dialog.returnValue = "";
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}

/** A colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
