import { useBlocker } from "@tanstack/react-router";
import { Button } from "../../ui/button.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";

/** Nobody loses an hour's work by a click beside it. */
export function LeaveGuard({ isUnsaved }: { isUnsaved: () => boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Dialog isOpen onClose={blocker.reset} title="Leave without saving?">
      <p>What you changed in this draft is not saved, and would be lost.</p>
      <DialogActions>
        <Button onClick={blocker.proceed} tone="danger">
          Leave
        </Button>
        <Button onClick={blocker.reset} tone="primary">
          Stay
        </Button>
      </DialogActions>
    </Dialog>
  );
}
