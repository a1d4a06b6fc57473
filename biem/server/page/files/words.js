// The reader's language: one dictionary of short texts.

const CHOICE = "biem-language";
let words = {};

/** The language in use: "en" or "zh". */
export function language() {
  return document.documentElement.lang;
}

/** Load the dictionary of a language, or of the one chosen before; without a choice, of the one the server chose. */
export async function speak(chosen = localStorage.getItem(CHOICE) ?? language()) {
  const reply = await fetch(`/page/words/${chosen === "zh" ? "zh" : "en"}.json`);
  words = await reply.json();
  document.documentElement.lang = chosen === "zh" ? "zh" : "en";
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
}

/** Keep a choice for the next visit. */
export function choose(chosen) {
  localStorage.setItem(CHOICE, chosen);
  return speak(chosen);
}

/** A text by its name; {name} in it stands for a value. */
export function t(name, values = {}) {
  return (words[name] ?? name).replace(/\{(\w+)\}/g, (all, value) => String(values[value] ?? all));
}

/** A text whose name is made of a value of the API; the value itself where there is none. */
export function term(kind, value) {
  return words[`${kind}_${value}`] ?? String(value);
}

/** An instant. */
export function when(moment) {
  return moment ? new Date(moment).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" }) : "";
}

/** A day. */
export function day(moment) {
  return new Date(moment).toLocaleDateString(language(), { dateStyle: "full" });
}

/** A share of 1 in percent. */
export function percent(share) {
  return new Intl.NumberFormat(language(), { style: "percent" }).format(share);
}

/** A count. */
export function count(number) {
  return new Intl.NumberFormat(language()).format(number);
}
