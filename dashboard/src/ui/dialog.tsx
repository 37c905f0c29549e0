import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { classNames } from "./class-names.ts";
import { useEdge } from "./page.tsx";

const FIELD = "input:enabled, select:enabled, textarea:enabled";
/** Of what is shown once: a second Enter copies it, and does not close it for ever. */
const COPY = 'button[aria-label^="Copy"]';

/** Over the page, for one thing. Escape and a click beside it close it; what opened it has the focus again. */
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
  /** Neither a click beside it nor Escape closes it: for what is shown once. */
  isSticky?: boolean;
  children: ReactNode;
}) {
  const edge = useEdge();
  const popup = useRef<HTMLDivElement>(null);
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open, { reason }) => {
        if (!open && !(isSticky && reason === "escape-key")) onClose();
      }}
      disablePointerDismissal={isSticky}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <BaseDialog.Viewport className="fixed inset-0 z-50 flex items-start justify-center overflow-y-auto p-4 md:pt-[10vh]">
          <BaseDialog.Popup
            ref={popup}
            // What is asked for comes first, the way out after it; without a field it is as ever.
            initialFocus={() => popup.current?.querySelector<HTMLElement>(isSticky ? COPY : FIELD) ?? true}
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
          </BaseDialog.Popup>
        </BaseDialog.Viewport>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

/** The last line of a dialog: what it does at the right, and the way out. */
export function DialogActions({ children, note }: { children: ReactNode; note?: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 pt-1">
      <div className="min-w-0 text-caption text-muted">{note}</div>
      <div className="ml-auto flex flex-wrap items-center justify-end gap-2">{children}</div>
    </div>
  );
}
