import { Page } from "../../ui/page.tsx";

export function FeaturesPage() {
  return <Page title="Features">{null}</Page>;
}
