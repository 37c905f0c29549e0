import { useState, useSyncExternalStore } from "react";

type Line = { readonly id: string };

type Held<Row> = {
  readonly shown: readonly Row[];
  /** How many wait. */
  readonly held: number;
  readonly release: () => void;
};

/** While somebody reads, further down or an unfolded row, what is new waits above: what they read stays where it is. */
export function useHeldRows<Row extends Line>(rows: readonly Row[], isReading: boolean): Held<Row> {
  const isAtTop = useSyncExternalStore(onScroll, () => window.scrollY <= TOP_PX);
  const newest = rows[0]?.id ?? null;
  const [newestShown, setNewestShown] = useState(newest);
  const isFollowing = isAtTop && !isReading;
  if (isFollowing && newestShown !== newest) setNewestShown(newest);
  // Not found: it is another list by now, and shown as it is.
  const held = isFollowing
    ? 0
    : Math.max(
        0,
        rows.findIndex(({ id }) => id === newestShown),
      );
  return {
    shown: held === 0 ? rows : rows.slice(held),
    held,
    release() {
      setNewestShown(newest);
      window.scrollTo({ top: 0 });
    },
  };
}

const TOP_PX = 4;

function onScroll(listener: () => void): () => void {
  window.addEventListener("scroll", listener, { passive: true });
  return () => window.removeEventListener("scroll", listener);
}
