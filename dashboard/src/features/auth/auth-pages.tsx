import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import type { Body } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { secondFactorOf } from "../../api/passkeys.ts";
import { useWrite } from "../../api/use-write.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { NEW_PASSWORD, TextField } from "../../ui/field.tsx";
import { AuthCard, Divider, isLinkInvalid, takeLinkToken, useSessionStart } from "./auth-card.tsx";
import { SecondFactorStep } from "./second-factor.tsx";
import { ProviderLogOut, SignOnButton, SignOnProblem } from "./sign-on.tsx";

const logInRoute = getRouteApi("/log-in");
const joinRoute = getRouteApi("/join");

export function LogInPage() {
  const { next, problem, local } = logInRoute.useSearch();
  const { isConfigured, isRequired } = logInRoute.useLoaderData();
  const isLocal = !isRequired || local === true;
  const logIn = useLogIn(next);
  const asked = secondFactorOf(logIn.error);
  if (asked !== null) return <SecondFactorStep asked={asked} next={next} onRestart={logIn.reset} />;
  return (
    <AuthCard title="Log in">
      <div className="flex flex-col gap-4">
        <ProviderLogOut />
        <SignOnProblem problem={problem} />
        {isConfigured && <SignOnButton next={next} isMain={!isLocal} />}
        {isConfigured && isLocal && <Divider>or with a password</Divider>}
        {isLocal ? (
          <PasswordForm logIn={logIn} isAlone={!isConfigured} />
        ) : (
          <p className="text-caption text-muted">
            <TextLink to="/log-in" search={{ ...(next === undefined ? {} : { next }), local: true }}>
              Log in as the local owner
            </TextLink>
          </p>
        )}
      </div>
    </AuthCard>
  );
}

function useLogIn(next: string | undefined) {
  return useWrite("post", "/manage/v1/session", { onSuccess: useSessionStart(next) });
}

function PasswordForm({ logIn, isAlone }: { logIn: ReturnType<typeof useLogIn>; isAlone: boolean }) {
  const { register, handleSubmit } = useForm<Body<"logIn">>();
  return (
    <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => logIn.mutate({ body }))}>
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        required
        autoFocus={isAlone}
        {...register("email")}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        {...register("password")}
      />
      {isMismatch(logIn.error) ? (
        <Callout tone="bad" title="Wrong email or password" />
      ) : (
        <ProblemCallout error={logIn.error} />
      )}
      <Button type="submit" tone="primary" isBusy={logIn.isPending}>
        Log in
      </Button>
      <p className="text-caption text-muted">
        Forgot your password? An admin can create a password reset link under Members.
      </p>
    </form>
  );
}

/** The API does not report whether the email or the password is wrong. */
function isMismatch(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "credentials_invalid";
}

const setupRoute = getRouteApi("/setup");

const SETUP_TITLE = "Set up Purser";

type Owner = { name: string; email: string; password: string };

/** Creates the first owner with the link from the service log. */
export function SetupPage() {
  const [token] = useState(takeLinkToken);
  const { isNeeded } = setupRoute.useLoaderData();
  const { register, handleSubmit } = useForm<Owner>();
  const setUp = useWrite("post", "/manage/v1/setup", { onSuccess: useSessionStart() });
  if (!isNeeded) {
    return (
      <AuthCard title={SETUP_TITLE} note="Setup is complete.">
        <div className="flex flex-col">
          <ButtonLink to="/log-in" tone="primary">
            Log in
          </ButtonLink>
        </div>
      </AuthCard>
    );
  }
  if (token === null || isLinkInvalid(setUp.error)) {
    return (
      <AuthCard title={SETUP_TITLE} note="This installation has no owner yet.">
        <Callout
          tone={token === null ? "plain" : "warn"}
          title={token === null ? "Open the setup link" : "This link is no longer valid"}
        >
          To find the current setup link, search the service log for{" "}
          <code className="font-mono">/setup#</code>. Purser prints a new link each time it starts. A link
          expires after one use or 24 hours.
        </Callout>
      </AuthCard>
    );
  }
  return (
    <AuthCard
      title={SETUP_TITLE}
      note="You will be the owner of this workspace. Purser does not send email, so there is no confirmation message."
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit((owner) => setUp.mutate({ body: { ...owner, token } }))}
      >
        <TextField label="Your name" autoComplete="name" required autoFocus {...register("name")} />
        <TextField label="Email" type="email" autoComplete="username" required {...register("email")} />
        <TextField label="Password" {...NEW_PASSWORD} {...register("password")} />
        <ProblemCallout error={setUp.error} />
        <Button type="submit" tone="primary" isBusy={setUp.isPending}>
          Create owner
        </Button>
      </form>
    </AuthCard>
  );
}

