import type { ComponentProps, ReactNode } from "react";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";

/** Says what will happen, and asks once. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  action,
  isDangerous = false,
  work: { isPending, error, mutate },
  call,
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  action: string;
  isDangerous?: boolean;
  work: { isPending: boolean; error: unknown; mutate: () => void };
  call: ComponentProps<typeof ApiCall>["call"];
  children: ReactNode;
}) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <div>{children}</div>
      <ProblemCallout error={error} />
      <ApiCall call={call} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button tone={isDangerous ? "danger" : "primary"} isBusy={isPending} onClick={() => mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
