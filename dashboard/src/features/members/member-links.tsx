import { Mail } from "lucide-react";
import { FormProvider, useForm } from "react-hook-form";
import type { Answer } from "../../api/answer.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog, DialogActions, WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Details } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { RoleFields, type RolesForm, rolesOf } from "./role-fields.tsx";
import { describeRoles, type Member } from "./roles.ts";

type InviteForm = { name: string; email: string } & RolesForm;

/** Project roles are sent only if there are any. */
function toInvitation({ name, email, ...form }: InviteForm) {
  const { role, projectRoles } = rolesOf(form);
  return { name, email, role, ...(projectRoles.length === 0 ? {} : { projectRoles }) };
}

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const form = useForm<InviteForm>({
    defaultValues: { name: "", email: "", reach: "workspace", role: "viewer", rows: [] },
  });
  const { register, handleSubmit, watch } = form;
  const invite = useWrite("post", "/manage/v1/members", { onSuccess: () => refresh("members") });
  if (invite.data !== undefined) return <MadeLink made={invite.data} onClose={onClose} />;
  return (
    <WriteDialog
      title="Invite member"
      note="You get a link to send. It expires after one use or 7 days."
      write={invite}
      request={{ body: toInvitation(watch()) }}
      action="Create invitation link"
      onSubmit={handleSubmit((values) => invite.mutate({ body: toInvitation(values) }))}
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
        hint="The member logs in with this email."
        required
        {...register("email", { required: true })}
      />
      <FormProvider {...form}>
        <RoleFields />
      </FormProvider>
    </WriteDialog>
  );
}

/** Replaces a lost invitation or resets a password. */
export function NewLinkDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id, name, status } = member;
  const isInvited = status === "invited";
  const renew = useWrite("post", "/manage/v1/members/{id}/link");
  if (renew.data !== undefined) return <MadeLink made={renew.data} onClose={onClose} />;
  return (
    <WriteDialog
      title={isInvited ? `New invitation for ${name}` : `Password reset link for ${name}`}
      write={renew}
      request={{ params: { path: { id } } }}
      action={isInvited ? "Create invitation link" : "Create password reset link"}
      onClose={onClose}
    >
      <p>
        {isInvited
          ? "The link expires after one use or 7 days. Older links will stop working."
          : "The link expires after one use or 24 hours. The old password works until it is replaced. Older links will stop working."}
      </p>
    </WriteDialog>
  );
}

/** Shows a created link, which the user has to send. */
function MadeLink({
  made: { member, link },
  onClose,
}: {
  made: Answer<"inviteMember">;
  onClose: () => void;
}) {
  const isInvitation = member.status === "invited";
  const address = `${window.location.origin}${link.path}`;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={isInvitation ? `Invitation for ${member.name}` : `Password reset link for ${member.name}`}
      isSticky
      isWide
    >
      <CodeBlock label="the link" code={address} />
      <Details
        items={[
          { name: "For", value: `${member.name}, ${member.email}, as ${describeRoles(member)}` },
          {
            name: "Valid until",
            value: (
              <>
                <Time at={link.expiresAt} /> (<Time at={link.expiresAt} as="ago" />
                ). Can be used once.
              </>
            ),
          },
        ]}
      />
      <Callout title="Copy the link and send it">
        Purser does not send email. Anyone with the link can log in as {member.name}. The link is shown only
        once.
      </Callout>
      <DialogActions
        note={
          isInvitation && (
            <a
              href={mailtoOf(member, address)}
              className="inline-flex items-center gap-1.5 font-medium text-accent underline-offset-2 hover:underline"
            >
              <Mail className="size-3.5" aria-hidden />
              Open in email app
            </a>
          )
        }
      >
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** An email with the invitation, for the user to send. */
function mailtoOf({ name, email }: Pick<Member, "name" | "email">, address: string): string {
  const text = "Open this link to join our Purser workspace. It can be used once and expires in 7 days.";
  const body = `Hello ${name},\r\n\r\n${text}\r\n\r\n${address}`;
  return `mailto:${encodeURIComponent(email)}?subject=${encodeURIComponent("Invitation to Purser")}&body=${encodeURIComponent(body)}`;
}
