import { Page } from "../../ui/page.tsx";

export function CatalogFilePage() {
  return <Page title="Catalog as a file">{null}</Page>;
}
