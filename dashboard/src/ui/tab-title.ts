import { createContext, useContext, useEffect } from "react";

/** Which environment all that is within belongs to, as the tab's title names it; null outside of any. */
export const TabPlace = createContext<string | null>(null);

/** The title of the tab, with the environment in it: many tabs are open, and one must never be taken for another. */
export function useTabTitle(title: string): void {
  const place = useContext(TabPlace);
  const full = [title, place, "Purser"].filter((part) => part !== null).join(" · ");
  useEffect(() => {
    document.title = full;
  }, [full]);
}
