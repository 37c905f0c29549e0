// Before the first paint, so that a dark page never flashes white. A separate file, because the policy forbids inline scripts.
const theme = localStorage.getItem("purser.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
