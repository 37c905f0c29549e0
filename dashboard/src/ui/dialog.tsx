import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type FormEvent, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import type { Write } from "../api/use-write.ts";
import { inEnvironment, type Preposition } from "../format/environments.ts";
import { Button } from "./button.tsx";
import { ProblemCallout } from "./callout.tsx";
import { classNames } from "./class-names.ts";
import { ApiCall } from "./code-block.tsx";
import { TextField } from "./field.tsx";
import { EnvironmentContext, useEdge } from "./page.tsx";

const FIELD = "input:enabled, select:enabled, textarea:enabled";
/** The copy button. It has the initial focus in a dialog that shows a secret, so that Enter does not close the dialog. */
const COPY = 'button[aria-label^="Copy"]';

/** The element that last had the focus outside of dialogs and menus. For a menu item, this is the button of the menu. */
let lastFocused: HTMLElement | null = null;
/** The table and the page that contain it. They get the focus if the element disappears when a list reloads. */
let around: readonly (HTMLElement | null)[] = [];

/** Called once, when the dashboard starts. */
export function rememberFocus(): void {
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement) || target.closest("[role=dialog], [role=menu]") !== null) return;
    lastFocused = target;
    around = [target.closest<HTMLElement>("section[tabindex]"), document.getElementById("page")];
  });
}

/** Where the focus goes when a dialog closes. */
export function findLastFocused(): HTMLElement | true {
  const element = [lastFocused, ...around].find((candidate) => candidate?.isConnected) ?? null;
  if (element === null) return true;
  keepFocus(element);
  return element;
}

const RELOADED_WITHIN_MS = 10_000;

/** If the element disappears, for example the button that revoked a grant, focuses what contained it. */
function keepFocus(element: HTMLElement): void {
  const containers = around;
  const observer = new MutationObserver(() => {
    if (element.isConnected) return;
    observer.disconnect();
    if (document.activeElement !== document.body) return;
    containers.find((other) => other?.isConnected)?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), RELOADED_WITHIN_MS);
}

/** A modal dialog. Escape or a click outside closes it. If the form has input, a click outside asks first. */
export function Dialog({
  isOpen,
  onClose,
  title,
  note,
  isWide = false,
  isSticky = false,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  note?: ReactNode;
  isWide?: boolean;
  /** Escape and outside clicks do not close the dialog. For secrets shown once. */
  isSticky?: boolean;
  children: ReactNode;
}) {
  const edge = useEdge();
  const popup = useRef<HTMLDivElement>(null);
  const isFilled = useRef(false);
  const [isAsking, setAsking] = useState(false);
  function close(): void {
    isFilled.current = false;
    setAsking(false);
    onClose();
  }
  return (
    <BaseDialog.Root
      open={isOpen}
      // The page's styles already lock scrolling. Base UI's lock would leave a strip beside the backdrop.
      modal="trap-focus"
      onOpenChange={(open, { reason }) => {
        if (open || (isSticky && reason === "escape-key")) return;
        if (reason === "outside-press" && isFilled.current) setAsking(true);
        else if (reason === "escape-key" && isAsking) setAsking(false);
        else close();
      }}
      disablePointerDismissal={isSticky}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop
          data-backdrop
          className="fixed inset-0 z-40 bg-scrim transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
        />
        <BaseDialog.Viewport className="fixed inset-0 z-50 flex items-start justify-center overflow-y-auto p-4 md:pt-[10vh]">
          <BaseDialog.Popup
            ref={popup}
            // Focus the first field; without a field, use the default focus.
            initialFocus={() => popup.current?.querySelector<HTMLElement>(isSticky ? COPY : FIELD) ?? true}
            finalFocus={findLastFocused}
            onInput={() => {
              isFilled.current = true;
            }}
            className={classNames(
              "relative w-full overflow-hidden rounded-xl border border-line bg-surface shadow-over outline-none transition-[opacity,transform] data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0",
              isWide ? "max-w-3xl" : "max-w-lg",
            )}
          >
            {edge !== null && (
              <div aria-hidden className={classNames("absolute inset-x-0 top-0 h-1", edge)} />
            )}
            <header className="flex items-start justify-between gap-4 px-5 pt-4">
              <div className="min-w-0">
                <BaseDialog.Title className="text-section font-semibold wrap-anywhere">
                  {title}
                </BaseDialog.Title>
                {note !== undefined && (
                  <BaseDialog.Description className="text-body text-muted">{note}</BaseDialog.Description>
                )}
              </div>
              <BaseDialog.Close
                aria-label="Close"
                className="-mr-1 inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
              >
                <X className="size-4" aria-hidden />
              </BaseDialog.Close>
            </header>
            <div className="flex flex-col gap-4 px-5 pt-3 pb-5">{children}</div>
            {isAsking && <Discard onKeep={() => setAsking(false)} onDiscard={close} />}
          </BaseDialog.Popup>
        </BaseDialog.Viewport>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** Asks before discarding input. */
function Discard({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    bar.current?.scrollIntoView({ block: "nearest" });
    bar.current?.querySelector("button")?.focus();
  }, []);
  return (
    <div
      ref={bar}
      role="alert"
      className="flex flex-wrap items-center justify-between gap-3 border-t border-line bg-warn-soft px-5 py-3"
    >
      <p className="text-form font-medium">Discard your changes?</p>
      <div className="flex gap-2">
        <Button onClick={onKeep}>Keep editing</Button>
        <Button tone="danger" onClick={onDiscard}>
          Discard
        </Button>
      </div>
    </div>
  );
}

/** Footer of a dialog: note on the left, buttons on the right. */
export function DialogActions({
  children,
  note,
  takesFocus = false,
}: {
  children: ReactNode;
  note?: ReactNode;
  /** Focuses the last button, for a result that replaces the button that had the focus. */
  takesFocus?: boolean;
}) {
  const buttons = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) buttons.current?.querySelector<HTMLButtonElement>("button:last-of-type")?.focus();
  }, [takesFocus]);
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 pt-1">
      <div className="min-w-0 text-caption text-muted">{note}</div>
      <div ref={buttons} className="ml-auto flex flex-wrap items-center justify-end gap-2">
        {children}
      </div>
    </div>
  );
}

