export function RequestsTab() {
  return null;
}
