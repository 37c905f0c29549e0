import { useSyncExternalStore } from "react";
import { type Creator, nameOfCreator } from "../format/creator.ts";
import { type Clock, formatAgo, formatDay, formatSecond, formatTime, formatZoned } from "../format/times.ts";

const FORMATS = {
  time: formatTime,
  day: formatDay,
  second: formatSecond,
  zoned: formatZoned,
  exact: (at: string, clock: Clock) => formatTime(at, clock, true),
} as const;

/** A time in the selected time zone; the tooltip shows milliseconds. */
export function Time({ at, as = "time" }: { at: string | null; as?: "ago" | keyof typeof FORMATS }) {
  const clock = useClock();
  if (at === null) return <span className="text-muted">Never</span>;
  const text = as === "ago" ? formatAgo(at, Date.now()) : FORMATS[as](at, clock);
  return (
    <time
      dateTime={at}
      title={formatTime(at, clock, true)}
      className={as === "exact" || as === "zoned" ? "tabular-nums" : "whitespace-nowrap tabular-nums"}
    >
      {text}
    </time>
  );
}

/** Creation day and creator. */
export function Created({ at, by }: { at: string; by: Creator | null }) {
  return (
    <>
      <Time at={at} as="day" />
      {by !== null && (
        <div className="max-w-40 truncate text-caption text-muted" title={nameOfCreator(by)}>
          by {nameOfCreator(by)}
        </div>
      )}
    </>
  );
}

// Theme and time zone are stored in this browser.

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

/** For route loaders, which cannot use hooks. */
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

/** `theme.js` applies the stored theme before the first paint. */
export function chooseTheme(theme: Theme): void {
  store("theme", theme);
  const root = document.documentElement;
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
