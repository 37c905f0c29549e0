import { isEmail } from "../manage/people/email.ts";
import { type Ended, resetOwner } from "../manage/people/reset-owner.ts";
import { mayUsePassword, type SignOnSettings } from "../manage/single-sign-on/settings.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { withPool } from "./connect.ts";

/** Restores access when all owners have lost it. Requires access to the database. */
export async function resetOwnerCommand(options: {
  databaseUrl: string;
  publicUrl: string | null;
  /** The settings of single sign-on. */
  signOn: Pick<SignOnSettings, "onlyLocalOwner"> | null;
  email: string;
  print: (line: string) => void;
}): Promise<void> {
  if (!isEmail(options.email)) throw new Error(`not an email address: ${JSON.stringify(options.email)}`);
  const email = options.email.toLowerCase();
  if (!mayUsePassword(options.signOn, { email, role: "owner" }))
    throw new Error(
      `OIDC_ONLY is set, so ${email} could not use the new password. Reset OIDC_LOCAL_OWNER (${options.signOn?.onlyLocalOwner}), or change these settings first`,
    );
  const { kind, ended, link } = await withPool(options.databaseUrl, (pool) => resetOwner(pool, email));
  const done = {
    created: `Created ${email} as an owner.`,
    promoted: `${email} is an owner now.`,
    reset: `${email} is an owner.`,
  };
  options.print(done[kind]);
  if (kind !== "created") options.print(describeEnded(ended));
  if (ended.apiKeysKept > 0) {
    options.print(
      `API keys created by this member that still work: ${ended.apiKeysKept}. Revoke any you do not recognize.`,
    );
  }
  const what = options.publicUrl === null ? "this path on your installation" : "this link";
  options.print(`Open ${what} to set a password, before ${formatTimestamp(link.expiresAt)}:`);
  options.print(`  ${options.publicUrl ?? ""}${link.path}`);
}

function describeEnded(ended: Ended): string {
  const parts = [
    ended.passwordEnded ? "the password" : "no password",
    ...(ended.accountsEnded === 0 ? [] : [count(ended.accountsEnded, "single sign-on account")]),
    count(ended.sessionsEnded, "session"),
    count(ended.devicesEnded, "known device"),
    count(ended.passkeysEnded, "passkey"),
    count(ended.tokensEnded, "management token"),
    count(ended.linksEnded, "link"),
  ];
  return `Ended: ${parts.join(", ")}.`;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
