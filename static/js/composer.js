// The box where a person writes: keys, limit, draft, and what happens between sending and acknowledgement.

import { newId } from "./ids.js";

const SAVE_AFTER_MS = 250;
const encoder = new TextEncoder();
const kilobytes = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const isTouch = matchMedia("(hover: none) and (pointer: coarse)");

/** Events: `send` (detail: frame with client_id, parent, text; isEdit), `stop`. */
export class Composer extends EventTarget {
  #form;
  #draft;
  #box;
  #maxBytes;
  #timer = null;
  #isBusy = false;
  #isTooLong = false;
  // What was sent and not yet acknowledged: client_id, parent, text.
  #pending = null;
  // The message that is being edited, and what stood in the box before.
  #edited = null;
  #before = "";

  /** @param {HTMLFormElement} form  @param {Draft} draft */
  constructor(form, draft) {
    super();
    this.#form = form;
    this.#draft = draft;
    this.#box = form.querySelector("textarea");
    this.#maxBytes = Number(form.dataset.maxBytes);
    this.#listen();
    this.text = draft.load().text;
  }

  get text() {
    return this.#box.value;
  }

  set text(text) {
    this.#box.value = text;
    this.#changed();
  }

  focus() {
    this.#box.focus();
    this.#box.setSelectionRange(this.text.length, this.text.length);
  }

  /** A reply is being written (Stop is shown) or not (Send is). */
  set busy(isBusy) {
    const stop = this.#form.querySelector("#stop");
    const send = this.#form.querySelector("#send");
    const hadFocus = [stop, send].includes(document.activeElement);
    this.#isBusy = isBusy;
    stop.hidden = !isBusy;
    send.hidden = isBusy;
    this.#enable();
    // The button that had the focus may be gone or disabled now.
    if (hadFocus) this.#box.focus();
  }

  /** The draft was posted by an earlier visit to this page already. */
  forgetIf(isPosted) {
    const { client_id: clientId } = this.#draft.load();
    if (clientId && isPosted(clientId)) this.#empty();
  }

  acknowledge(clientId) {
    const sent = this.#pending ?? this.#draft.load();
    if (sent.client_id !== clientId) return;
    const isUnchanged = this.text === sent.text;
    this.#pending = null;
    this.#showError("");
    if (isUnchanged) this.#empty();
    else this.#enable();
  }

  /** Something was refused: say why and keep the text. */
  refuse({ client_id: clientId, reply, text }) {
    const isAboutThis = this.#pending && clientId === this.#pending.client_id;
    if (isAboutThis) this.#draft.save({ text: this.text });
    // An error that names nothing may be about this one too: the same text goes out under the same client_id then.
    if (isAboutThis || !(clientId || reply)) this.#pending = null;
    this.#showError(text);
    this.#enable();
  }

  edit(message) {
    if (!this.#edited) this.#before = this.text;
    this.#edited = message;
    this.#form.querySelector("#editing").hidden = false;
    this.text = message.source;
    this.focus();
  }

  /** Stop editing. Returns whether anything was edited. */
  cancelEditing() {
    if (!this.#edited) return false;
    this.#leaveEditing();
    this.text = this.#before;
    this.focus();
    return true;
  }

  /** @param {() => number|null} parentNow the message after which a new one goes */
  submit(parentNow) {
    if (!this.#canSend()) return;
    this.#pending = this.#sentBefore() ?? {
      client_id: newId(),
      parent: this.#edited ? this.#edited.parent : parentNow(),
      text: this.text,
    };
    this.#draft.save(this.#pending);
    this.#showError("");
    this.#enable();
    this.dispatchEvent(new CustomEvent("send", { detail: { frame: this.#pending, isEdit: Boolean(this.#edited) } }));
  }

  #listen() {
    this.#box.addEventListener("input", () => this.#changed());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#form.querySelector("#stop").addEventListener("click", () => this.dispatchEvent(new Event("stop")));
    this.#form.querySelector("#cancel-editing").addEventListener("click", () => this.cancelEditing());
    addEventListener("pagehide", () => this.#save());
  }

  #key(event) {
    // While an input method composes, Enter takes a word; Safari tells of that Enter, as code 229, after it has ended.
    const composes = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composes || isTouch.matches) return;
    event.preventDefault();
    this.#form.requestSubmit();
  }

  #changed() {
    this.#measure();
    this.#enable();
    this.#grow();
    this.#timer ??= setTimeout(() => this.#save(), SAVE_AFTER_MS);
  }

  #save() {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#pending?.text === this.text || this.#sentBefore() || this.#edited) return;
    this.#draft.save({ text: this.text });
  }

  /** What was sent before a reload and may have arrived: sent again under the same client_id it cannot double. */
  #sentBefore() {
    const kept = this.#draft.load();
    return kept.client_id && kept.text === this.text && !this.#edited ? kept : null;
  }

  #measure() {
    // A character takes at most three bytes, so short texts need no counting.
    const bytes = this.text.length * 3 <= this.#maxBytes ? 0 : encoder.encode(this.text).length;
    const limit = this.#form.querySelector("#composer-limit");
    this.#isTooLong = bytes > this.#maxBytes;
    limit.hidden = bytes < this.#maxBytes * 0.8;
    limit.classList.toggle("over", this.#isTooLong);
    const figures = `${kilobytes.format(bytes / 1024)} of ${kilobytes.format(this.#maxBytes / 1024)} KB`;
    limit.textContent = this.#isTooLong ? `Too long: ${figures}. Shorten it or send it in parts.` : figures;
  }

  #grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.#box.style.height = "auto";
    this.#box.style.height = `${this.#box.scrollHeight}px`;
  }

  #canSend() {
    // White space and characters without a shape alone are nothing to send.
    return !this.#isBusy && !this.#pending && !this.#isTooLong && /[^\s\p{Cf}]/u.test(this.text);
  }

  #enable() {
    this.#form.querySelector("#send").disabled = !this.#canSend();
    this.#form.classList.toggle("sending", this.#pending !== null);
  }

  #showError(text) {
    const error = this.#form.querySelector("#composer-error");
    error.textContent = text;
    error.hidden = !text;
  }

  #empty() {
    const wasEditing = this.#edited !== null;
    this.#leaveEditing();
    this.#draft.save({ text: "" });
    this.text = wasEditing ? this.#before : "";
  }

  #leaveEditing() {
    this.#edited = null;
    this.#form.querySelector("#editing").hidden = true;
  }
}
