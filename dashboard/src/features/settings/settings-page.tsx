import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import type { Body, Item } from "../../api/answer.ts";
import { mayActAs } from "../../api/session.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { nameOfBrowser } from "../../format/browsers.ts";
import { countOf } from "../../format/numbers.ts";
import type { Clock } from "../../format/times.ts";
import { useSession } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, TabLink, TabLinks } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { NEW_PASSWORD, TextField } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { chooseClock, chooseTheme, Time, useClock, useTheme } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { ownSignOnQuery, sessionsQuery } from "../workspace/queries.ts";
import { HealthCard } from "./health-card.tsx";
import { OwnSignOnCard } from "./own-sign-on-card.tsx";
import { PasskeysCard } from "./passkeys-card.tsx";
import { ProjectsCard } from "./projects-card.tsx";
import { SecondFactorCard } from "./second-factor-card.tsx";
import { SignOnCards } from "./sign-on-tab.tsx";
import { WorkspaceCard } from "./workspace-card.tsx";

const TABS = [
  { name: "Workspace", to: "/workspace/settings", role: "admin" },
  { name: "Projects", to: "/workspace/settings/projects", role: "viewer" },
  { name: "Single sign-on", to: "/workspace/settings/single-sign-on", role: "admin" },
  { name: "System health", to: "/workspace/settings/health", role: "admin" },
  { name: "Profile", to: "/workspace/settings/profile", role: null },
] as const;

/** A tab of the settings. Workspace and system health are for admins. */
function SettingsTab({ tab, children }: { tab: (typeof TABS)[number]["name"]; children: ReactNode }) {
  const { role } = useSession();
  return (
    <Page title={tab === "Workspace" ? "Settings" : tab} heading="Settings">
      <TabLinks label="Settings">
        {TABS.filter((each) => mayActAs(role, each.role)).map(({ name, to }) => (
          <TabLink key={name} to={to} activeOptions={{ exact: true, includeSearch: false }}>
            {name}
          </TabLink>
        ))}
      </TabLinks>
      {children}
    </Page>
  );
}

export function WorkspaceTab() {
  return (
    <SettingsTab tab="Workspace">
      <WorkspaceCard />
      <SecondFactorCard />
    </SettingsTab>
  );
}

export function ProjectsTab() {
  return (
    <SettingsTab tab="Projects">
      <ProjectsCard />
    </SettingsTab>
  );
}

export function SignOnTab() {
  return (
    <SettingsTab tab="Single sign-on">
      <SignOnCards />
    </SettingsTab>
  );
}

export function HealthTab() {
  return (
    <SettingsTab tab="System health">
      <HealthCard />
    </SettingsTab>
  );
}

export function ProfileTab() {
  return (
    <SettingsTab tab="Profile">
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-6">
          <PasswordCard />
          <OwnSignOnCard />
        </div>
        <PreferencesCard />
      </div>
      <PasskeysCard />
      <SessionsCard />
    </SettingsTab>
  );
}

const THEMES = [
  { value: "system", name: "System", note: "Follows your system setting." },
  { value: "light", name: "Light", note: "Always light." },
  { value: "dark", name: "Dark", note: "Always dark." },
] as const;

const CLOCKS = [
  { value: "utc", name: "UTC", note: "The same as in the API." },
  { value: "local", name: "Local", note: "The time zone of this browser." },
] as const satisfies readonly { value: Clock; name: string; note: string }[];

function PreferencesCard() {
  const theme = useTheme();
  const clock = useClock();
  return (
    <Card title="Appearance" note="Applies only to this browser.">
      <div className="flex flex-col gap-4">
        <Choices
          label="Theme"
          name="theme"
          choices={THEMES}
          chosen={theme}
          onChange={({ target }) => {
            const chosen = THEMES.find(({ value }) => value === target.value);
            if (chosen !== undefined) chooseTheme(chosen.value);
          }}
        />
        <Choices
          label="Time zone"
          name="clock"
          choices={CLOCKS}
          chosen={clock}
          onChange={({ target }) => {
            const chosen = CLOCKS.find(({ value }) => value === target.value);
            if (chosen !== undefined) chooseClock(chosen.value);
          }}
        />
      </div>
    </Card>
  );
}

