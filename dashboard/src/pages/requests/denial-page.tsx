import { Page } from "../../ui/page.tsx";

export function DenialPage() {
  return <Page title="Why denied">{null}</Page>;
}
