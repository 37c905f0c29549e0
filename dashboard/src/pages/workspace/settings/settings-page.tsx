import { Page } from "../../../ui/page.tsx";
import { HealthCard } from "./health-card.tsx";
import { PasswordCard } from "./password-card.tsx";
import { PreferencesCard } from "./preferences-card.tsx";
import { ProjectsCard } from "./projects-card.tsx";
import { SessionsCard } from "./sessions-card.tsx";
import { WorkspaceCard } from "./workspace-card.tsx";

export function SettingsPage() {
  return (
    <Page title="Settings" note="Of the workspace, of its projects, and your own.">
      <WorkspaceCard />
      <ProjectsCard />
      <HealthCard />
      <SessionsCard />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <PasswordCard />
        <PreferencesCard />
      </div>
    </Page>
  );
}
