import { Page } from "../../ui/page.tsx";

export function KeyPage() {
  return <Page title="Idempotency key">{null}</Page>;
}
