import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { projectsQuery } from "../api/projects.ts";
import { findRememberedPlace } from "./remembered-place.ts";
import { PLACE_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";
import { useOptionalPlace } from "./use-here.ts";

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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}

/** A dialog has the keyboard to itself, and so has the search before it is there. A toast is one by its role, but lies over nothing. */
function isCovered(): boolean {
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

// What is typed after Ctrl K, before the search box is there and has the focus, belongs to that box and to no shortcut of the page.

/** A box that has not come by then never will. */
const PATIENCE_MS = 3_000;

let early: { readonly since: number; text: string } | null = null;

function awaitBox(): void {
  early = { since: Date.now(), text: "" };
}

function isBoxAwaited(): boolean {
  if (early !== null && Date.now() - early.since > PATIENCE_MS) early = null;
  return early !== null;
}

function keepEarlyKey(event: KeyboardEvent): void {
  if (early === null) return;
  if (event.key === "Backspace") early.text = early.text.slice(0, -1);
  else if (event.key.length === 1) early.text += event.key;
  else return;
  event.preventDefault();
}

/** For the box, once it has the focus. */
export function takeEarlyKeys(): string {
  const text = early?.text ?? "";
  early = null;
  return text;
}
