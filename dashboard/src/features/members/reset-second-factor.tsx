import { refresh, useWrite } from "../../api/use-write.ts";
import { countOf } from "../../format/numbers.ts";
import { Callout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Member } from "./roles.ts";

/** For a member who lost all passkeys and recovery codes. */
export function ResetSecondFactorDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id, name, email } = member;
  const reset = useWrite("post", "/manage/v1/members/{id}/second-factor/reset", {
    onSuccess: async ({ passkeysDeleted }) => {
      await refresh("members");
      notify(`Reset the second factor for ${name}`, `${countOf(passkeysDeleted, "passkey")} deleted`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Reset second factor for ${name}`}
      note={email}
      write={reset}
      request={{ params: { path: { id } } }}
      action="Reset second factor"
      tone="danger"
      onClose={onClose}
    >
      <p>This deletes their passkeys and recovery codes, and ends their sessions.</p>
      <Callout tone="warn" title="Verify that the member asked for this">
        Afterward, they log in with only their password. If their role requires a passkey, they must add one
        at their next login.
      </Callout>
    </WriteDialog>
  );
}
