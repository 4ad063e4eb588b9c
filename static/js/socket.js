// The connection to one conversation: opens again by itself, and sends again what was not acknowledged.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const PING_EVERY_MS = 25_000;
const SILENCE_MS = 60_000;
const LOGGED_OUT = 4401;
const TOO_MUCH = 4429;

/** Events: `frame` (detail: the frame), `lost`, `refused` (after which a look at the page tells why). */
export class Socket extends EventTarget {
  #address;
  #socket = null;
  #isReady = false;
  #failures = 0;
  #timer = null;
  #heardAt = 0;
  #unacknowledged = new Map();

  /** @param {string} path of the socket on this site */
  constructor(path) {
    super();
    this.#address = new URL(path, location.href);
    this.#address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    setInterval(() => this.#ping(), PING_EVERY_MS);
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry());
  }

  open() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    socket.addEventListener("message", (event) => this.#socket === socket && this.#hear(event.data));
    socket.addEventListener("close", (event) => this.#socket === socket && this.#close(event.code));
  }

  /** Send a frame that may be lost. Returns whether it could be sent. */
  send(frame) {
    if (this.#isReady) this.#socket.send(JSON.stringify(frame));
    return this.#isReady;
  }

  /** Send a frame with a `client_id` now or as soon as possible, again and again until that id is acknowledged. */
  deliver(frame) {
    this.#unacknowledged.set(frame.client_id, frame);
    this.send(frame);
  }

  acknowledge(clientId) {
    this.#unacknowledged.delete(clientId);
  }

  /** Send nothing again. */
  forget() {
    this.#unacknowledged.clear();
  }

  #hear(data) {
    this.#heardAt = Date.now();
    const frame = JSON.parse(data);
    if (frame.type === "hello") {
      this.#isReady = true;
      this.#failures = 0;
    }
    this.dispatchEvent(new CustomEvent("frame", { detail: frame }));
    if (frame.type === "hello") this.#unacknowledged.forEach((waiting) => this.send(waiting));
  }

  #close(code) {
    this.#socket = null;
    this.#isReady = false;
    this.#failures += 1;
    this.dispatchEvent(new Event("lost"));
    if (code === LOGGED_OUT || this.#failures > 1) this.dispatchEvent(new Event("refused"));
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#failures - 1));
    const wait = code === TOO_MUCH ? LONGEST_WAIT_MS : longest * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => this.open(), wait);
  }

  #hurry() {
    if (this.#timer !== null) this.open();
  }

  #ping() {
    if (!this.#isReady) return;
    if (Date.now() - this.#heardAt > SILENCE_MS) {
      // A network that went away says nothing; closing may take minutes, so it is not waited for.
      const socket = this.#socket;
      this.#close();
      socket.close();
    } else {
      this.send({ type: "ping" });
    }
  }
}
