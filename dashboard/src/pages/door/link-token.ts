/** What stands behind the `#` of a link. It is taken out of the address at once, so that no history keeps it. */
export function takeLinkToken(): string | null {
  const token = window.location.hash.slice(1);
  if (token === "") return null;
  window.history.replaceState(window.history.state, "", window.location.pathname);
  return token;
}
