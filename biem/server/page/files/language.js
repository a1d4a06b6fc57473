// The reader's language: a dictionary of short texts, and how times and numbers are written.

const CHOICE = "biem-language";
let words = {};
let others = null;

/** The language in use: "en" or "zh". */
export function language() {
  return document.documentElement.lang;
}

/** The language with the country that the browser names: dates of en-GB are not those of en-US. */
export function locale() {
  return navigator.languages.find((each) => each.split("-")[0].toLowerCase() === language()) ?? language();
}

async function dictionary(name) {
  return (await fetch(`/page/words/${name}.json`)).json();
}

/** Load the dictionary of a language, or of the one chosen before; without a choice, of the one the server chose. */
export async function speak(chosen = localStorage.getItem(CHOICE) ?? language()) {
  words = await dictionary(chosen === "zh" ? "zh" : "en");
  others = null;
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

/** Whether there is a text of this name. */
export function has(name) {
  return name in words;
}

/** A text whose name is made of a value of the API; the value itself where there is none. */
export function term(kind, value) {
  return words[`${kind}_${value}`] ?? String(value);
}

/** What gives a reason of a recall, which comes in the language of its question, in the reader's language. */
export async function translator() {
  others ??= await dictionary(language() === "zh" ? "en" : "zh");
  const names = Object.keys(words).filter((name) => name.startsWith("reason_"));
  const isOwn = (phrase) => names.some((name) => filled(words[name], phrase) !== null);
  return (phrase) => {
    if (isOwn(phrase)) return phrase;
    const name = names.find((each) => filled(others[each], phrase) !== null);
    const given = name && filled(others[name], phrase).split(/、|, /).join(t("separator"));
    return name ? t(name, { words: given }) : phrase;
  };
}

/** What stands in a phrase where its pattern has {words}; empty if it has none, null if it is another phrase. */
function filled(pattern, phrase) {
  const [before, after] = pattern.split("{words}");
  if (after === undefined) return phrase === pattern ? "" : null;
  const fits = phrase.length > before.length + after.length && phrase.startsWith(before) && phrase.endsWith(after);
  return fits ? phrase.slice(before.length, phrase.length - after.length) : null;
}

/** An instant. */
export function when(moment) {
  return moment ? new Date(moment).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" }) : "";
}

/** A day. */
export function day(moment) {
  return new Date(moment).toLocaleDateString(locale(), { dateStyle: "full" });
}

/** A share of 1 in percent. */
export function percent(share) {
  return new Intl.NumberFormat(locale(), { style: "percent" }).format(share);
}

/** A count. */
export function count(number) {
  return new Intl.NumberFormat(locale()).format(number);
}
