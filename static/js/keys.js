// The page that shows a new key, once.

import { copyFrom } from "./clipboard.js";

const box = document.getElementById("new-key");
const button = document.getElementById("copy-key");

button.hidden = false;
button.addEventListener("click", async () => {
  await copyFrom(button, box.value);
  box.select();
});
box.addEventListener("focus", () => box.select());

// Loading the page again shows the list instead of making a second key.
history.replaceState(null, "", location.href);
