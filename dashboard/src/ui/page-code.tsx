import { Braces, CodeXml, Terminal } from "lucide-react";
import { useState } from "react";
import type { Call } from "../api/use-write.ts";
import { IconButton } from "./button.tsx";
import { CodeBlock, curlOf } from "./code-block.tsx";
import { Dialog } from "./dialog.tsx";
import { Menu, MenuItem } from "./menu.tsx";

/** A menu in the header of a page or card: its content as JSON, and the API call that reads or saves it. */
export function PageCode({
  json,
  call,
}: {
  json?: { readonly label: string; readonly value: object } | undefined;
  call?: Call;
}) {
  const [shown, setShown] = useState<"json" | "call" | null>(null);
  const close = (): void => setShown(null);
  if (json === undefined && call === undefined) return null;
  return (
    <>
      <Menu trigger={<IconButton icon={CodeXml} label="Code" />}>
        {json !== undefined && (
          <MenuItem icon={Braces} onClick={() => setShown("json")}>
            JSON
          </MenuItem>
        )}
        {call !== undefined && (
          <MenuItem icon={Terminal} onClick={() => setShown("call")}>
            API call
          </MenuItem>
        )}
      </Menu>
      {json !== undefined && (
        <Dialog isOpen={shown === "json"} isWide onClose={close} title="JSON">
          <CodeBlock label={json.label} code={JSON.stringify(json.value, null, 2)} />
        </Dialog>
      )}
      {call !== undefined && (
        <Dialog isOpen={shown === "call"} isWide onClose={close} title="API call">
          <CodeBlock label="the call" code={curlOf(call)} />
        </Dialog>
      )}
    </>
  );
}