/**
 * Accepts an invitation or resets a password. With single sign-on, an invitation does not require a password. Where single sign-on is required,
 * only the local owner can choose one.
 */
export function JoinPage() {
  const [token] = useState(takeLinkToken);
  const [isLocalOwner, setLocalOwner] = useState(false);
  const { isConfigured, isRequired } = joinRoute.useLoaderData();
  if (isRequired && !isLocalOwner) {
    return (
      <AuthCard
        title="You are invited"
        note="Sign in with the email address that was invited. You don't need a password."
      >
        <div className="flex flex-col gap-4">
          <SignOnButton next={undefined} isMain />
          {token !== null && (
            <Button onClick={() => setLocalOwner(true)}>Choose a password as the local owner</Button>
          )}
        </div>
      </AuthCard>
    );
  }
  return (
    <LinkPage
      token={token}
      title="Choose a password"
      note="You will log in with this password from now on."
      spentHelp="Log in with your password, or ask an admin for a new link."
      action="Save and log in"
      hasPassword
      alternative={
        isConfigured && (
          <div className="mt-4 flex flex-col gap-4">
            <Divider>or, if you are new here</Divider>
            <SignOnButton next={undefined} isMain={false} />
          </div>
        )
      }
    />
  );
}

/** Logs in with a one-time link. Requires a click, so that link previews do not use up the link. */
export function SignInPage() {
  const [token] = useState(takeLinkToken);
  return (
    <LinkPage
      token={token}
      title="Log in with a link"
      note="You can use this link once."
      spentHelp="Log in with your password, or restart “purser dev” to get a new link."
      action="Log in"
    />
  );
}

function LinkPage({
  token,
  title,
  note,
  spentHelp,
  action,
  hasPassword = false,
  alternative,
}: {
  token: string | null;
  title: string;
  note: string;
  /** Advice for a link that was used or has expired. */
  spentHelp: string;
  action: string;
  hasPassword?: boolean;
  alternative?: ReactNode;
}) {
  const { register, handleSubmit } = useForm<{ password?: string }>();
  const redeem = useWrite("post", "/manage/v1/links", { onSuccess: useSessionStart() });
  const navigate = useNavigate();
  const asked = secondFactorOf(redeem.error);
  if (asked !== null) {
    // The link was used, so a new login starts with the password.
    return <SecondFactorStep asked={asked} onRestart={() => void navigate({ to: "/log-in" })} />;
  }
  if (token === null || isLinkInvalid(redeem.error)) {
    return (
      <AuthCard title={title}>
        <div className="flex flex-col gap-4">
          {token === null ? (
            // Some mail and chat programs cut links at the #.
            <Callout tone="warn" title="This link is incomplete">
              The part after <code className="font-mono">#</code> is missing. Copy the whole link and open it
              again.
            </Callout>
          ) : (
            <Callout tone="warn" title="This link was already used or has expired">
              {spentHelp}
            </Callout>
          )}
          <ButtonLink to="/log-in">Log in</ButtonLink>
        </div>
      </AuthCard>
    );
  }
  return (
    <AuthCard title={title} note={note}>
      <form
        className="flex flex-col gap-4"
        onSubmit={handleSubmit((form) => redeem.mutate({ body: { token, ...form } }))}
      >
        {hasPassword && <TextField label="Password" {...NEW_PASSWORD} autoFocus {...register("password")} />}
        <ProblemCallout error={redeem.error} />
        <Button type="submit" tone="primary" isBusy={redeem.isPending}>
          {action}
        </Button>
      </form>
      {alternative}
    </AuthCard>
  );
}
