import { Page } from "../../ui/page.tsx";

export function FirstEventPage() {
  return <Page title="Your first event">{null}</Page>;
}
