import { Page } from "../../ui/page.tsx";
import { ExportForm } from "./export-form.tsx";
import { ExportList } from "./export-list.tsx";
import { UsageTabs } from "./usage-tabs.tsx";

export function ExportsPage() {
  return (
    <Page
      title="Exports"
      note="Take it with you, row by row, in files that add up to what you see here. Every export is in the audit log."
    >
      <UsageTabs />
      <div className="grid items-start gap-6 lg:grid-cols-[2fr_3fr]">
        <ExportForm />
        <ExportList />
      </div>
    </Page>
  );
}
