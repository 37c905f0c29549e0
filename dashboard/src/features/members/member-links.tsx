import { useForm } from "react-hook-form";
import type { Answer, Body } from "../../api/answer.ts";
import { refresh } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { useSession } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Time } from "../../ui/time.tsx";
import { WriteDialog } from "../../ui/write-dialog.tsx";
import { type Member, nameOfRole, roleChoices } from "./roles.ts";

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { role } = useSession();
  const { register, handleSubmit, watch } = useForm<Body<"inviteMember">>({
    defaultValues: { name: "", email: "", role: "viewer" },
  });
  const invite = useWrite("post", "/manage/v1/members", { onSuccess: () => refresh("members") });
  if (invite.data !== undefined) return <MadeLink made={invite.data} onClose={onClose} />;
  return (
    <WriteDialog
      title="Invite member"
      note="You get a link to send to them. It works once, for a week."
      write={invite}
      request={{ body: watch() }}
      action="Make invitation link"
      onSubmit={handleSubmit((body) => invite.mutate({ body }))}
      onClose={onClose}
    >
      <TextField
        label="Name"
        autoComplete="off"
        required
        maxLength={120}
        {...register("name", { required: true })}
      />
      <TextField
        label="Email"
        type="email"
        autoComplete="off"
        hint="What they log in with."
        required
        {...register("email", { required: true })}
      />
      <Choices label="Role" choices={roleChoices(role)} {...register("role")} />
    </WriteDialog>
  );
}

/** For who lost their invitation, or forgot their password. */
export function NewLinkDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id, name, status } = member;
  const isInvited = status === "invited";
  const renew = useWrite("post", "/manage/v1/members/{id}/link");
  if (renew.data !== undefined) return <MadeLink made={renew.data} onClose={onClose} />;
  return (
    <WriteDialog
      title={isInvited ? `New invitation for ${name}` : `New password for ${name}`}
      write={renew}
      request={{ params: { path: { id } } }}
      action={isInvited ? "Make invitation link" : "Make password link"}
      onClose={onClose}
    >
      <p>
        {isInvited
          ? "The new link is good once, for a week. Links made for them before end now."
          : "The link is good once, for a day, and lets them choose a new password. Until they do, the old one works; then their other sessions end. Links made for them before end now."}
      </p>
    </WriteDialog>
  );
}

/** What an invitation, or a forgotten password, is answered with: a link that somebody has to hand over. */
function MadeLink({
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
