import { useEffect } from "react";

/** Brings the row that somebody came for into sight, and the keyboard to it. */
export function useShowRow(id: string | null): void {
  useEffect(() => {
    if (id === null) return;
    // After the router, which goes to the top of a new page.
    const timer = setTimeout(() => {
      const row = document.getElementById(id);
      row?.scrollIntoView({ block: "center" });
      row?.querySelector("button")?.focus({ preventScroll: true });
    }, 50);
    return () => clearTimeout(timer);
  }, [id]);
}
