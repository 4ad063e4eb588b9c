// The conversation that is shown: applies the server's frames to it, and asks for what it lacks.

import { Focus } from "./focus.js";
import { Growth } from "./growth.js";
import { Message } from "./message.js";
import { newId } from "./ids.js";

/**
 * Events: `busy` (detail: the unfinished reply or null), `acknowledged` (detail: client_id), `refused` (detail: the
 * error frame), `forgot`, `remembered` (detail: the page that did it), `began`, `ended` (detail: its status),
 * `branched`, `titled` (detail: the title), `edit` (detail: message).
 */
export class Conversation extends EventTarget {
  #list;
  #socket;
  #messages = new Map();
  // By the reply's id: what the server has sent of it. It sends each part once a connection, so it is kept over refreshes.
  #growths = new Map();
  #refreshing = null;
  #isStale = false;
  #handlers = {
    hello: (frame) => this.#hello(frame),
    "message.created": ({ message }) => this.#created(message),
    "reply.started": ({ message }) => this.#started(message),
    "reply.queued": ({ reply, position, seconds }) => this.#messages.get(reply)?.wait(position, seconds),
    "reply.delta": (frame) => this.#grow(frame),
    "reply.done": ({ message }) => this.#done(message),
    "title.changed": ({ title }) => this.#tell("titled", title),
    "head.changed": ({ head }) => head === this.last?.id || this.refresh(),
    "message.forgotten": ({ messages }) => this.forget(messages),
    "memory.changed": (frame) => this.#remembered(frame),
    branched: () => this.#tell("branched"),
    error: (frame) => this.#error(frame),
  };

  /** @param {HTMLElement} list that holds the articles  @param {Socket} socket */
  constructor(list, socket) {
    super();
    this.#list = list;
    this.#socket = socket;
    this.adopt();
    socket.addEventListener("frame", ({ detail }) => this.#handlers[detail.type]?.(detail));
    list.addEventListener("click", (event) => this.#click(event.target.closest("[data-action]")));
  }

  /** The message that was said last. */
  get last() {
    const article = this.#list.querySelector("article:last-of-type");
    return article && this.#messages.get(Number(article.dataset.id));
  }

  /** The reply that waits or is being written, if there is one. */
  get unfinished() {
    const last = this.last;
    return last?.isUnfinished ? last : null;
  }

  /** Whether a message with this client_id is shown. */
  has(clientId) {
    return [...this.#messages.values()].some((message) => message.clientId === clientId);
  }

  /** Take over articles that the server rendered. */
  adopt() {
    const known = this.#messages;
    this.#messages = new Map();
    for (const article of this.#list.querySelectorAll("article")) {
      const message = known.get(Number(article.dataset.id));
      this.#add(message?.article === article ? message : new Message(article));
    }
    const growth = this.unfinished && this.#growths.get(this.unfinished.id);
    if (growth) this.unfinished.show(growth);
  }

  send(frame) {
    this.#socket.deliver({ type: "message.send", ...frame });
  }

  stop() {
    if (this.unfinished) this.#socket.send({ type: "reply.stop", reply: this.unfinished.id });
  }

  pin(id, isPinned) {
    const message = this.#messages.get(id);
    if (message) message.pinned = isPinned;
  }

  /** Show that these messages say nothing any more. */
  forget(ids) {
    for (const id of ids) this.#messages.get(id)?.forget();
    this.#tell("forgot", ids);
  }

  /** Load the branch that is shown now, and follow what is being written in it. */
  async refresh() {
    this.#isStale = true;
    this.#refreshing ??= this.#reload().finally(() => (this.#refreshing = null));
    await this.#refreshing;
  }

  async #reload() {
    while (this.#isStale) {
      this.#isStale = false;
      const response = await fetch(location.pathname);
      if (!response.ok || response.redirected) return location.reload();
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!this.#isStale) this.#replace(page.getElementById("messages"));
    }
    return undefined;
  }

  #replace(fresh) {
    const focus = Focus.within(this.#list);
    this.#list.replaceChildren(...fresh.childNodes);
    window.htmx?.process(this.#list);
    this.adopt();
    focus?.restore();
    if (this.unfinished) this.#follow(this.unfinished);
    this.#tell("busy", this.unfinished);
  }

  #hello({ head, unfinished, pinned, forgotten, title }) {
    this.#tell("titled", title);
    this.#pinAll(pinned);
    const missed = forgotten.filter((id) => this.#messages.get(id)?.isForgotten === false);
    if (missed.length) this.forget(missed);
    const endedMeanwhile = this.unfinished && !unfinished.includes(this.unfinished.id);
    if (head !== (this.last?.id ?? null) || endedMeanwhile) this.refresh();
    else if (this.unfinished) this.#follow(this.unfinished);
    this.#tell("busy", this.unfinished);
  }

  #remembered({ pinned, tab }) {
    this.#pinAll(pinned);
    this.#tell("remembered", tab);
  }

  #pinAll(ids) {
    const pinned = new Set(ids);
    for (const [id, message] of this.#messages) message.pinned = pinned.has(id);
  }

  #created(message) {
    this.#acknowledge(message.client_id);
    this.#append(message);
  }

  #started(message) {
    this.#acknowledge(message.client_id);
    this.#append(message);
    this.#tell("busy", this.unfinished);
    this.#tell("began");
  }

  #grow(frame) {
    const growth = this.#growths.get(frame.reply) ?? new Growth();
    this.#growths.set(frame.reply, growth);
    const message = this.#messages.get(frame.reply);
    if (growth.add(frame) && message?.isUnfinished) message.grow(frame, growth);
  }

  #done(message) {
    this.#growths.delete(message.id);
    this.#messages.get(message.id)?.update(message);
    this.#tell("busy", this.unfinished);
    this.#tell("ended", message.status);
  }

  #error(frame) {
    // Without an id it may be about anything that is under way.
    if (frame.client_id) this.#socket.acknowledge(frame.client_id);
    else if (!frame.reply) this.#socket.forget();
    this.#tell("refused", frame);
    this.#list.querySelectorAll("[data-action]:disabled[data-pending]").forEach(release);
  }

  /** Show a new message at the end. One that belongs elsewhere is a new branch, which the server knows better. */
  #append(message) {
    if (this.#messages.has(message.id)) return;
    if (message.parent === (this.last?.id ?? null)) this.#list.append(this.#add(Message.create(message)).article);
    else this.refresh();
  }

  #add(message) {
    this.#messages.set(message.id, message);
    return message;
  }

  #follow(message) {
    this.#socket.send({ type: "reply.follow", reply: message.id, after: this.#growths.get(message.id)?.seq ?? 0 });
  }

  #acknowledge(clientId) {
    if (!clientId) return;
    this.#socket.acknowledge(clientId);
    this.#tell("acknowledged", clientId);
  }

  #click(button) {
    const message = button && this.#messages.get(Number(button.closest("article").dataset.id));
    if (!message) return;
    const actions = {
      retry: () => this.#retry(message, button),
      edit: () => this.#tell("edit", message),
      copy: () => this.#tell("copy", { message, button }),
      show: () => this.#socket.send({ type: "branch.show", message: Number(button.dataset.message) }),
    };
    actions[button.dataset.action]?.();
  }

  #retry(message, button) {
    button.disabled = true;
    button.dataset.pending = "";
    this.#socket.deliver({ type: "reply.retry", reply: message.id, client_id: newId() });
  }

  #tell(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function release(button) {
  button.disabled = false;
  delete button.dataset.pending;
}
