import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import {
  explainPrompt,
  promptForNewPasskey,
  promptForPasskey,
  type SecondFactor,
} from "../../api/passkeys.ts";
import { useWrite } from "../../api/use-write.ts";
import { nameOfBrowser } from "../../format/browsers.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { TextField } from "../../ui/field.tsx";
import { PasskeysUnavailable, RecoveryCodes } from "../../ui/passkeys.tsx";
import { AuthCard, useSessionStart } from "./auth-card.tsx";

type StepProps<Kind> = {
  asked: Extract<SecondFactor, { kind: Kind }>;
  /** The page to open after the login. */
  next?: string | undefined;
  /** Starts the login again, when its second step has expired. */
  onRestart: () => void;
};

/** The second step of a login: a passkey or a recovery code, or the first passkey of a member whose role requires one. */
export function SecondFactorStep({
  asked,
  ...rest
}: Omit<StepProps<SecondFactor["kind"]>, "asked"> & { asked: SecondFactor }) {
  return asked.kind === "use" ? <UseStep asked={asked} {...rest} /> : <SetUpStep asked={asked} {...rest} />;
}

function UseStep({ asked: { token, publicKey }, next, onRestart }: StepProps<"use">) {
  const [usesCode, setUsesCode] = useState(publicKey === null);
  const finish = useWrite("post", "/manage/v1/session/second-factor", { onSuccess: useSessionStart(next) });
  const prompt = useMutation({
    mutationFn: promptForPasskey,
    onSuccess: (passkey) => finish.mutate({ body: { token, passkey } }),
  });
  const { mutate: ask } = prompt;
  useEffect(() => {
    if (publicKey !== null) ask(publicKey);
  }, [ask, publicKey]);
  if (usesCode) {
    return (
      <AuthCard title="Use a recovery code" note="Each code works once.">
        <CodeForm
          isBusy={finish.isPending}
          error={finish.error}
          onCode={(recoveryCode) => finish.mutate({ body: { token, recoveryCode } })}
          onRestart={onRestart}
        >
          {publicKey === null ? (
            <PasskeysUnavailable />
          ) : (
            <Button
              onClick={() => {
                finish.reset();
                setUsesCode(false);
              }}
            >
              Use a passkey instead
            </Button>
          )}
        </CodeForm>
      </AuthCard>
    );
  }
  return (
    <AuthCard title="Confirm it is you" note="Follow your browser's prompt to use a passkey.">
      <div className="flex flex-col gap-4">
        <StepProblem error={finish.error ?? prompt.error} onRestart={onRestart} />
        <Button
          tone="primary"
          isBusy={prompt.isPending || finish.isPending}
          onClick={() => {
            finish.reset();
            if (publicKey !== null) ask(publicKey);
          }}
        >
          Use passkey
        </Button>
        <Button
          tone="quiet"
          onClick={() => {
            finish.reset();
            setUsesCode(true);
          }}
        >
          Use a recovery code
        </Button>
        <p className="text-caption text-muted">
          Lost your passkey and your codes? An admin can reset your second factor under Members.
        </p>
      </div>
    </AuthCard>
  );
}

function CodeForm({
  isBusy,
  error,
  onCode,
  onRestart,
  children,
}: {
  isBusy: boolean;
  error: unknown;
  onCode: (code: string) => void;
  onRestart: () => void;
  children: React.ReactNode;
}) {
  const { register, handleSubmit } = useForm<{ code: string }>();
  return (
    <form className="flex flex-col gap-4" onSubmit={handleSubmit(({ code }) => onCode(code))}>
      <TextField
        label="Recovery code"
        placeholder="xxxx-xxxx-xxxx-xxxx"
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        required
        autoFocus
        isMono
        {...register("code")}
      />
      <StepProblem error={error} onRestart={onRestart} />
      <Button type="submit" tone="primary" isBusy={isBusy}>
        Log in
      </Button>
      {children}
    </form>
  );
}

/** Registers the first passkey. The recovery codes are shown before the dashboard opens. */
function SetUpStep({ asked: { token, publicKey }, next, onRestart }: StepProps<"set up">) {
  const { register, handleSubmit } = useForm({ defaultValues: { name: nameOfBrowser(navigator.userAgent) } });
  const start = useSessionStart(next);
  const setUp = useWrite("post", "/manage/v1/session/second-factor/set-up");
  const prompt = useMutation({
    mutationFn: async ({ name }: { name: string }) => {
      if (publicKey === null) return;
      setUp.mutate({ body: { token, name, passkey: await promptForNewPasskey(publicKey) } });
    },
  });
  if (setUp.data !== undefined) {
    const { me, recoveryCodes } = setUp.data;
    return (
      <AuthCard title="Your recovery codes">
        <div className="flex flex-col gap-4">
          <RecoveryCodes codes={recoveryCodes} />
          <Button tone="primary" onClick={() => void start(me)}>
            I have saved them
          </Button>
        </div>
      </AuthCard>
    );
  }
  const note = "Your role requires a passkey in addition to your password. You can add more in your profile.";
  return (
    <AuthCard title="Add a passkey" note={note}>
      {publicKey === null ? (
        <PasskeysUnavailable />
      ) : (
        <form className="flex flex-col gap-4" onSubmit={handleSubmit((form) => prompt.mutate(form))}>
          <TextField
            label="Name"
            hint="A name to recognize this passkey by."
            autoComplete="off"
            maxLength={100}
            required
            autoFocus
            {...register("name")}
          />
          <StepProblem error={setUp.error ?? prompt.error} onRestart={onRestart} />
          <Button type="submit" tone="primary" isBusy={prompt.isPending || setUp.isPending}>
            Add passkey
          </Button>
        </form>
      )}
    </AuthCard>
  );
}

function StepProblem({ error, onRestart }: { error: unknown; onRestart: () => void }) {
  const prompt = explainPrompt(error);
  if (prompt !== null) return <Callout tone="warn" title={prompt} />;
  const code = error instanceof ApiProblem ? error.code : null;
  if (code === "second_factor_invalid") {
    return <Callout tone="bad" title="The passkey or code is not valid" />;
  }
  if (code === "second_factor_expired") {
    return (
      <Callout tone="warn" title="This step has expired">
        <div className="mt-2">
          <Button onClick={onRestart}>Log in again</Button>
        </div>
      </Callout>
    );
  }
  return <ProblemCallout error={error} />;
}
