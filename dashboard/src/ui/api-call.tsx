import type { Call } from "../api/use-write.ts";
import { CodeBlock } from "./code-block.tsx";
import { Disclosure } from "./disclosure.tsx";

/** The same thing by API, as a curl that works: whatever a person can click, a program can call. */
export function ApiCall({ call, title = "Do this by API" }: { call: Call; title?: string }) {
  return (
    <Disclosure title={title}>
      <CodeBlock label="the call" code={curlOf(call)} />
    </Disclosure>
  );
}

export function curlOf({ method, path, headers = {}, body }: Call): string {
  const lines = [
    `curl -X ${method} ${quote(`${window.location.origin}${path}`)}`,
    `-H "Authorization: Bearer $PURSER_TOKEN"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
  ];
  return lines.join(" \\\n  ");
}

/** For a shell: within single quotes everything is as it stands, but for the quote itself. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
