import { useEffect } from "react";
import { isCovered, isTyping } from "./use-shortcuts.ts";

/** A key of one page, unless somebody types or a dialog is open. */
export function useKey(key: string, act: () => void): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!isTyping(event.target) && !isCovered()) act();
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [key, act]);
}
