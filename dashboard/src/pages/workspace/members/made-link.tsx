import type { Answer } from "../../../api/answer.ts";
import { Button } from "../../../ui/button.tsx";
import { Callout } from "../../../ui/callout.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Details } from "../../../ui/details.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { Time } from "../../../ui/time.tsx";
import { nameOfRole } from "../roles.ts";

/** What an invitation, or a forgotten password, is answered with: a link that somebody has to hand over. */
export function MadeLink({
  made: { member, link },
  onClose,
}: {
  made: Answer<"inviteMember">;
  onClose: () => void;
}) {
  const isInvitation = member.status === "invited";
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={isInvitation ? `Invitation for ${member.name}` : `New password for ${member.name}`}
      isSticky
      isWide
    >
      <CodeBlock label="the link" code={`${window.location.origin}${link.path}`} />
      <Details
        items={[
          { name: "For", value: `${member.name}, ${member.email}, as ${nameOfRole(member.role)}` },
          {
            name: "Good until",
            value: (
              <>
                <Time at={link.expiresAt} /> (<Time at={link.expiresAt} as="ago" />
                ), once
              </>
            ),
          },
        ]}
      />
      <Callout title="Copy it and send it yourself">
        Purser sends no email. Whoever opens the link first comes in as {member.name}, so send it where only
        they read it. It is not shown again; you can always make another.
      </Callout>
      <DialogActions>
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
