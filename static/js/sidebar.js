// The sidebar: a drawer on narrow screens, the dialogs for renaming and deleting, titles that change.

import { forgetDrafts } from "./draft.js";

const isNarrow = matchMedia("(max-width: 50rem)");

export class Sidebar {
  #sidebar = document.getElementById("sidebar");
  #dialog = document.getElementById("dialog");
  #opener = document.querySelector("[data-drawer='open']");

  constructor() {
    document.addEventListener("click", (event) => this.#click(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    isNarrow.addEventListener("change", () => this.#toggle(false));
    document.getElementById("dialog-body").addEventListener("htmx:afterSwap", () => this.#showDialog());
    document.querySelector("[data-logout]")?.addEventListener("submit", forgetDrafts);
    this.#toggle(false);
  }

  /** Show a conversation's new title wherever it stands. */
  rename(conversation, title) {
    const link = document.querySelector(`[data-conversation="${conversation}"] .list-link`);
    if (link) link.textContent = title;
  }

  #click(event) {
    const link = event.target.closest("a[data-dialog]");
    const { drawer } = event.target.closest("[data-drawer]")?.dataset ?? {};
    if (link && isPlain(event)) {
      event.preventDefault();
      window.htmx.ajax("GET", link.href, "#dialog-body");
    }
    if (drawer) this.#toggle(drawer === "open");
    if (event.target.closest("[data-dialog-close]") && this.#dialog.open) {
      event.preventDefault();
      this.#dialog.close();
    } else if (event.target === this.#dialog) {
      this.#dialog.close();
    }
  }

  #key(event) {
    if (event.key !== "Escape" || !document.body.classList.contains("drawer-open") || this.#dialog.open) return;
    event.preventDefault();
    this.#toggle(false);
  }

  #toggle(isOpen) {
    document.body.classList.toggle("drawer-open", isOpen);
    const hadFocus = this.#sidebar.contains(document.activeElement);
    this.#sidebar.inert = isNarrow.matches && !isOpen;
    this.#opener?.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.#sidebar.querySelector("button")?.focus();
    else if (hadFocus && isNarrow.matches) this.#opener?.focus();
  }

  #showDialog() {
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector("[autofocus]")?.select();
  }
}

// With another button or a key it asks for a tab of its own, where the link shows a page.
function isPlain({ button, ctrlKey, metaKey, shiftKey, altKey }) {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}
