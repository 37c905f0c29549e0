import { readFileSync } from "node:fs";
import { readTrustProxy } from "./edge/guard.ts";
import { readTraceSettings, type TraceSettings } from "./edge/trace-settings.ts";
import { isEmail } from "./manage/people/email.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "./manage/people/password.ts";
import {
  readSignOnSettings,
  SIGN_ON_SETTINGS,
  type SignOnSettings,
} from "./manage/single-sign-on/settings.ts";
import { isLoopbackHost } from "./primitives/network.ts";
import { isWellFormedApiKey } from "./primitives/secret.ts";

/** All settings. The environment is read once, and only in this file. */
export type Config = {
  readonly databaseUrl: string;
  /** How long startup waits for a primary database. */
  readonly databaseWaitSeconds: number;
  readonly host: string;
  readonly port: number;
  /** The public origin of this installation. Null if unknown. */
  readonly publicUrl: string | null;
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly lanes: number;
  /** How long idempotency keys are kept. Null means forever. */
  readonly idempotencyDays: number | null;
  /** A dashboard session ends after this many hours without use. */
  readonly sessionIdleHours: number;
  /** How long a known API key is trusted while the database is unreachable. */
  readonly keyGraceSeconds: number;
  /** Whether webhooks may use http:// and private addresses. */
  readonly allowsPrivateWebhooks: boolean;
  readonly logLevel: string;
  /** The OpenTelemetry collector and sampler. Null disables tracing. */
  readonly tracing: TraceSettings | null;
  readonly trustProxy: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** The OpenID Connect provider for single sign-on. Null if there is none. */
  readonly signOn: SignOnSettings | null;
  /** Initial owner and API key for an empty database. */
  readonly init: {
    readonly owner: { readonly email: string; readonly password: string } | null;
    readonly apiKey: string | null;
  };
};

