// Pin and Unpin, at a message and in the memory panel: both submit the one form of the page.

import { TAB } from "./ids.js";

/** Events: `pinned` (detail: id, isPinned), `refused` (detail: why, for people). */
export class Pins extends EventTarget {
  #form;

  /** @param {HTMLFormElement} form whose buttons say what is pinned */
  constructor(form) {
    super();
    this.#form = form;
    form.addEventListener("submit", (event) => this.#submit(event));
  }

  async #submit(event) {
    const button = event.submitter;
    event.preventDefault();
    button.disabled = true;
    const hadFocus = document.activeElement === document.body || document.activeElement === button;
    const refused = await this.#post(button.formAction, button.value);
    button.disabled = false;
    if (hadFocus && button.isConnected) button.focus();
    if (refused) this.dispatchEvent(new CustomEvent("refused", { detail: refused }));
    else this.#tell(button);
  }

  /** Why it was refused; empty if it was done. */
  async #post(address, pinned) {
    const body = new FormData(this.#form);
    body.set("pinned", pinned);
    try {
      const answer = await fetch(address, { method: "POST", body, headers: { "HX-Request": "true", "X-Tab": TAB } });
      if (answer.status === 204) return "";
      return answer.status === 422 ? await answer.text() : "This could not be changed. Load the page again.";
    } catch {
      return "The server cannot be reached. Try again.";
    }
  }

  #tell(button) {
    const id = Number(new URL(button.formAction).pathname.match(/messages\/(\d+)\//)[1]);
    this.dispatchEvent(new CustomEvent("pinned", { detail: { id, isPinned: button.value === "1" } }));
  }
}
