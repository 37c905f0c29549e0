// Before the first paint, so that a dark page never flashes white. A file of its own: the policy allows no inline script.
const theme = localStorage.getItem("purser.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
