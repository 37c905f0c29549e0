import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { countOf } from "../../format/numbers.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { MenuItem, MenuSeparator, RowMenu } from "../../ui/menu.tsx";
import { Card } from "../../ui/page.tsx";
import { PasskeysUnavailable } from "../../ui/passkeys.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { passkeysQuery } from "../workspace/queries.ts";
import {
  AddPasskeyDialog,
  DeletePasskeyDialog,
  NewCodesDialog,
  type Passkey,
  RenamePasskeyDialog,
} from "./passkey-dialogs.tsx";

type Open =
  | { readonly action: "add" | "codes" }
  | { readonly action: "rename" | "delete"; readonly passkey: Passkey };

/** The member's own passkeys and recovery codes. */
export function PasskeysCard() {
  const { data: own } = useSuspenseQuery(passkeysQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const isHere = own.origin === window.location.origin;
  return (
    // Target of links to this card.
    <div id="passkeys" className="scroll-mt-6">
      <Card
        title="Passkeys"
        note={
          own.isRequired ? "Your role requires a passkey at login." : "A second step after your password."
        }
        flush
        actions={
          isHere && (
            <Button icon={KeyRound} onClick={() => setOpen({ action: "add" })}>
              Add passkey
            </Button>
          )
        }
      >
        {!isHere && (
          <div className="p-4">
            <PasskeysUnavailable origin={own.origin} />
          </div>
        )}
        {own.items.length > 0 ? (
          <>
            <Table
              label="Your passkeys"
              columns={columnsOf(setOpen)}
              rows={own.items}
              keyOf={({ id }) => id}
            />
            <Codes own={own} onRenew={() => setOpen({ action: "codes" })} />
          </>
        ) : (
          isHere && (
            <p className="p-4 text-muted">
              You don't have a passkey, so you log in with only your password. Add one on this device, a phone
              or a security key.
            </p>
          )
        )}
      </Card>
      {open?.action === "add" && <AddPasskeyDialog onClose={close} />}
      {open?.action === "codes" && <NewCodesDialog onClose={close} />}
      {open?.action === "rename" && <RenamePasskeyDialog passkey={open.passkey} onClose={close} />}
      {open?.action === "delete" && (
        <DeletePasskeyDialog passkey={open.passkey} isLast={own.items.length === 1} onClose={close} />
      )}
    </div>
  );
}

/** Shows a warning color at this number of codes or fewer. */
const FEW_CODES = 3;

function Codes({ own, onRenew }: { own: Answer<"listPasskeys">; onRenew: () => void }) {
  const { recoveryCodesLeft } = own;
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line px-4 py-3">
      <div className="flex min-w-0 flex-wrap items-center gap-x-2">
        <span className="text-form font-medium">Recovery codes</span>
        <Badge tone={recoveryCodesLeft <= FEW_CODES ? "warn" : "plain"}>
          {countOf(recoveryCodesLeft, "code")} left
        </Badge>
        <span className="text-caption text-muted">Each code works once, in place of your passkey.</span>
      </div>
      <Button onClick={onRenew}>Create new codes</Button>
    </div>
  );
}

function columnsOf(onOpen: (open: Open) => void): Column<Passkey>[] {
  return [
    {
      name: "Name",
      isWide: true,
      cell: ({ name, lastUsedAt }) => (
        <>
          <span className="text-form font-medium wrap-anywhere">{name}</span>
          <div className="text-caption text-muted md:hidden">
            <LastUse at={lastUsedAt} />
          </div>
        </>
      ),
    },
    { name: "Created", hidesBelow: "md", cell: ({ createdAt }) => <Time at={createdAt} as="day" /> },
    { name: "Last used", hidesBelow: "md", cell: ({ lastUsedAt }) => <LastUse at={lastUsedAt} /> },
    {
      name: "Actions",
      isActions: true,
      cell: (passkey) => (
        <RowMenu label={`Actions for ${passkey.name}`}>
          <MenuItem icon={Pencil} onClick={() => onOpen({ action: "rename", passkey })}>
            Rename
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={Trash2} isDangerous onClick={() => onOpen({ action: "delete", passkey })}>
            Delete
          </MenuItem>
        </RowMenu>
      ),
    },
  ];
}

function LastUse({ at }: { at: string | null }) {
  return at === null ? "Never used" : <Time at={at} as="ago" />;
}
