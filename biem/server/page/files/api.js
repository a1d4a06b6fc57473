// Requests to /v1. The key lives in sessionStorage and travels in a header only.

import { has, t, term } from "./language.js";

const KEY = "biem-key";
const USER = "biem-user";
const PROJECT = "biem-project";
const EXPLAINED = [400, 403, 409, 413, 422, 507];
let about = null;
let asking = null;

/** Whether the server takes requests without a key. */
export function isOpen() {
  return document.querySelector("meta[name=biem-access]").content === "open";
}

/** One answer: `data`, `after` for the next page, `tag` of the revision, and the server's time `at`. */
export async function ask(method, path, { query = {}, body, headers = {} } = {}) {
  if (!isOpen() && !sessionStorage.getItem(KEY)) await enterKey("");
  const address = new URL(`/v1/${path}`, location.origin);
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== "" && each !== null && each !== undefined) address.searchParams.append(name, each);
  }
  const sent = { ...headers, ...credentials() };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(address, { method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Error(t("error_offline"));
  }
  const data = await reply.json().catch(() => null);
  if (reply.status === 401) {
    await enterKey(t("key_wrong"));
    return ask(method, path, { query, body, headers });
  }
  if (!reply.ok) throw Object.assign(new Error(refusal(reply.status, data?.detail)), { status: reply.status });
  const next = /<([^>]*)>; rel="next"/.exec(reply.headers.get("Link") ?? "");
  return {
    data,
    after: next ? new URL(next[1], location.origin).searchParams.get("after") : "",
    tag: reply.headers.get("ETag"),
    at: new Date(reply.headers.get("Date") ?? Date.now()),
  };
}

/** What a refusal means, in the reader's language; the server's own words, which are English, where they say what is wrong. */
function refusal(status, detail) {
  const meaning = has(`error_${status}`) ? term("error", status) : t("error_status", { status });
  return detail && EXPLAINED.includes(status) ? `${meaning} ${detail}` : meaning;
}

export const get = (path, query) => ask("GET", path, { query });
export const post = (path, body) => ask("POST", path, { body });

/** What the key opens: its scope and grants. */
export async function whoami() {
  about ??= (await get("about")).data;
  return about;
}

/** Whether the key is granted this. */
export async function may(grant) {
  return (await whoami()).grants.includes(grant);
}

function credentials() {
  if (isOpen()) return {};
  const found = { Authorization: `Bearer ${bytes(sessionStorage.getItem(KEY) ?? "")}` };
  for (const [name, header] of [[USER, "Biem-User"], [PROJECT, "Biem-Project"]]) {
    const value = sessionStorage.getItem(name);
    if (value) found[header] = encodeURIComponent(value);
  }
  return found;
}

/** Text as UTF-8 for a header. */
function bytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** Ask for the key, once for all requests that wait for it. */
export function enterKey(why) {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById("key-dialog");
    const fields = { [KEY]: "key", [USER]: "key-user", [PROJECT]: "key-project" };
    document.getElementById("key-error").textContent = why;
    dialog.oncancel = (event) => { if (!sessionStorage.getItem(KEY)) event.preventDefault(); };
    dialog.addEventListener("close", () => {
      const entered = document.getElementById("key").value.trim();
      if (entered) {
        for (const [name, id] of Object.entries(fields)) sessionStorage.setItem(name, document.getElementById(id).value.trim());
      }
      document.getElementById("key").value = "";
      about = null;
      asking = null;
      resolve(Boolean(entered));
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}
