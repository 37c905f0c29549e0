import { useSuspenseQuery } from "@tanstack/react-query";
import { PlugZap } from "lucide-react";
import type { Answer } from "../../api/answer.ts";
import { useWrite } from "../../api/use-write.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, DocsLink } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { CopyButton } from "../../ui/code-block.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { nameOfRole } from "../members/roles.ts";
import { signOnSettingsQuery } from "../workspace/queries.ts";

type Settings = NonNullable<Answer<"readSignOnSettings">["settings"]>;
type Finding = Answer<"testSignOn">["findings"][number];

/** Shows and tests the settings. They are environment variables, so they cannot be changed here. */
export function SignOnCards() {
  const {
    data: { settings },
  } = useSuspenseQuery(signOnSettingsQuery);
  if (settings === null) {
    return (
      <Card title="Single sign-on" note="Members sign in with your OpenID Connect provider.">
        <Callout title="Not set up">
          Set <code className="font-mono">OIDC_ISSUER</code> and other environment variables of the service.
          The <DocsLink href="/docs/guides/single-sign-on">guide</DocsLink> covers Google, Microsoft Entra ID,
          Okta and Keycloak.
        </Callout>
      </Card>
    );
  }
  return (
    <>
      <SettingsCard settings={settings} />
      <TestCard />
    </>
  );
}

function SettingsCard({ settings }: { settings: Settings }) {
  const { issuer, clientId, redirectUri, scopes, allowedDomains, isRequired, localOwner } = settings;
  return (
    <Card
      title="Single sign-on"
      note="Set by environment variables of the service."
      actions={<PageCode json={{ label: "the settings", value: settings }} />}
    >
      <Details
        items={[
          { name: "Issuer", value: <Code text={issuer} /> },
          { name: "Client ID", value: <Code text={clientId} /> },
          {
            name: "Redirect URI",
            value: (
              <span className="-my-1.5 flex flex-wrap items-center gap-x-2">
                <Code text={redirectUri} />
                <CopyButton text={redirectUri} label="Copy the redirect URI" />
              </span>
            ),
          },
          { name: "Scopes", value: <Code text={scopes} /> },
          { name: "Allowed domains", value: allowedDomains?.join(", ") ?? "All" },
          { name: "Roles", value: <Roles settings={settings} /> },
          {
            name: "Passwords",
            value: isRequired ? `Only ${localOwner} may log in with a password.` : "Allowed for all members.",
          },
        ]}
      />
    </Card>
  );
}

function Code({ text }: { text: string }) {
  return <code className="font-mono text-caption wrap-anywhere">{text}</code>;
}

function Roles({ settings: { roleClaim, roles } }: { settings: Settings }) {
  if (roleClaim === null) return "Managed in Purser.";
  return (
    <>
      From the claim <Code text={roleClaim} />, at each sign-in:
      <ul className="mt-1 flex flex-col gap-0.5">
        {roles.map(({ value, role }) => (
          <li key={value}>
            <Code text={value} /> → {nameOfRole(role)}
          </li>
        ))}
      </ul>
    </>
  );
}

const LEVELS = {
  ok: { tone: "good", name: "OK" },
  warning: { tone: "warn", name: "Warning" },
  failure: { tone: "bad", name: "Failed" },
} as const satisfies Record<Finding["level"], { tone: string; name: string }>;

function TestCard() {
  const test = useWrite("post", "/manage/v1/single-sign-on/test");
  const findings = test.data?.findings ?? [];
  return (
    <Card
      title="Connection to the provider"
      note="Does not check the client ID, secret or redirect URI."
      actions={
        <>
          <PageCode call={test.callOf({})} />
          <Button icon={PlugZap} isBusy={test.isPending} onClick={() => test.mutate({})}>
            Test connection
          </Button>
        </>
      }
    >
      <div aria-live="polite">
        {test.data === undefined && test.error === null && (
          <p className="text-muted">
            Not tested yet. To test the client ID, secret and redirect URI, sign in with single sign-on.
          </p>
        )}
        <ProblemCallout error={test.error} />
        <ul className="flex flex-col gap-2.5">
          {findings.map(({ name, level, text }) => (
            <li key={name} className="flex items-start gap-3">
              <span className="flex w-16 shrink-0">
                <Badge tone={LEVELS[level].tone}>{LEVELS[level].name}</Badge>
              </span>
              <span className="min-w-0 wrap-anywhere">{text}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}
