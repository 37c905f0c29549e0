import { type FormEvent, type ReactNode, useState } from "react";
import type { Write } from "../api/use-write.ts";
import { ApiCall } from "./api-call.tsx";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { ProblemCallout } from "./problem-callout.tsx";

type Form<R> = {
  write: Write<R>;
  /** What is sent, as far as it is known; shown as curl. Null: not yet. */
  request: R | null;
  /** What the button says: it names the environment. */
  action: string;
  tone?: "primary" | "danger";
  /** For what cannot be undone: the button works once this stands there. */
  wanted?: string;
  isDisabled?: boolean;
  isBusy?: boolean;
  /** In place of what the API says. */
  problem?: ReactNode;
  /** Beside the buttons. */
  actionsNote?: ReactNode;
  /** What is wrong is said by the form, not by the browser. */
  noValidate?: boolean;
  /** Where a form has to be read first; else the request is sent as it is shown. */
  onSubmit?: (event: FormEvent) => unknown;
  onClose: () => void;
  children: ReactNode;
};

/** One write, said in words before it is done: what it does, the same by API, and a button that does it. */
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
  tone = "primary",
  wanted,
  isDisabled = false,
  isBusy = write.isPending,
  problem = <ProblemCallout error={write.error} />,
  actionsNote,
  noValidate,
  onSubmit,
  onClose,
  children,
}: Form<R>) {
  const [typed, setTyped] = useState("");
  const isReady = wanted === undefined || typed === wanted;
  const call = request !== null && <ApiCall call={write.callOf(request)} />;
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isBusy || !isReady) return;
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
            label={`Type ${wanted} to confirm`}
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
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone={tone} isBusy={isBusy} isDisabled={isDisabled || !isReady}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
