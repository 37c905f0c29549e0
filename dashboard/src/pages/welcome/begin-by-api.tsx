import { curlOf } from "../../ui/api-call.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { SAMPLE_BODY } from "./begin-project.ts";
import type { Start } from "./start-choices.tsx";

export function BeginByApi({ name, start }: { name: string; start: Start }) {
  const create = curlOf({ method: "POST", path: "/manage/v1/projects", body: { name: name.trim() } });
  return (
    <Disclosure title="Do this by API">
      <CodeBlock
        label="the call"
        code={start === "blank" ? create : `${create} \\\n  > project.json\n${APPLY_TO_IT}`}
      />
    </Disclosure>
  );
}

/** The second call needs the id that the first one answered with. */
const APPLY_TO_IT = curlOf({
  method: "POST",
  path: "/manage/v1/projects/ID/test/catalog/apply",
  body: SAMPLE_BODY,
}).replace("/ID/", `/'$(jq -r .project.id project.json)'/`);
