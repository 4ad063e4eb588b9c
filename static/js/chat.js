// The conversation page: makes its parts and connects them.

import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Draft } from "./draft.js";
import { Memory } from "./memory.js";
import { Pins } from "./pins.js";
import { Scroll } from "./scroll.js";
import { Sidebar } from "./sidebar.js";
import { Socket } from "./socket.js";
import { TAB } from "./ids.js";
import { copyFrom, listenForCodeCopies } from "./clipboard.js";
import { reveal } from "./reveal.js";
import { watchReadiness } from "./readiness.js";

const SHOWN_MS = 12_000;
const ENDINGS = { stopped: "Reply stopped", failed: "The reply failed", interrupted: "The reply was interrupted" };

const element = (id) => document.getElementById(id);
const { conversation: id, socket: path } = element("chat").dataset;
const form = element("composer");

const sidebar = new Sidebar();
const socket = new Socket(path);
const conversation = new Conversation(element("messages"), socket);
const composer = new Composer(form, new Draft(id));
const scroll = new Scroll(element("log"), element("messages"), element("jump"));
const memory = new Memory();
const pins = new Pins(element("message-form"));

const announce = (text) => (element("announcer").textContent = text);

let wasEdit = false;
let wasLost = false;
let noticeTimer = null;
function notify(text) {
  clearTimeout(noticeTimer);
  element("notice").textContent = text;
  element("notice").hidden = false;
  noticeTimer = setTimeout(() => (element("notice").hidden = true), SHOWN_MS);
}

function showTitle(title) {
  if (!title) return;
  document.title = title;
  element("title").textContent = title;
  sidebar.rename(id, title);
}

// After the login, or after the conversation was deleted elsewhere, there is another page to show.
async function checkAccess() {
  const page = await fetch(location.pathname, { method: "HEAD", redirect: "manual" }).catch(() => null);
  if (page?.type === "opaqueredirect") location.reload();
  else if (page?.status === 404) location.assign("/");
}

socket.addEventListener("lost", () => {
  wasLost = true;
  element("connection").hidden = false;
});
socket.addEventListener("refused", checkAccess);
socket.addEventListener("frame", ({ detail }) => {
  if (detail.type !== "hello") return;
  element("connection").hidden = true;
  if (wasLost) memory.refresh(); // What changed meanwhile was told to nobody here.
  wasLost = false;
});

conversation.addEventListener("busy", ({ detail }) => {
  composer.busy = detail !== null;
  element("welcome").hidden = conversation.last !== undefined && conversation.last !== null;
});
conversation.addEventListener("acknowledged", ({ detail }) => composer.acknowledge(detail));
conversation.addEventListener("refused", ({ detail }) => composer.refuse(detail));
conversation.addEventListener("began", () => announce("A reply is being written"));
conversation.addEventListener("ended", ({ detail }) => {
  announce(ENDINGS[detail] ?? "Reply finished");
  memory.refreshSoon();
});
conversation.addEventListener("forgot", () => memory.refreshSoon());
conversation.addEventListener("remembered", ({ detail }) => detail === TAB || memory.refresh());
conversation.addEventListener("titled", ({ detail }) => showTitle(detail));
conversation.addEventListener("edit", ({ detail }) => composer.edit(detail));
conversation.addEventListener("copy", async ({ detail }) => {
  announce(await copyFrom(detail.button, detail.message.source));
});
conversation.addEventListener("branched", () => {
  if (wasEdit) return; // Then a branch is what was wanted.
  notify("The conversation had gone on elsewhere. What you sent began another version; the arrows lead back.");
});

composer.addEventListener("send", ({ detail }) => {
  wasEdit = detail.isEdit;
  scroll.toEnd();
  conversation.send(detail.frame);
});
composer.addEventListener("stop", () => conversation.stop());

pins.addEventListener("pinned", ({ detail: { id: message, isPinned } }) => {
  conversation.pin(message, isPinned);
  announce(isPinned ? "Pinned" : "Not pinned any more");
  memory.refresh();
});
pins.addEventListener("refused", ({ detail }) => notify(detail));
memory.addEventListener("said", ({ detail }) => announce(detail));
memory.addEventListener("jump", async ({ detail }) => {
  const isShown = await reveal(element("messages"), detail);
  if (!isShown) notify("This message is not in the version of the conversation that is shown.");
});
// What another tab learns by the socket; this one hears it from the answer, also while the connection is lost.
document.body.addEventListener("forgotten", ({ detail }) => {
  element("dialog").close();
  conversation.forget(detail.messages);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  composer.submit(() => conversation.last?.id ?? null);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  if (!composer.cancelEditing()) conversation.stop();
});
element("welcome").addEventListener("click", (event) => {
  const starter = event.target.closest("[data-starter]");
  if (!starter) return;
  composer.text = starter.dataset.starter;
  composer.focus();
});
element("messages").addEventListener("htmx:afterSwap", () => conversation.adopt());

composer.forgetIf((clientId) => conversation.has(clientId));
composer.busy = conversation.unfinished !== null;
listenForCodeCopies(document, announce);
watchReadiness(element("readiness"));
socket.open();
