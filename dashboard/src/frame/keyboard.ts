import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { projectsQuery } from "../api/projects.ts";
import { findNearestScope } from "./last-scope.ts";
import { ENVIRONMENT_SECTIONS, workspaceSections } from "./sections.ts";
import { useOptionalScope, useSession } from "./use-scope.ts";

const CHORD_MS = 1_000;

/** Ctrl K or ⌘ K: search. ?: help. /: filter. g and a letter: go to a section. */
export function useShortcuts({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }): void {
  const navigate = useNavigate();
  const here = useOptionalScope();
  const session = useSession();
  const { data: projects } = useSuspenseQuery(projectsQuery);
  // A ref, because a render can happen between g and the next key.
  const waitsSince = useRef(0);
  useEffect(() => {
    function goTo(key: string): void {
      const workspace = workspaceSections(session).find((section) => section.key === key);
      if (workspace !== undefined) void navigate({ to: workspace.to });
      const section = ENVIRONMENT_SECTIONS.find((known) => known.key === key);
      const scope = findNearestScope(here, projects);
      if (section !== undefined && scope !== null) void navigate({ to: section.to, params: scope });
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
  }, [navigate, here, projects, session, onSearch, onHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}

/** Shortcuts are off while a dialog or menu is open, or the search is loading. A toast has role dialog but is not modal. */
function isCovered(): boolean {
  if (isBoxAwaited()) return true;
  const covers = '[role="dialog"]:not([aria-modal="false"]), [role="alertdialog"], [role="menu"]';
  return document.querySelector(covers) !== null;
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLInputElement>(
    'main input[type="search"], main input[data-filter]',
  );
  if (filter === null) return;
  event.preventDefault();
  filter.focus();
}

/** A page shortcut, off while typing or while a dialog is open. */
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

// Keys typed after Ctrl K but before the search box has focus are buffered for the box.

/** Stop buffering if the search box does not open within this time. */
const BUFFER_MS = 3_000;

let early: { readonly since: number; text: string } | null = null;

function awaitBox(): void {
  early = { since: Date.now(), text: "" };
}

function isBoxAwaited(): boolean {
  if (early !== null && Date.now() - early.since > BUFFER_MS) early = null;
  return early !== null;
}

function keepEarlyKey(event: KeyboardEvent): void {
  if (early === null) return;
  if (event.key === "Backspace") early.text = early.text.slice(0, -1);
  else if (event.key.length === 1) early.text += event.key;
  else return;
  event.preventDefault();
}

/** Returns the buffered keys and clears the buffer. */
export function takeEarlyKeys(): string {
  const text = early?.text ?? "";
  early = null;
  return text;
}
