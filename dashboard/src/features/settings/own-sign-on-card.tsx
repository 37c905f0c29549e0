import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Link2, Unlink } from "lucide-react";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { SIGN_ON_PROBLEMS } from "../../format/sign-on.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { ownSignOnQuery } from "../workspace/queries.ts";
import { LogInAgain } from "./log-in-again.tsx";

const route = getRouteApi("/signed-in/workspace/settings/profile");

/** Connects or disconnects the member's account at the provider. */
export function OwnSignOnCard() {
  const { data: own } = useSuspenseQuery(ownSignOnQuery);
  const { problem, connected } = route.useSearch();
  if (!own.isConfigured) return null;
  const failed = problem === undefined ? undefined : SIGN_ON_PROBLEMS[problem];
  return (
    <Card title="Single sign-on" note="Log in with your company account.">
      <div className="flex flex-col gap-4">
        {failed !== undefined && (
          <Callout tone="bad" title={failed.title}>
            {failed.advice}
          </Callout>
        )}
        {own.account === null ? (
          <Connect />
        ) : (
          <Connected account={own.account} mayDisconnect={own.mayUsePassword} isNew={connected === true} />
        )}
      </div>
    </Card>
  );
}

function Connect() {
  const connect = useWrite("post", "/manage/v1/session/sign-on", {
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <>
      <p>Your company account must have the same email as your account here.</p>
      <LogInAgain error={connect.error} />
      <div className="flex justify-end">
        <Button
          tone="primary"
          icon={Link2}
          // Stays busy until the browser leaves the page.
          isBusy={connect.isPending || connect.isSuccess}
          onClick={() => connect.mutate({})}
        >
          Connect single sign-on
        </Button>
      </div>
    </>
  );
}

function Connected({
  account: { issuer, connectedAt, lastUsedAt },
  mayDisconnect,
  isNew,
}: {
  account: NonNullable<Answer<"readOwnSignOn">["account"]>;
  mayDisconnect: boolean;
  isNew: boolean;
}) {
  const [isAsking, setAsking] = useState(false);
  const disconnect = useWrite("delete", "/manage/v1/session/sign-on", {
    onSuccess: async () => {
      await refresh("session", "sessions");
      notify("Disconnected single sign-on");
      setAsking(false);
    },
  });
  return (
    <>
      <div>
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-mono text-caption wrap-anywhere">{issuer}</span>
          <Badge tone="good">Connected</Badge>
        </div>
        <p className="mt-1 text-caption text-muted">
          {isNew ? (
            "You can now log in with single sign-on."
          ) : (
            <>
              Since <Time at={connectedAt} as="day" />.
            </>
          )}{" "}
          {lastUsedAt !== null && (
            <>
              Last used <Time at={lastUsedAt} as="ago" />.
            </>
          )}
        </p>
      </div>
      {mayDisconnect && (
        <div className="flex justify-end">
          <Button icon={Unlink} onClick={() => setAsking(true)}>
            Disconnect
          </Button>
        </div>
      )}
      {isAsking && (
        <WriteDialog
          title="Disconnect single sign-on"
          write={disconnect}
          request={{}}
          action="Disconnect"
          problem={<LogInAgain error={disconnect.error} />}
          onSubmit={() => disconnect.mutate({})}
          onClose={() => setAsking(false)}
        >
          <p>From now on, you'll log in with your password. Sessions opened with single sign-on will end.</p>
        </WriteDialog>
      )}
    </>
  );
}
