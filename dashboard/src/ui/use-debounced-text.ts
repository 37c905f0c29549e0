import { useEffect, useRef, useState } from "react";

const DELAY_MS = 250;

/**
 * For a box whose text lives in the address: what is typed shows at once and is passed on when the fingers rest. When the
 * address changes by itself (back, a link), the box follows.
 */
export function useDebouncedText(value: string, onChange: (text: string) => void) {
  const [box, setBox] = useState({ typed: value, sent: value, value });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (box.value !== value) setBox({ value, sent: value, typed: value === box.sent ? box.typed : value });

  function send(text: string): void {
    clearTimeout(timer.current);
    const sent = text.trim();
    setBox((before) => ({ ...before, sent }));
    onChange(sent);
  }

  return {
    typed: box.typed,
    type(text: string): void {
      clearTimeout(timer.current);
      setBox((before) => ({ ...before, typed: text }));
      timer.current = setTimeout(() => send(text), DELAY_MS);
    },
    /** At once, as Enter means it. */
    flush(): void {
      send(box.typed);
    },
  };
}
