// Copy buttons: those of code blocks, which the server renders, and those of whole messages.

const SHOWN_MS = 2000;

/** Put a text on the clipboard. Browsers offer theirs only over https, so there is an older way for http. */
export async function copyText(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const box = document.createElement("textarea");
  const focused = document.activeElement;
  box.value = text;
  box.className = "visually-hidden";
  document.body.append(box);
  box.select();
  const isDone = document.execCommand("copy");
  box.remove();
  focused?.focus({ preventScroll: true });
  if (!isDone) throw new Error("The browser refused to copy.");
  return undefined;
}

/** Copy, and say at the button whether it worked. */
export async function copyFrom(button, text) {
  let outcome = "Copied";
  try {
    await copyText(text);
  } catch {
    outcome = "Not copied";
  }
  const label = button.ariaLabel;
  const words = button.querySelector("svg") ? null : button.textContent;
  button.ariaLabel = outcome;
  button.dataset.copied = outcome;
  if (words !== null) button.textContent = outcome;
  setTimeout(() => {
    button.ariaLabel = label;
    delete button.dataset.copied;
    if (words !== null) button.textContent = words;
  }, SHOWN_MS);
  return outcome;
}

/** Listen for the Copy buttons of all code blocks, those to come included. */
export function listenForCodeCopies(root, announce) {
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("button.code-copy");
    if (!button || button.dataset.copied) return;
    announce(await copyFrom(button, button.closest(".code").querySelector("code").textContent));
  });
}
