// Requests to the server. Texts are data and shown as text: nothing here renders them as markup.

const TOKEN = "biem-token";

/** The scope in the address bar; missing parts are the server's own. */
export function scope() {
  const given = new URLSearchParams(location.search);
  const chosen = new URLSearchParams();
  for (const part of ["tenant", "user", "project"]) if (given.has(part)) chosen.set(part, given.get(part));
  return chosen;
}

/** One response, or an Error with the server's message. */
export async function ask(what, wishes = {}) {
  const query = scope();
  for (const [name, value] of Object.entries(wishes)) if (value) query.set(name, value);
  const token = sessionStorage.getItem(TOKEN);
  let reply;
  try {
    reply = await fetch(`api/${what}?${query}`, { headers: token ? { Authorization: `Bearer ${bytes(token)}` } : {} });
  } catch {
    throw new Error("The server does not answer; is it running?");
  }
  const answer = await reply.json().catch(() => ({}));
  if (reply.status === 401) {
    await knock();
    return ask(what, wishes);
  }
  if (!reply.ok) throw new Error(answer.error?.message ?? `The server answered ${reply.status}`);
  return answer;
}

/** Text as UTF-8 for a header. */
function bytes(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

let asking = null;

/** Ask for the token, once for all requests that wait for it. */
function knock() {
  asking ??= new Promise((resolve) => {
    const door = document.getElementById("door");
    door.addEventListener("close", () => {
      const field = door.querySelector("input");
      sessionStorage.setItem(TOKEN, field.value);
      field.value = "";
      asking = null;
      resolve();
    }, { once: true });
    door.showModal();
  });
  return asking;
}

/** An element with properties and children; strings become text. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

/** An instant for display. */
export function when(moment) {
  return moment ? new Date(moment).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
}
