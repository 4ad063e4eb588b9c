// Says while the model is not ready, and stops saying so when it is.

const ASK_EVERY_MS = 3000;

/** @param {HTMLElement} notice with data-ready and data-address */
export function watchReadiness(notice) {
  if (notice.dataset.ready === "true") return;
  const timer = setInterval(async () => {
    if (document.hidden) return;
    const answer = await fetch(notice.dataset.address).then((response) => response.json()).catch(() => null);
    if (!answer) return;
    notice.hidden = answer.ready;
    notice.querySelector("[data-part='reason']").textContent = answer.reason;
    if (answer.ready) clearInterval(timer);
  }, ASK_EVERY_MS);
}
