// One message in the page: what the server rendered, or made from the template, and how it grows.

import { usageLine } from "./usage.js";

const UNFINISHED = ["queued", "streaming"];

export class Message {
  #article;
  #parts = {};
  // Whether it shows the parts as they come; what the server rendered is replaced by the first of them.
  #isLive = false;

  constructor(article) {
    this.#article = article;
    for (const part of article.querySelectorAll("[data-part]")) this.#parts[part.dataset.part] = part;
    this.#showUsage();
  }

  /** A message that was not in the page yet, from a frame's `message`. */
  static create(message) {
    const template = document.querySelector(`[data-message-template="${message.role}"]`);
    const article = template.content.querySelector("article").cloneNode(true);
    article.id = `message-${message.id}`;
    Object.assign(article.dataset, { id: message.id, parent: message.parent ?? "", clientId: message.client_id ?? "" });
    address(article, message.id);
    const created = new Message(article);
    created.update(message);
    return created;
  }

  get article() {
    return this.#article;
  }

  get id() {
    return Number(this.#article.dataset.id);
  }

  get parent() {
    return this.#article.dataset.parent ? Number(this.#article.dataset.parent) : null;
  }

  get clientId() {
    return this.#article.dataset.clientId;
  }

  get isUnfinished() {
    return UNFINISHED.includes(this.#article.dataset.status);
  }

  get isForgotten() {
    return this.#article.dataset.status === "forgotten";
  }

  /** What was said, as it was written. */
  get source() {
    return (this.#parts.text ?? this.#parts.source.content).textContent;
  }

  /** Whether it is always shown to the model word for word. */
  set pinned(isPinned) {
    this.#article.toggleAttribute("data-pinned", isPinned);
    this.#parts.pin.value = isPinned ? "0" : "1";
    this.#parts.pin.ariaPressed = String(isPinned);
  }

  /** Leave nothing of what it said. */
  forget() {
    this.update({ role: this.#article.dataset.role, status: "forgotten", text: "", reasoning: "", html: "" });
    this.#parts.error?.replaceChildren();
    this.#parts.usage?.replaceChildren();
    delete this.#parts.usage?.dataset.usage;
    this.pinned = false;
  }

  /** Show all that a frame's `message` holds. */
  update({ role, status, text, reasoning, html, error, usage, model }) {
    const isPerson = role === "user";
    if (isPerson) this.#parts.text.textContent = text;
    else this.#fill({ text, reasoning, html });
    if (error) this.#parts.error.textContent = error;
    if (usage && !isPerson) Object.assign(this.#parts.usage.dataset, { usage: JSON.stringify(usage), model: model ?? "" });
    this.#article.dataset.finish = usage?.finish_reason ?? "";
    this.#setStatus(status);
    this.#showUsage();
  }

  /** Add the newest `reply.delta`, which the growth holds already. */
  grow(frame, growth) {
    if (!this.#isLive) return this.show(growth);
    this.#parts.closed.insertAdjacentHTML("beforeend", frame.closed ?? "");
    this.#parts.open.innerHTML = frame.open ?? "";
    this.#parts.source.content.append(frame.text ?? "");
    this.#parts["reasoning-text"].append(frame.reasoning ?? "");
    this.#setStatus("streaming");
    return this.#showWhatIsThere();
  }

  /** Show all that has arrived of a reply. */
  show({ text, reasoning, closed, open }) {
    this.#isLive = true;
    this.#setStatus("streaming");
    this.#fill({ text, reasoning, html: closed });
    this.#parts.open.innerHTML = open;
  }

  /** Say how many wait before it, and about how many seconds that takes. */
  wait(position, seconds) {
    const before = position - 1;
    const people = before === 1 ? "1 reply" : `${before} replies`;
    const place = before > 0 ? `Waiting: ${people} before yours` : "Waiting: yours is next";
    this.#parts.queue.textContent = seconds ? `${place}, about ${inWords(seconds)}` : place;
  }

  #fill({ text, reasoning, html }) {
    this.#parts.closed.innerHTML = html ?? "";
    this.#parts.open.replaceChildren();
    this.#parts.source.content.replaceChildren(text ?? "");
    this.#parts["reasoning-text"].textContent = reasoning ?? "";
    this.#showWhatIsThere();
  }

  #showWhatIsThere() {
    this.#article.toggleAttribute("data-empty", !hasText(this.#parts.source.content));
    this.#parts.reasoning.hidden = !hasText(this.#parts["reasoning-text"]);
  }

  #setStatus(status) {
    this.#article.dataset.status = status;
    // While it grows a screen reader must not read each piece; the status line says that it begins and ends.
    if (this.isUnfinished) {
      this.#article.ariaBusy = "true";
      this.#article.ariaLive = "off";
    } else {
      this.#article.removeAttribute("aria-busy");
      this.#article.removeAttribute("aria-live");
    }
  }

  #showUsage() {
    const line = this.#parts.usage;
    if (line?.dataset.usage) line.textContent = usageLine(JSON.parse(line.dataset.usage), line.dataset.model);
  }
}

function inWords(seconds) {
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

// Looks for the first text only: asking for all of it at every part would cost more the longer a reply gets.
function hasText(node) {
  return Array.prototype.some.call(node.childNodes, (child) => child.textContent !== "");
}

// The template's addresses are those of message 0, which there is none of.
function address(article, id) {
  for (const name of ["href", "formaction"]) {
    for (const element of article.querySelectorAll(`[${name}*="/messages/0/"]`)) {
      element.setAttribute(name, element.getAttribute(name).replace("/messages/0/", `/messages/${id}/`));
    }
  }
}
