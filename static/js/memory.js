// The memory panel beside the conversation, a drawer on narrow screens, and the gauge in the head.

import { TAB } from "./ids.js";

const KEY = "memory-panel";
// A reply has ended: what follows from it in memory has begun by then.
const SOON_MS = 700;
const isNarrow = matchMedia("(max-width: 64rem)");
const element = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");

/** Events: `jump` (detail: the id of a message that is to be shown), `said` (detail: what has come of a wish). */
export class Memory extends EventTarget {
  #panel = element("memory");
  #body = element("memory-body");
  #button = element("memory-button");
  #error = element("memory-error");
  // Which parts were unfolded, and what had the focus in which place, before the panel was loaded again.
  #unfolded = [];
  #focused = null;
  #covered = [];
  #isSummarising = false;
  #timer = null;

  constructor() {
    super();
    this.#listen();
    this.#show(!isNarrow.matches && wasOpen());
    this.refresh();
  }

  /** Something has changed: measure again, and load what is shown unless the person is writing in it. */
  refresh() {
    const isEdited = this.#body.querySelector("#memory-form") !== null;
    if (this.#panel.hidden || isEdited) this.#load("?part=gauge", element("memory-gauge"));
    else this.#load("", this.#body);
  }

  refreshSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), SOON_MS);
  }

  #listen() {
    this.#button.addEventListener("click", () => this.#toggle(this.#panel.hidden));
    element("memory-close").addEventListener("click", () => this.#toggle(false));
    element("memory-veil").addEventListener("click", () => this.#toggle(false));
    element("memory-again").addEventListener("click", () => this.refresh());
    isNarrow.addEventListener("change", () => this.#show(!isNarrow.matches && wasOpen()));
    this.#panel.addEventListener("keydown", (event) => this.#key(event));
    this.#panel.addEventListener("click", (event) => this.#click(event));
    this.#panel.addEventListener("input", () => this.#count());
    this.#body.addEventListener("htmx:configRequest", ({ detail }) => (detail.headers["X-Tab"] = TAB));
    this.#body.addEventListener("htmx:beforeSwap", () => this.#beforeSwap());
    this.#body.addEventListener("htmx:afterSettle", () => this.#afterSettle());
    for (const name of ["htmx:responseError", "htmx:sendError"]) {
      this.#body.addEventListener(name, () => (this.#error.hidden = false));
    }
    document.body.addEventListener("htmx:beforeSwap", leaveIfElsewhere);
  }

  #toggle(isOpen) {
    remember(isOpen);
    this.#show(isOpen);
    if (isOpen) {
      this.refresh();
      this.#panel.focus();
    } else {
      this.#button.focus();
    }
  }

  #show(isOpen) {
    this.#panel.hidden = !isOpen;
    document.body.classList.toggle("memory-open", isOpen);
    this.#button.setAttribute("aria-expanded", String(isOpen));
    this.#cover(isOpen && isNarrow.matches);
  }

  /** As a drawer it lies over the page, and what is below must not take the focus; the sidebar may be inert anyway. */
  #cover(isCovering) {
    for (const part of this.#covered) part.inert = false;
    const parts = isCovering ? document.querySelectorAll("#content, #sidebar, .skip-link") : [];
    this.#covered = [...parts].filter((part) => !part.inert);
    for (const part of this.#covered) part.inert = true;
  }

  #load(query, target) {
    this.#error.hidden = true;
    window.htmx.ajax("GET", this.#body.dataset.address + query, { source: target, target }).catch(() => {});
  }

  #key(event) {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    this.#toggle(false);
  }

  #click(event) {
    const link = event.target.closest("[data-jump]");
    if (!link) return;
    event.preventDefault();
    if (isNarrow.matches) this.#toggle(false);
    this.dispatchEvent(new CustomEvent("jump", { detail: Number(link.dataset.jump) }));
  }

  #beforeSwap() {
    this.#unfolded = [...this.#body.querySelectorAll("details[open]")].map(({ id }) => id);
    const place = this.#stops().indexOf(document.activeElement);
    this.#focused = place < 0 ? null : { place, words: document.activeElement.textContent };
  }

  #afterSettle() {
    for (const id of this.#unfolded) element(id)?.setAttribute("open", "");
    if (this.#focused && !this.#body.contains(document.activeElement)) {
      const same = this.#stops()[this.#focused.place];
      // What was pressed may be gone.
      const next = same?.textContent === this.#focused.words ? same : (element("memory-edit") ?? this.#panel);
      next.focus({ preventScroll: true });
    }
    this.#count();
    const said = this.#news();
    if (said) this.dispatchEvent(new CustomEvent("said", { detail: said }));
  }

  /** What a screen reader is told of what was loaded. */
  #news() {
    const wasSummarising = this.#isSummarising;
    this.#isSummarising = this.#body.querySelector(".memory-progress") !== null;
    const said = this.#body.querySelector("[role='status']")?.textContent.trim() ?? "";
    return said || (wasSummarising && !this.#isSummarising ? "Summarising is done" : "");
  }

  #stops() {
    return [...this.#body.querySelectorAll("a, button, summary, textarea, [tabindex]")];
  }

  #count() {
    const box = this.#body.querySelector("#memory-form textarea");
    if (!box) return;
    const words = box.value.match(/\S+/g)?.length ?? 0;
    this.#body.querySelector("[data-part='count']").textContent =
      `${number.format(words)} words, ${number.format(box.value.length)} characters`;
  }
}

/** The answer came from another address: the login, because the session has ended. */
function leaveIfElsewhere(event) {
  const { xhr, requestConfig } = event.detail;
  const asked = new URL(requestConfig.path, location.href).pathname;
  if (!xhr.responseURL || new URL(xhr.responseURL).pathname === asked) return;
  event.detail.shouldSwap = false;
  location.reload();
}

function wasOpen() {
  try {
    return localStorage.getItem(KEY) === "open";
  } catch {
    return false; // Storage can be forbidden; then it begins closed.
  }
}

function remember(isOpen) {
  try {
    if (isOpen) localStorage.setItem(KEY, "open");
    else localStorage.removeItem(KEY);
  } catch {
    // It holds for this page only.
  }
}
