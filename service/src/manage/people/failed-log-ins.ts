import type { Pool } from "../../postgres/pool.ts";
import { single, transaction } from "../../postgres/transaction.ts";
import { insertControlAudit } from "../../store/control/audit.ts";
import { findMemberByEmail } from "../../store/control/members.ts";
import { getFirstWorkspace } from "../../store/control/projects.ts";
import type { Visit } from "./sign-in.ts";

/** In each window, at most one audit row per member is written, and one row for all unknown emails. */
const WINDOW_MS = 60_000;
const ADDRESSES_SHOWN_MAX = 8;
const ADDRESSES_COUNTED_MAX = 1_000;

export type FailedAction =
  | "member.sign_in_failed"
  | "member.sign_on_failed"
  | "member.password_refused"
  | "member.second_factor_asked"
  | "member.second_factor_failed";

type Subject = {
  readonly action: FailedAction;
  /** Null for an unknown email, which is recorded in the first workspace. */
  readonly workspaceId: number | null;
  /** Unknown emails are not stored, because users sometimes type their password there. */
  readonly text: string;
  /** Why single sign-on failed, or that it is required. Null for a wrong password. */
  readonly reason: string | null;
};

type Pending = { attempts: number; readonly addresses: Set<string>; readonly untilMs: number };

/**
 * Records wrong passwords and second factors, and failed single sign-on, in the audit log. The first failed attempt is written
 * immediately. Further attempts within a minute become one row with a count, so that guessing cannot fill the table. The login response
 * must not wait for the row, because the response time would reveal which emails exist.
 */
export class FailedLogIns {
  readonly #control: Pool;
  /** At most one item per member, action and reason, plus those for unknown emails. */
  readonly #pending = new Map<string, { readonly subject: Subject; pending: Pending }>();

  readonly #recording = new Set<Promise<void>>();

  constructor(control: Pool) {
    this.#control = control;
  }

  record(
    action: FailedAction,
    email: string,
    visit: Visit,
    nowMs: number,
    reason: string | null = null,
  ): Promise<void> {
    const recording = this.#record({ action, reason }, email, visit, nowMs).finally(() => {
      this.#recording.delete(recording);
    });
    this.#recording.add(recording);
    return recording;
  }

  async #record(
    { action, reason }: Pick<Subject, "action" | "reason">,
    email: string,
    visit: Visit,
    nowMs: number,
  ): Promise<void> {
    const member = await single(this.#control, (tx) => findMemberByEmail(tx, email.toLowerCase()));
    const key = `${action} ${reason ?? ""} ${member?.id ?? "unknown"}`;
    const open = this.#pending.get(key);
    if (open !== undefined) {
      countIn(open.pending, visit);
      return;
    }
    const subject = {
      action,
      workspaceId: member?.workspaceId ?? null,
      text: member?.email ?? "an unknown email",
      reason,
    };
    const entry = { subject, pending: nothingUntil(nowMs + WINDOW_MS) };
    this.#pending.set(key, entry);
    try {
      await this.#write(subject, { attempts: 1, addresses: new Set([visit.address]) }, visit.requestId);
    } catch (error) {
      // The row was not written, so the attempt is counted in the next row.
      countIn(entry.pending, visit);
      throw error;
    }
  }

  /** Writes the attempts of finished windows. With `everything`, also writes the attempts of current windows. */
  async flush(nowMs: number, everything = false): Promise<void> {
    await Promise.allSettled(this.#recording);
    for (const [key, entry] of this.#pending) {
      if (entry.pending.untilMs > nowMs && !everything) continue;
      const { pending } = entry;
      if (pending.attempts === 0) {
        this.#pending.delete(key);
        continue;
      }
      entry.pending = nothingUntil(nowMs + WINDOW_MS);
      try {
        await this.#write(entry.subject, pending, null);
      } catch (error) {
        // The attempts are merged with newer attempts and written at the next flush.
        for (const address of entry.pending.addresses) pending.addresses.add(address);
        pending.attempts += entry.pending.attempts;
        entry.pending = pending;
        throw error;
      }
    }
  }

  async #write(
    { action, workspaceId, text, reason }: Subject,
    { attempts, addresses }: Pick<Pending, "attempts" | "addresses">,
    requestId: string | null,
  ): Promise<void> {
    const shown = [...addresses].slice(0, ADDRESSES_SHOWN_MAX);
    const more = addresses.size - shown.length;
    await transaction(this.#control, async (tx) =>
      insertControlAudit(tx, {
        workspaceId: workspaceId ?? (await getFirstWorkspace(tx)),
        actor: { kind: "system", id: null, requestId },
        action,
        subject: text,
        before: null,
        after: {
          attempts,
          addresses: shown,
          ...(more > 0 ? { moreAddresses: more } : {}),
          ...(reason === null ? {} : { reason }),
        },
      }),
    );
  }
}

function nothingUntil(untilMs: number): Pending {
  return { attempts: 0, addresses: new Set(), untilMs };
}

function countIn(pending: Pending, { address }: Visit): void {
  pending.attempts += 1;
  if (pending.addresses.size < ADDRESSES_COUNTED_MAX) pending.addresses.add(address);
}
