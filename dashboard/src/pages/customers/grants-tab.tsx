export function GrantsTab() {
  return null;
}
