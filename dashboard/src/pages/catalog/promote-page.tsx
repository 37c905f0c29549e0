import { Page } from "../../ui/page.tsx";

export function PromotePage() {
  return <Page title="Promote test to live">{null}</Page>;
}
