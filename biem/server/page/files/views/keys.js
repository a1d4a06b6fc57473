// Keys of this server, for administrators.

import { ask, get, isOpen, may, post } from "../api.js";
import { announce, button, confirmed, el, field, table } from "../dom.js";
import { t, term, when } from "../language.js";
import { form } from "./parts.js";

const GRANTS = ["read", "write", "erase", "admin"];

export async function show(box) {
  if (!(await may("admin"))) {
    box.append(el("p", { className: "dim" }, t(isOpen() ? "keys_not_needed" : "keys_need_admin")));
    return;
  }
  const list = el("div", {});
  const made = el("p", { className: "panel", hidden: true, role: "status" });
  const name = el("input", { maxLength: 256 });
  const days = el("input", { type: "number", min: 1, max: 3_650 });
  const boxes = GRANTS.map((grant) => el("input", { type: "checkbox", value: grant, checked: grant === "read" }));

  async function load() {
    const { data } = await get("keys");
    list.replaceChildren(table(
      [t("name"), t("user"), t("project"), t("grants"), t("made_at"), t("last_used"), t("expires_at"), ""],
      data.map((key) => [key.name || key.id, key.user ?? t("any"), key.project ?? t("any"),
        key.grants.map((grant) => term("grant", grant)).join(t("separator")), when(key.created_at), when(key.last_used_at), when(key.expires_at),
        key.revoked_at ? t("revoked") : button(t("revoke"), async () => {
          if (!(await confirmed(t("revoke_question", { name: key.name || key.id }), t("revoke")))) return;
          await ask("DELETE", `keys/${key.id}`);
          announce(t("revoked"));
          await load();
        }, { className: "danger" })])));
  }

  box.append(form(async () => {
    if (!boxes.some((each) => each.checked)) throw new Error(t("grants_needed"));
    const body = { name: name.value, grants: boxes.filter((each) => each.checked).map((each) => each.value) };
    if (days.value) body.expires_at = new Date(Date.now() + Number(days.value) * 86_400_000).toISOString();
    const { data } = await post("keys", body);
    made.replaceChildren(t("key_made"), " ", el("code", {}, data.token));
    made.hidden = false;
    await load();
  }, field(t("name"), name),
  el("fieldset", {}, el("legend", {}, t("grants")), ...boxes.map((each, index) => el("label", { className: "inline" }, each, el("span", {}, term("grant", GRANTS[index]))))),
  field(t("days_valid"), days), el("button", {}, t("make_key"))), made, list);
  await load();
}