function PasswordCard() {
  const { email } = useSession();
  const { data: own } = useSuspenseQuery(ownSignOnQuery);
  const { register, handleSubmit, reset } = useForm<Body<"changePassword">>({
    defaultValues: { current: "", new: "" },
  });
  const change = useWrite("post", "/manage/v1/session/password", {
    onSuccess: () => {
      void refresh("sessions");
      notify(
        "Password changed",
        "Your other sessions were ended, and unused login and password reset links were revoked",
      );
      reset();
    },
  });
  if (!own.mayUsePassword) {
    return (
      <div id="password" className="scroll-mt-6">
        <Card title="Your password">
          <p>You log in with single sign-on, and cannot use a password.</p>
        </Card>
      </div>
    );
  }
  return (
    // Target of "Change password" in the user menu.
    <div id="password" className="scroll-mt-6">
      <Card title="Your password" note="Changing your password ends your other sessions.">
        <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => change.mutate({ body }))}>
          {/* For password managers. */}
          <input type="email" autoComplete="username" value={email ?? ""} readOnly hidden />
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
            {...register("current")}
          />
          <TextField label="New password" {...NEW_PASSWORD} {...register("new")} />
          <ProblemCallout error={change.error} />
          <div className="flex justify-end">
            <Button type="submit" tone="primary" isBusy={change.isPending}>
              Change password
            </Button>
          </div>
        </form>
      </Card>
    </div>
  );
}

type Session = Item<"listSessions">;

function SessionsCard() {
  const { data: sessions } = useSuspenseQuery(sessionsQuery);
  const onSuccess = async ({ ended }: { ended: number }) => {
    await refresh("sessions");
    notify(`Ended ${countOf(ended, "session")}`);
  };
  const endOne = useWrite("delete", "/manage/v1/sessions/{id}", { onSuccess });
  const endOthers = useWrite("delete", "/manage/v1/sessions", { onSuccess });
  const problem = endOne.error ?? endOthers.error;
  return (
    <Card
      title="Your sessions"
      note="Where you are logged in."
      flush
      actions={
        sessions.length > 1 && (
          <Button isBusy={endOthers.isPending} onClick={() => endOthers.mutate({})}>
            End all other sessions
          </Button>
        )
      }
    >
      <Table
        label="Your sessions"
        columns={columnsOf((id) => endOne.mutate({ params: { path: { id } } }))}
        rows={sessions}
        keyOf={({ id }) => id}
      />
      {problem !== null && (
        <div className="p-4">
          <ProblemCallout error={problem} />
        </div>
      )}
    </Card>
  );
}

function columnsOf(onEnd: (id: string) => void): Column<Session>[] {
  return [
    { name: "Browser", isWide: true, cell: (session) => <Browser session={session} /> },
    { name: "Last used", hidesBelow: "md", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} as="ago" /> },
    { name: "Logged in", hidesBelow: "md", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      name: "Actions",
      isActions: true,
      cell: (session) =>
        !session.isCurrent && (
          <Button tone="quiet" onClick={() => onEnd(session.id)}>
            End session<span className="sr-only">: {nameOfBrowser(session.userAgent)}</span>
          </Button>
        ),
    },
  ];
}

function Browser({
  session: { userAgent, address, isCurrent, openedWith, lastUsedAt },
}: {
  session: Session;
}) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2">
        <span className="text-form font-medium" title={userAgent ?? undefined}>
          {nameOfBrowser(userAgent)}
        </span>
        {isCurrent && <Badge tone="accent">Current</Badge>}
        {openedWith === "single_sign_on" && <Badge>Single sign-on</Badge>}
      </div>
      <div className="font-mono text-caption text-muted wrap-anywhere">{address ?? "Unknown address"}</div>
      <div className="text-caption text-muted md:hidden">
        <Time at={lastUsedAt} as="ago" />
      </div>
    </>
  );
}
