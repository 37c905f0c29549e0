import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { projectsQuery } from "../api/projects.ts";
import { awaitBox, isBoxAwaited, keepEarlyKey } from "./early-keys.ts";
import { findRememberedPlace } from "./remembered-place.ts";
import { PLACE_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";
import { useOptionalPlace } from "./use-place.ts";

const CHORD_MS = 1_000;

/** Ctrl K or ⌘ K searches, ? helps, / goes to the page's filter, and g with a letter goes to a section. */
export function useShortcuts({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }): void {
  const navigate = useNavigate();
  const here = useOptionalPlace();
  const { data: projects } = useSuspenseQuery(projectsQuery);
  // Outlives a rendering between the g and the letter.
  const waitsSince = useRef(0);
  useEffect(() => {
    function goTo(key: string): void {
      const workspace = WORKSPACE_SECTIONS.find((section) => section.key === key);
      if (workspace !== undefined) void navigate({ to: workspace.to });
      const section = PLACE_SECTIONS.find((known) => known.key === key);
      const place = here ?? findRememberedPlace(projects);
      if (section !== undefined && place !== null) void navigate({ to: section.to, params: place });
    }
    function onKey(event: KeyboardEvent): void {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        if (!isCovered()) awaitBox();
        onSearch();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isBoxAwaited()) {
        keepEarlyKey(event);
        return;
      }
      if (isTyping(event.target) || isCovered()) return;
      if (Date.now() - waitsSince.current < CHORD_MS) {
        waitsSince.current = 0;
        goTo(event.key);
      } else if (event.key === "g") waitsSince.current = Date.now();
      else if (event.key === "?") onHelp();
      else if (event.key === "/") focusFilter(event);
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, here, projects, onSearch, onHelp]);
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}

/** A dialog has the keyboard to itself, and so has the search before it is there. A toast is one by its role, but lies over nothing. */
export function isCovered(): boolean {
  if (isBoxAwaited()) return true;
  const covers = '[role="dialog"]:not([aria-modal="false"]), [role="alertdialog"], [role="menu"]';
  return document.querySelector(covers) !== null;
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>('main input[type="search"]');
  if (filter === null) return;
  event.preventDefault();
  filter.focus();
}
