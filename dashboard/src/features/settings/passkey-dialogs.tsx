import { useMutation } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import type { Answer } from "../../api/answer.ts";
import { explainPrompt, promptForNewPasskey } from "../../api/passkeys.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { nameOfBrowser } from "../../format/browsers.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Dialog, DialogActions, WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { RecoveryCodes } from "../../ui/passkeys.tsx";
import { notify } from "../../ui/toast.tsx";
import { LogInAgain } from "./log-in-again.tsx";

export type Passkey = Answer<"listPasskeys">["items"][number];

const ENDS_SESSIONS = "This ends your other sessions.";

// These dialogs show no curl command, because a management token has no passkeys.

export function AddPasskeyDialog({ onClose }: { onClose: () => void }) {
  const { register, handleSubmit } = useForm({ defaultValues: { name: nameOfBrowser(navigator.userAgent) } });
  const start = useWrite("post", "/manage/v1/passkeys/options");
  const add = useWrite("post", "/manage/v1/passkeys", {
    onSuccess: async ({ passkey, recoveryCodes }) => {
      await refresh("passkeys", "sessions");
      notify(`Added passkey ${passkey.name}`);
      if (recoveryCodes === null) onClose();
    },
  });
  const create = useMutation({
    mutationFn: async ({ name }: { name: string }) => {
      const { token, publicKey } = await start.mutateAsync({});
      const passkey = await promptForNewPasskey(publicKey);
      await add.mutateAsync({ body: { token, name, passkey } });
    },
  });
  const codes = add.data?.recoveryCodes ?? null;
  if (codes !== null) return <CodesDialog codes={codes} onClose={onClose} />;
  return (
    <WriteDialog
      title="Add passkey"
      note="On this device, a phone or a security key."
      write={add}
      request={null}
      action="Add passkey"
      actionsNote={ENDS_SESSIONS}
      isBusy={create.isPending}
      problem={<PasskeyProblem error={create.error} />}
      onSubmit={handleSubmit((form) => create.mutate(form))}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="A name to recognize this passkey by."
        autoComplete="off"
        maxLength={100}
        required
        {...register("name")}
      />
    </WriteDialog>
  );
}

export function RenamePasskeyDialog({
  passkey: { id, name },
  onClose,
}: {
  passkey: Passkey;
  onClose: () => void;
}) {
  const { register, handleSubmit } = useForm({ defaultValues: { name } });
  const rename = useWrite("patch", "/manage/v1/passkeys/{id}", {
    onSuccess: async (after) => {
      await refresh("passkeys");
      notify("Renamed passkey", `${name} → ${after.name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Rename passkey ${name}`}
      write={rename}
      request={null}
      action="Rename passkey"
      onSubmit={handleSubmit((body) => rename.mutate({ params: { path: { id } }, body }))}
      onClose={onClose}
    >
      <TextField label="Name" autoComplete="off" maxLength={100} required {...register("name")} />
    </WriteDialog>
  );
}

export function DeletePasskeyDialog({
  passkey: { id, name },
  isLast,
  onClose,
}: {
  passkey: Passkey;
  isLast: boolean;
  onClose: () => void;
}) {
  const remove = useWrite("delete", "/manage/v1/passkeys/{id}", {
    onSuccess: async () => {
      await refresh("passkeys", "sessions");
      notify(`Deleted passkey ${name}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Delete passkey ${name}`}
      write={remove}
      request={null}
      action="Delete passkey"
      tone="danger"
      actionsNote={ENDS_SESSIONS}
      problem={<PasskeyProblem error={remove.error} />}
      onSubmit={() => remove.mutate({ params: { path: { id } } })}
      onClose={onClose}
    >
      {isLast ? (
        <Callout tone="warn" title="This is your only passkey">
          You'll log in with only your password. Your recovery codes will also be deleted.
        </Callout>
      ) : (
        <p>You'll no longer be able to log in with this passkey. Also delete it on your device.</p>
      )}
    </WriteDialog>
  );
}

export function NewCodesDialog({ onClose }: { onClose: () => void }) {
  const renew = useWrite("post", "/manage/v1/recovery-codes", {
    onSuccess: () => refresh("passkeys", "sessions"),
  });
  if (renew.data !== undefined) return <CodesDialog codes={renew.data.recoveryCodes} onClose={onClose} />;
  return (
    <WriteDialog
      title="Create new recovery codes"
      write={renew}
      request={null}
      action="Create new codes"
      actionsNote={ENDS_SESSIONS}
      problem={<PasskeyProblem error={renew.error} />}
      onSubmit={() => renew.mutate({})}
      onClose={onClose}
    >
      <p>Your old codes will stop working.</p>
    </WriteDialog>
  );
}

function CodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title="Your recovery codes" isSticky>
      <RecoveryCodes codes={codes} />
      <DialogActions>
        <Button tone="primary" onClick={onClose}>
          I have saved them
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function PasskeyProblem({ error }: { error: unknown }) {
  const prompt = explainPrompt(error);
  return prompt === null ? <LogInAgain error={error} /> : <Callout tone="warn" title={prompt} />;
}
