import { useSyncExternalStore } from "react";
import type { Clock } from "../format/times.ts";

/** What somebody chose on this browser: how it looks, and whose clock it shows. */
export type Theme = "system" | "light" | "dark";

const listeners = new Set<() => void>();

function useStored(name: string): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(`purser.${name}`),
  );
}

function store(name: string, value: string): void {
  localStorage.setItem(`purser.${name}`, value);
  for (const listener of listeners) listener();
}

export function useClock(): Clock {
  return useStored("clock") === "local" ? "local" : "utc";
}

/** For what is read before a page is drawn. */
export function readClock(): Clock {
  return localStorage.getItem("purser.clock") === "local" ? "local" : "utc";
}

export function chooseClock(clock: Clock): void {
  store("clock", clock);
}

export function useTheme(): Theme {
  const theme = useStored("theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** `theme.js` does the same before the first paint. */
export function chooseTheme(theme: Theme): void {
  store("theme", theme);
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
