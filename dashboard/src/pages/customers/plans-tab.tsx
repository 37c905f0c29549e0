export function PlansTab() {
  return null;
}