export class ConfigInvalid extends Error {
  override readonly name = "ConfigInvalid";
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"];

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that can also be read from a file. The setting's name with `_FILE` appended sets the file's path. */
type Secret = "DATABASE_URL" | "INIT_OWNER_PASSWORD" | "INIT_API_KEY" | "OIDC_CLIENT_SECRET" | "PURSER_TOKEN";

/** Every setting and its description, for `purser help`. */
export const SETTINGS = {
  DATABASE_URL: "PostgreSQL 15 to 18, as postgres://user:password@host:port/database (required)",
  DATABASE_WAIT_SECONDS: "seconds that `purser serve` waits for a primary database at startup (default: 120)",
  HOST: "address to listen on (default: 127.0.0.1)",
  PORT: "port to listen on (default: 3300)",
  PUBLIC_URL:
    "URL of this installation, such as https://purser.example.com, for links, error types and passkeys (default: none)",
  METRICS_HOST: "address of /metrics, /livez and /readyz (default: 127.0.0.1)",
  METRICS_PORT: "port of /metrics, /livez and /readyz (default: 9464)",
  TLS_CERT_FILE: "serve HTTPS with this certificate chain (PEM), together with TLS_KEY_FILE",
  TLS_KEY_FILE: "the private key of TLS_CERT_FILE (PEM)",
  TRUST_PROXY: "comma-separated addresses or CIDR ranges of proxies whose X-Forwarded headers are trusted",
  LANES: "database connections for batched writes (default: 1; more for a large or high-latency database)",
  IDEMPOTENCY_DAYS:
    "days until an idempotency key expires; at least 40, because events can arrive up to 35 days late (default: never)",
  SESSION_IDLE_HOURS: "hours without use after which a dashboard session ends, up to 336 (default: 12)",
  KEY_GRACE_SECONDS:
    "seconds to trust a known API key while the database is unreachable, 0 to disable (default: 300)",
  WEBHOOK_TARGETS:
    "`public`, or `any` to let webhooks use http:// and the private addresses of your own network (default: public)",
  LOG_LEVEL: `minimum level to log: ${LOG_LEVELS.join(", ")} (default: info)`,
  OTEL_EXPORTER_OTLP_ENDPOINT:
    "export traces to this OpenTelemetry collector, such as http://127.0.0.1:4318 (default: none)",
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:
    "full URL for traces, overrides OTEL_EXPORTER_OTLP_ENDPOINT, such as http://127.0.0.1:4318/v1/traces (default: none)",
  OTEL_TRACES_SAMPLER:
    "OpenTelemetry sampler that selects the traces to export (default: parentbased_always_on)",
  OTEL_TRACES_SAMPLER_ARG: "share of the traces for a ratio sampler, 0 to 1 (default: 1)",
  INIT_OWNER_EMAIL:
    "email of the first owner, created by `purser serve` if the database has no members; needs INIT_OWNER_PASSWORD",
  INIT_OWNER_PASSWORD: `the first owner's password, ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
  INIT_API_KEY:
    "pur_test_ or pur_live_ key of the first project, created by `purser serve` if the database has no projects",
  ...SIGN_ON_SETTINGS,
  PURSER_URL:
    "URL of the service, for `purser catalog`, `purser export` and `purser mcp` (default: http://127.0.0.1:3300)",
  PURSER_TOKEN: "management token for `purser catalog`, `purser export` and `purser mcp`",
  DATABASE_URL_FILE: "file to read DATABASE_URL from",
  INIT_OWNER_PASSWORD_FILE: "file to read INIT_OWNER_PASSWORD from",
  INIT_API_KEY_FILE: "file to read INIT_API_KEY from",
  OIDC_CLIENT_SECRET_FILE: "file to read OIDC_CLIENT_SECRET from",
  PURSER_TOKEN_FILE: "file to read PURSER_TOKEN from",
} as const;

export function readConfig(overrides: Environment = {}): Config {
  const environment: Environment = { ...process.env, ...overrides };
  const problems: string[] = [];
  const config = {
    databaseUrl: readDatabaseUrl(environment, problems),
    databaseWaitSeconds: readInteger(
      environment,
      "DATABASE_WAIT_SECONDS",
      { fallback: 120, min: 0, max: 3_600 },
      problems,
    ),
    host: environment["HOST"] || "127.0.0.1",
    port: readInteger(environment, "PORT", { fallback: 3300, min: 0, max: 65_535 }, problems),
    publicUrl: readPublicUrl(environment, problems),
    metricsHost: environment["METRICS_HOST"] || "127.0.0.1",
    metricsPort: readInteger(environment, "METRICS_PORT", { fallback: 9464, min: 0, max: 65_535 }, problems),
    lanes: readInteger(environment, "LANES", { fallback: 1, min: 1, max: 64 }, problems),
    idempotencyDays: environment["IDEMPOTENCY_DAYS"]
      ? readInteger(environment, "IDEMPOTENCY_DAYS", { fallback: 0, min: 40, max: 36_500 }, problems)
      : null,
    sessionIdleHours: readInteger(
      environment,
      "SESSION_IDLE_HOURS",
      { fallback: 12, min: 1, max: 336 },
      problems,
    ),
    keyGraceSeconds: readInteger(
      environment,
      "KEY_GRACE_SECONDS",
      { fallback: 300, min: 0, max: 3_600 },
      problems,
    ),
    allowsPrivateWebhooks: readWebhookTargets(environment, problems) === "any",
    logLevel: readLogLevel(environment, problems),
    tracing: readTraceSettings(environment, problems),
    trustProxy: readTrustProxy(environment["TRUST_PROXY"] ?? "", problems),
    tls: readTls(environment, problems),
    signOn: readSignOnSettings(
      environment,
      readSecret(environment, "OIDC_CLIENT_SECRET", problems),
      problems,
    ),
    init: {
      owner: readFirstOwner(environment, problems),
      apiKey: readFirstApiKey(environment, problems),
    },
  };
  if (config.publicUrl !== null && !isLoopbackHost(new URL(config.publicUrl).hostname))
    rejectPlaceholders(config, problems);
  if (problems.length > 0) throw new ConfigInvalid(problems.join("\n"));
  return Object.freeze(config);
}

/** Settings of a command that calls a running service instead of its database. */
export type ClientConfig = { readonly url: string; readonly token: string };

export function readClientConfig(overrides: Environment = {}): ClientConfig {
  const environment: Environment = { ...process.env, ...overrides };
  const url = environment["PURSER_URL"] || "http://127.0.0.1:3300";
  const problems: string[] = [];
  const token = readSecret(environment, "PURSER_TOKEN", problems) ?? "";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    problems.push("PURSER_URL must start with http:// or https://");
  if (token === "" && problems.length === 0)
    problems.push("PURSER_TOKEN must be set to a management token, pur_mgmt_…");
  if (problems.length > 0) throw new ConfigInvalid(problems.join("\n"));
  return Object.freeze({ url: url.replace(/\/+$/, ""), token });
}

/** Reads a secret; null if it is not set. Messages name the setting, never its value. */
function readSecret(environment: Environment, name: Secret, problems: string[]): string | null {
  const value = environment[name] || null;
  const file = environment[`${name}_FILE`] || null;
  if (file === null) return value;
  if (value !== null) {
    problems.push(`${name} and ${name}_FILE must not both be set`);
    return value;
  }
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "") || null;
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    problems.push(`${name}_FILE points to a file that cannot be read: ${reason}`);
    return null;
  }
}

const FOLLOW_PRIMARY = "use an address that follows the primary, such as a proxy or a virtual IP";

function readDatabaseUrl(environment: Environment, problems: string[]): string {
  const before = problems.length;
  const url = readSecret(environment, "DATABASE_URL", problems) ?? "";
  if (problems.length === before && !/^postgres(ql)?:\/\//.test(url))
    problems.push("DATABASE_URL must be set, and start with postgres://");
  // The driver would treat a list of hosts as one host name, and silently ignore target_session_attrs.
  const [authority = ""] = url.replace(/^\w+:\/\//, "").split(/[/?]/, 1);
  if (authority.slice(authority.lastIndexOf("@") + 1).includes(",") || /[?&]host=[^&]*(,|%2c)/i.test(url))
    problems.push(`DATABASE_URL must contain exactly one host: ${FOLLOW_PRIMARY}`);
  if (/[?&]target_session_attrs=/.test(url))
    problems.push(`DATABASE_URL must not contain target_session_attrs: ${FOLLOW_PRIMARY}`);
  return url;
}

function readPublicUrl(environment: Environment, problems: string[]): string | null {
  const text = environment["PUBLIC_URL"] || null;
  if (text === null) return null;
  const url = URL.parse(text);
  const isOrigin = url !== null && `${url.origin}/` === url.href && /^https?:$/.test(url.protocol);
  if (isOrigin && (url.protocol === "https:" || isLoopbackHost(url.hostname))) return url.origin;
  problems.push(
    "PUBLIC_URL must be an https:// URL without a path, such as https://purser.example.com (http:// is allowed on localhost)",
  );
  return null;
}

/** Placeholder passwords from examples, without hyphens. */
const PLACEHOLDERS = ["changeme", "chooseapassword", "example", "password", "postgres", "purser", "secret"];

/** An installation that others can reach must not use a password from an example. */
function rejectPlaceholders({ databaseUrl, init }: Pick<Config, "databaseUrl" | "init">, problems: string[]) {
  const passwords = {
    DATABASE_URL: URL.parse(databaseUrl)?.password,
    INIT_OWNER_PASSWORD: init.owner?.password,
  };
  for (const [name, password = ""] of Object.entries(passwords)) {
    if (!PLACEHOLDERS.includes(password.toLowerCase().replaceAll(/[-_ ]/g, ""))) continue;
    problems.push(
      `${name} uses a placeholder password, which is not allowed when PUBLIC_URL is not on localhost`,
    );
  }
}

function readInteger(
  environment: Environment,
  name: keyof typeof SETTINGS,
  range: { fallback: number; min: number; max: number },
  problems: string[],
): number {
  const text = environment[name];
  if (text === undefined || text === "") return range.fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < range.min || value > range.max) {
    problems.push(
      `${name} must be an integer from ${range.min} to ${range.max}, not ${JSON.stringify(text)}`,
    );
  }
  return value;
}

function readWebhookTargets(environment: Environment, problems: string[]): string {
  const targets = environment["WEBHOOK_TARGETS"] || "public";
  if (targets !== "public" && targets !== "any") problems.push("WEBHOOK_TARGETS must be public or any");
  return targets;
}

function readLogLevel(environment: Environment, problems: string[]): string {
  const level = environment["LOG_LEVEL"] || "info";
  if (!LOG_LEVELS.includes(level)) problems.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}`);
  return level;
}

