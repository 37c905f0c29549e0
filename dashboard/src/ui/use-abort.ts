import { useEffect, useRef } from "react";

/** Aborts the long-running work of a form on `stop` or when the form closes. */
export function useAbort(): { begin: () => AbortSignal; stop: () => void } {
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
