import { useMutation } from "@tanstack/react-query";
import { answerOf, api } from "../../../api/client.ts";
import { ApiCall } from "../../../ui/api-call.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { MadeLink } from "./made-link.tsx";
import type { Member } from "./member.ts";

/** For who lost their invitation, or forgot their password. */
export function NewLinkDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id, name, status } = member;
  const isInvited = status === "invited";
  const renew = useMutation({
    mutationFn: () => answerOf(api.POST("/manage/v1/members/{id}/link", { params: { path: { id } } })),
  });
  if (renew.data !== undefined) return <MadeLink made={renew.data} onClose={onClose} />;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={isInvited ? `New invitation for ${name}` : `New password for ${name}`}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          renew.mutate();
        }}
      >
        <p>
          {isInvited
            ? "The new link is good once, for a week. Links made for them before end now."
            : "The link is good once, for a day, and lets them choose a new password. Until they do, the old one works; then their other sessions end. Links made for them before end now."}
        </p>
        <ProblemCallout error={renew.error} />
        <ApiCall call={{ method: "POST", path: `/manage/v1/members/${id}/link` }} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={renew.isPending}>
            {isInvited ? "Make invitation link" : "Make password link"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
