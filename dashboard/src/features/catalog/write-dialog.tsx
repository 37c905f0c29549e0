import type { ReactNode } from "react";
import { ApiCall, type Call } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";

/** One write, said in words before it is done: what it does, the same by API, and a button that names the environment. */
export function WriteDialog({
  title,
  action,
  tone = "primary",
  isBusy,
  problem,
  call,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  action: string;
  tone?: "primary" | "danger";
  isBusy: boolean;
  problem: ReactNode;
  call: Call;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) onConfirm();
        }}
      >
        {children}
        {problem}
        <ApiCall call={call} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone={tone} isBusy={isBusy}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
