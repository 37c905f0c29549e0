import { useContext, useEffect } from "react";
import { Here } from "./here.ts";

const NAMES = { test: "Test", live: "LIVE" } as const;

/** The title of the tab, with the environment in it: many tabs are open, and one must never be taken for another. */
export function useTabTitle(title: string): void {
  const environment = useContext(Here);
  const full = environment === null ? `${title} · Purser` : `${title} · ${NAMES[environment]} · Purser`;
  useEffect(() => {
    document.title = full;
  }, [full]);
}
