import { useSuspenseQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { ApplyCatalog } from "./apply-catalog.tsx";
import { catalogDocumentQuery } from "./queries.ts";

/** Everything that an environment sells, to keep in a repository and to apply again. */
export function CatalogFilePage() {
  const place = usePlace();
  const { data: document } = useSuspenseQuery(catalogDocumentQuery(place));
  const text = JSON.stringify(document, null, 2);
  const name = `catalog-${place.projectId}-${place.environment}.json`;
  return (
    <Page
      title="Catalog as a file"
      note="All pools, features, plans and event keys of this environment, as one document for your repository."
    >
      <Card
        title="Export"
        note="Plans as of their newest version. Drafts are no part of it."
        actions={
          <Button icon={Download} onClick={() => saveFile(name, `${text}\n`)}>
            Download {name}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Disclosure title="Show it">
            <CodeBlock label="the catalog" code={text} />
          </Disclosure>
          <ApiCall call={{ method: "GET", path: pathIn(place, "catalog") }} />
        </div>
      </Card>
      <ApplyCatalog />
    </Page>
  );
}