function readTls(environment: Environment, problems: string[]): Config["tls"] {
  const certFile = environment["TLS_CERT_FILE"] || null;
  const keyFile = environment["TLS_KEY_FILE"] || null;
  if (certFile !== null && keyFile !== null) return { certFile, keyFile };
  if (certFile !== null || keyFile !== null)
    problems.push("TLS_CERT_FILE and TLS_KEY_FILE must be set together");
  return null;
}

/** Reads the initial owner. Messages contain neither the email nor the password. */
function readFirstOwner(environment: Environment, problems: string[]): Config["init"]["owner"] {
  const email = environment["INIT_OWNER_EMAIL"] || null;
  const password = readSecret(environment, "INIT_OWNER_PASSWORD", problems);
  if (email === null && password === null) return null;
  if (email === null || password === null) {
    problems.push("INIT_OWNER_EMAIL and INIT_OWNER_PASSWORD must be set together");
    return null;
  }
  if (!isEmail(email)) problems.push("INIT_OWNER_EMAIL must be an email address");
  return { email, password };
}

function readFirstApiKey(environment: Environment, problems: string[]): string | null {
  const key = readSecret(environment, "INIT_API_KEY", problems);
  if (key !== null && !isWellFormedApiKey(key)) {
    problems.push(
      "INIT_API_KEY must be a key in Purser's format: pur_test_ or pur_live_, 32 random characters and a 6-character checksum",
    );
  }
  return key;
}
