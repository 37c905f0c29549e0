import { LogIn } from "lucide-react";
import { useState } from "react";
import { readProviderLogOut } from "../../api/session.ts";
import { SIGN_ON_PROBLEMS } from "../../format/sign-on.ts";
import { ButtonAnchor } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";

/** Leaves the dashboard for the provider. */
export function SignOnButton({ next, isMain }: { next: string | undefined; isMain: boolean }) {
  const search = next === undefined ? "" : `?${new URLSearchParams({ next })}`;
  return (
    <ButtonAnchor href={`/manage/v1/session/oidc${search}`} tone={isMain ? "primary" : "plain"} icon={LogIn}>
      Sign in with single sign-on
    </ButtonAnchor>
  );
}

/** Why the last sign-in failed. */
export function SignOnProblem({ problem }: { problem: string | undefined }) {
  const known = problem === undefined ? undefined : SIGN_ON_PROBLEMS[problem];
  if (known === undefined) return null;
  return (
    <Callout tone="bad" title={known.title}>
      {known.advice}
    </Callout>
  );
}

/** Offers to log out of the provider too, after a logout from a session that the provider opened. */
export function ProviderLogOut() {
  const [url] = useState(readProviderLogOut);
  if (url === null) return null;
  return (
    <Callout title="You are logged out of Purser">
      You may still be logged in at your single sign-on provider.{" "}
      <a href={url} className="font-medium text-accent underline underline-offset-2">
        Log out of provider
      </a>
    </Callout>
  );
}
