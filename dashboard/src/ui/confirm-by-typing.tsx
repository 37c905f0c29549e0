import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { ProblemCallout } from "./problem-callout.tsx";

/** For what cannot be undone: the button works once the name stands there. */
export function ConfirmByTyping({
  isOpen,
  onClose,
  title,
  wanted,
  action,
  isBusy,
  error,
  onConfirm,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  wanted: string;
  action: string;
  isBusy: boolean;
  error: unknown;
  onConfirm: () => void;
  children: ReactNode;
}) {
  const [typed, setTyped] = useState("");
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === wanted && !isBusy) onConfirm();
        }}
      >
        <div>{children}</div>
        <TextField
          label={`Type ${wanted} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
          spellCheck={false}
          isMono
        />
        <ProblemCallout error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="danger" isBusy={isBusy} isDisabled={typed !== wanted}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
