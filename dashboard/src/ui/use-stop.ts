import { useEffect, useRef } from "react";

/** For long work of a form: it ends when the form is closed, as whoever closes it expects, and when they say so. */
export function useStop(): { begin: () => AbortSignal; stop: () => void } {
  const running = useRef<AbortController | null>(null);
  const stop = () => running.current?.abort();
  useEffect(() => () => running.current?.abort(), []);
  return {
    begin: () => {
      stop();
      running.current = new AbortController();
      return running.current.signal;
    },
    stop,
  };
}
