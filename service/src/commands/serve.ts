import pg from "pg";
import type { Logger } from "pino";
import { type Config, readConfig } from "../config.ts";
import { openLog } from "../edge/log.ts";
import { isGuessablePassword } from "../manage/people/guessable-password.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "../manage/people/password.ts";
import { createFirstOwner, isSetupNeeded, makeSetupLink } from "../manage/people/set-up.ts";
import { createFirstProject } from "../manage/projects/create-project.ts";
import { type Service, startService } from "../service.ts";
import { connect, NO_SSL, withPool } from "./connect.ts";
import { inspectEssentials, inspectKeyDeletion, inspectPooler } from "./preflight.ts";

const STOP_MAX_MS = 24_000;
/** Timeout of each attempt to connect. */
const ATTEMPT_MS = 5_000;

export async function serveCommand(): Promise<void> {
  const config = readConfig();
  const log = openLog(config.logLevel);
  await refuseUnsafeDatabase(config, log);
  await initialize(config, log);
  const setupToken = await withPool(config.databaseUrl, makeSetupLink);
  const service = await startService(config, log);
  stopOnSignal(service, log);
  const { publicUrl } = config;
  log.info(
    { url: service.url, ...(publicUrl === null ? {} : { publicUrl }), metricsUrl: service.metricsUrl },
    "ready",
  );
  if (setupToken !== null) offerSetup(`${publicUrl ?? service.url}/setup#${setupToken}`, log);
}

/** In an empty database, creates the owner and project set by environment variables. Only one process does this. */
async function initialize({ databaseUrl, init }: Config, log: Logger): Promise<void> {
  const { owner, apiKey } = init;
  if (owner === null && apiKey === null) return;
  await withPool(databaseUrl, async (pool) => {
    if (owner !== null && (await isSetupNeeded(pool))) {
      refuseWeakPassword(owner);
      if (await createFirstOwner(pool, { ...owner, name: "Owner" }))
        log.info({ email: owner.email.toLowerCase() }, "created the first owner");
    }
    if (apiKey !== null && (await createFirstProject(pool, "My product", apiKey)))
      log.info({ lastFour: apiKey.slice(-4) }, "created the first project");
  });
}

/** Checks the password only when it is used, because an existing installation may have set it under older rules. */
function refuseWeakPassword({ email, password }: { email: string; password: string }): void {
  const { length } = [...password];
  if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX) {
    const bounds = `${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX}`;
    throw new Error(`INIT_OWNER_PASSWORD must have ${bounds} characters, not ${length}`);
  }
  if (isGuessablePassword(password, email.split(/[@.]/)))
    throw new Error("INIT_OWNER_PASSWORD is easy to guess: use several unrelated words");
}

/** Logs the setup link as a warning: anyone who can read the log can become the owner. */
function offerSetup(setupUrl: string, log: Logger): void {
  log.warn(
    { setupUrl },
    "there are no members yet: open this link to become the first owner. The link works once and expires after a day",
  );
}

/** Refuses to start on a database that could lose acknowledged requests. */
export async function refuseUnsafeDatabase(config: Config, log: Logger): Promise<void> {
  const client = await connectWithRetries(config, log);
  const other = await connectWithRetries(config, log);
  try {
    const pooler = await inspectPooler(client, other);
    const findings = [pooler];
    if (pooler.level !== "failure") {
      findings.push(...(await inspectEssentials(client)));
      findings.push(...(await inspectKeyDeletion(client, config.idempotencyDays)));
    }
    for (const { about, text, level } of findings) if (level === "warning") log.warn({ about }, text);
    const failures = findings.filter((finding) => finding.level === "failure");
    if (failures.length > 0)
      throw new Error(failures.map(({ about, text }) => `${about}: ${text}`).join("\n"));
  } finally {
    await Promise.all([client.end(), other.end()]);
  }
}

/** The database may start after the service, and a failover can take a minute. */
async function connectWithRetries(
  { databaseUrl, databaseWaitSeconds }: Config,
  log: Logger,
): ReturnType<typeof connect> {
  const giveUpAtMs = performance.now() + databaseWaitSeconds * 1_000;
  let reported = "";
  for (;;) {
    try {
      return await connect(databaseUrl, { timeoutMs: ATTEMPT_MS });
    } catch (error) {
      if (performance.now() > giveUpAtMs || isHopeless(error)) throw error;
      const reason = error instanceof Error ? error.message : "unknown";
      if (reason !== reported)
        log.warn({ reason, secondsMax: databaseWaitSeconds }, "waiting for a primary database");
      reported = reason;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

/** True for a wrong password, a missing database or a server without SSL, where a retry does not help. */
function isHopeless(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  if (cause instanceof pg.DatabaseError) return /^(28|3D)/.test(cause.code ?? "");
  return cause instanceof Error && cause.message === NO_SSL;
}

/** On SIGTERM and SIGINT, finishes accepted requests and exits within 25 s. */
export function stopOnSignal(service: Service, log: Logger, afterward = async (): Promise<void> => {}): void {
  const stop = (signal: string): void => {
    const startedAtMs = performance.now();
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), STOP_MAX_MS).unref();
    service
      .stop()
      .then(afterward)
      .then(
        () => {
          log.info({ durationMs: Math.round(performance.now() - startedAtMs) }, "stopped");
          process.exit(0);
        },
        (error: unknown) => {
          log.error({ err: error }, "failed to shut down");
          process.exit(1);
        },
      );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
}
