// What is typed after Ctrl K, before the search box is there and has the focus, belongs to that box and to no shortcut of the page.

/** A box that has not come by then never will. */
const PATIENCE_MS = 3_000;

let early: { readonly since: number; text: string } | null = null;

export function awaitBox(): void {
  early = { since: Date.now(), text: "" };
}

export function isBoxAwaited(): boolean {
  if (early !== null && Date.now() - early.since > PATIENCE_MS) early = null;
  return early !== null;
}

export function keepEarlyKey(event: KeyboardEvent): void {
  if (early === null) return;
  if (event.key === "Backspace") early.text = early.text.slice(0, -1);
  else if (event.key.length === 1) early.text += event.key;
  else return;
  event.preventDefault();
}

/** For the box, once it has the focus. */
export function takeEarlyKeys(): string {
  const text = early?.text ?? "";
  early = null;
  return text;
}