type Form<R> = {
  write: Write<R>;
  /** The request to send, shown as curl; null while it is incomplete. */
  request: R | null;
  /** Button label; the preposition ("in" by default) and the environment are appended. */
  action: string;
  preposition?: Preposition;
  tone?: "primary" | "danger";
  /** For irreversible writes: text that must be typed before the button is enabled. */
  wanted?: string;
  isDisabled?: boolean;
  isBusy?: boolean;
  /** Replaces the error from the API. */
  problem?: ReactNode;
  actionsNote?: ReactNode;
  closeName?: string;
  /** Set if the form validates its fields itself, instead of the browser. */
  noValidate?: boolean;
  /** Handles the submit; by default `request` is sent. */
  onSubmit?: (event: FormEvent) => unknown;
  onClose: () => void;
  children: ReactNode;
};

/** A dialog for one write: description, API call and button. */
export function WriteDialog<R>({
  title,
  note,
  isOpen = true,
  isWide = false,
  ...form
}: Form<R> & { title: string; note?: ReactNode; isOpen?: boolean; isWide?: boolean }) {
  return (
    <Dialog isOpen={isOpen} onClose={form.onClose} title={title} note={note} isWide={isWide}>
      <WriteForm {...form} />
    </Dialog>
  );
}

export function WriteForm<R>({
  write,
  request,
  action,
  preposition,
  tone = "primary",
  wanted,
  isDisabled = false,
  isBusy = write.isPending,
  problem = <ProblemCallout error={write.error} />,
  actionsNote,
  closeName = "Cancel",
  noValidate,
  onSubmit,
  onClose,
  children,
}: Form<R>) {
  const here = useContext(EnvironmentContext);
  const [typed, setTyped] = useState("");
  const isReady = wanted === undefined || typed === wanted;
  const call = request !== null && <ApiCall call={write.callOf(request)} />;
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isBusy || isDisabled || !isReady) return;
    if (onSubmit !== undefined) onSubmit(event);
    else if (request !== null) write.mutate(request);
  }
  return (
    <form className="flex flex-col gap-4" noValidate={noValidate} onSubmit={submit}>
      {wanted === undefined ? (
        children
      ) : (
        <>
          <div className="flex flex-col gap-3">
            {children}
            {call}
          </div>
          <TextField
            label={`Type "${wanted}" to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            isMono
          />
        </>
      )}
      {problem}
      {wanted === undefined && call}
      <DialogActions note={actionsNote}>
        <Button onClick={onClose}>{closeName}</Button>
        <Button type="submit" tone={tone} isBusy={isBusy} isDisabled={isDisabled || !isReady}>
          {here === null ? action : inEnvironment(action, here, preposition)}
        </Button>
      </DialogActions>
    </form>
  );
}
