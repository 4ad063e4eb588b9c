// Light, dark or as the system says. A classic script in the head, so that the choice stands before the first paint.

(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // Storage can be forbidden; the system's choice stands then.
    }
  };

  const show = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };

  const toggle = () => {
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
    const wanted = isDark ? "light" : "dark";
    show(wanted);
    try {
      localStorage.setItem("theme", wanted);
    } catch {
      // It holds for this page only.
    }
  };

  show(stored());
  window.addEventListener("storage", (event) => event.key === "theme" && show(event.newValue));
  document.addEventListener("click", (event) => event.target.closest("[data-theme-switch]") && toggle());
})();
