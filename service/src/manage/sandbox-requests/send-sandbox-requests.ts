import { QUANTITY_DEFAULT } from "../../entitlement/consumption.ts";
import type { Pool } from "../../postgres/pool.ts";
import { transaction } from "../../postgres/transaction.ts";
import type { Actor } from "../../primitives/actor.ts";
import { brandAs, type CustomerId, type CustomerNumber } from "../../primitives/brand.ts";
import { insertAudits } from "../../store/cell/audit.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import type { Scope } from "../../store/control/scopes.ts";

export type SandboxInput = {
  readonly endpoint: "check" | "consume";
  readonly requestId: string;
  readonly times: number;
  readonly body: {
    readonly customerId: string;
    readonly feature: string;
    readonly quantity?: number;
    readonly idempotencyKey: string;
  };
};

/** The response as a backend would receive it. */
export type Reading = { readonly status: number; readonly isReplay: boolean; readonly text: string };

/** Sends one request through the runtime and returns its response. */
export type SandboxRequest = (scope: Scope, attempt: Omit<SandboxInput, "times">) => Promise<Reading>;

export type SandboxAnswer = {
  readonly count: number;
  readonly status: number;
  readonly isReplay: boolean;
  readonly body: Record<string, unknown>;
};

export type SandboxOutcome = { readonly answers: readonly SandboxAnswer[]; readonly charged: number };

/** Sends one request several times concurrently. */
export async function sendSandboxRequests(
  parts: { readonly cell: Pool; readonly sandboxRequest: SandboxRequest },
  { scope, actor }: { readonly scope: Scope; readonly actor: Actor },
  input: SandboxInput,
): Promise<SandboxOutcome> {
  // Audited first, so that every charge has an audit entry.
  await audit(parts.cell, scope, actor, input);
  const { times, ...attempt } = input;
  const readings = await Promise.all(
    Array.from({ length: times }, () => parts.sandboxRequest(scope, attempt)),
  );
  const groups = Map.groupBy(readings, ({ status, isReplay, text }) => `${status} ${isReplay} ${text}`);
  const answers = [...groups.values()].flatMap((group) => describe(group));
  const charged = answers.reduce((total, answer) => total + chargeOf(answer), 0);
  return { answers, charged };
}

function audit(
  cell: Pool,
  scope: Scope,
  actor: Actor,
  { endpoint, times, body }: SandboxInput,
): Promise<void> {
  return transaction(cell, async (tx) => {
    const { environmentId } = scope;
    const customerId = brandAs<CustomerId>(body.customerId);
    const [customer] = await findCustomers(tx, [{ environmentId, customerId }]);
    await insertAudits(tx, [
      {
        environmentId,
        recordedAt: await readClock(tx),
        actor,
        action: "request.tried",
        subject: body.feature,
        customerNumber: customer === undefined ? null : brandAs<CustomerNumber>(customer.number),
        before: null,
        after: { endpoint, quantity: body.quantity ?? QUANTITY_DEFAULT, times },
      },
    ]);
  });
}

/** Describes a group of identical responses. */
function describe([first, ...others]: readonly Reading[]): SandboxAnswer[] {
  if (first === undefined) return [];
  const { status, isReplay, text } = first;
  const body: Record<string, unknown> = JSON.parse(text);
  return [{ count: 1 + others.length, status, isReplay, body }];
}

function chargeOf({ count, isReplay, body }: SandboxAnswer): number {
  const { creditsCharged } = body;
  return isReplay || typeof creditsCharged !== "number" ? 0 : creditsCharged * count;
}
