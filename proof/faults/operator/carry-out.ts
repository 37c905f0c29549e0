import type { Context } from "../../../service/src/manage/context.ts";
import { addCredits } from "../../../service/src/manage/credits/add-credits.ts";
import { reverseConsume } from "../../../service/src/manage/credits/reverse-consume.ts";
import { assignPlan } from "../../../service/src/manage/customers/assign-plan.ts";
import type { Pool } from "../../../service/src/postgres/pool.ts";
import { brandAs, type CustomerId, type Instant } from "../../../service/src/primitives/brand.ts";
import { POOL } from "../../harness/project.ts";
import type { ManageCall, ManageOutcome, ManageRequest } from "../history/manage-call.ts";

/** Asks for one thing once, and says what whoever asked can know. Never rejects. */
export async function carryOut(cell: Pool, context: Context, request: ManageRequest): Promise<ManageCall> {
  const startMs = performance.now();
  const outcome = await ask(cell, context, request).catch(toOutcome);
  return { request, startMs, endMs: performance.now(), outcome };
}

/** Without a connection nothing was asked; whatever else broke may have broken after the commit. */
function toOutcome(error: unknown): ManageOutcome {
  const isRefused = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  return { kind: isRefused ? "refused" : "unknown", reason: String(error) };
}

async function ask(cell: Pool, context: Context, request: ManageRequest): Promise<ManageOutcome> {
  switch (request.operation) {
    case "addCredits": {
      const { kind, credits, reference, expiresAtMs } = request;
      const outcome = await addCredits(cell, context, {
        customerId: brandAs<CustomerId>(request.customerId),
        pool: POOL,
        kind,
        credits,
        expiresAt: expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs),
        reference,
        price: null,
        note: null,
      });
      return told(outcome.kind, ["added", "already_added"]);
    }
    case "assignPlan": {
      const { plan } = request;
      const customerId = brandAs<CustomerId>(request.customerId);
      const outcome = await assignPlan(cell, context, { customerId, plan, anchor: null });
      return told(outcome.kind, ["changed", "unchanged"]);
    }
    case "reverseConsume": {
      const { consumeId, quantity } = request;
      const outcome = await reverseConsume(cell, context, { consumeId, quantity });
      return outcome.kind === "reversed" ? outcome : told(outcome.kind, []);
    }
  }
}

function told(kind: string, done: readonly string[]): ManageOutcome {
  return done.includes(kind) ? { kind: "done" } : { kind: "refused", reason: kind };
}
