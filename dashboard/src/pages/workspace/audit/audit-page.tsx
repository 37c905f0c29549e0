import { Page } from "../../../ui/page.tsx";

export function AuditPage() {
  return <Page title="Audit log">{null}</Page>;
}
