import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readClientConfig, readConfig } from "./config.ts";
import { makeSecret } from "./primitives/secret.ts";

const DATABASE = "postgres://purser:secret@db.internal/purser";
const EMAIL = { INIT_OWNER_EMAIL: "boss@example.com" };

function write(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "purser-secret-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "secret");
  writeFileSync(file, text);
  return file;
}

test("every secret can be read from a file, without its final newline", () => {
  const key = makeSecret("pur_test_");
  const config = readConfig({
    ...EMAIL,
    DATABASE_URL_FILE: write(`${DATABASE}\n`),
    INIT_OWNER_PASSWORD_FILE: write("seven green kettles \r\n"),
    INIT_API_KEY_FILE: write(key),
  });
  expect(config.databaseUrl).toBe(DATABASE);
  expect(config.init).toEqual({
    owner: { email: EMAIL.INIT_OWNER_EMAIL, password: "seven green kettles " },
    apiKey: key,
  });
  expect(readClientConfig({ PURSER_TOKEN_FILE: write("pur_mgmt_1\n") }).token).toBe("pur_mgmt_1");
});

test("a secret that is set twice, or whose file cannot be read, is rejected without printing the secret", () => {
  const both = { DATABASE_URL: DATABASE, DATABASE_URL_FILE: write(DATABASE) };
  expect(() => readConfig(both)).toThrow(/^DATABASE_URL and DATABASE_URL_FILE must not both be set$/);
  expect(() => readConfig({ DATABASE_URL_FILE: "/no/such/file" })).toThrow(
    /^DATABASE_URL_FILE points to a file that cannot be read: ENOENT$/,
  );
  const twice = { PURSER_TOKEN: "pur_mgmt_1", PURSER_TOKEN_FILE: write("pur_mgmt_2") };
  expect(() => readClientConfig(twice)).toThrow(/^PURSER_TOKEN and PURSER_TOKEN_FILE must not both be set$/);
});

test("PUBLIC_URL must be an origin and must use https except on localhost", () => {
  const read = (url: string) =>
    readConfig({ DATABASE_URL: "postgres://purser@db.internal/purser", PUBLIC_URL: url }).publicUrl;
  expect(read("")).toBe(null);
  expect(read("https://Purser.example.com:443/")).toBe("https://purser.example.com");
  expect(read("https://purser.example.com:8443")).toBe("https://purser.example.com:8443");
  for (const local of [
    "http://localhost:3300",
    "http://127.0.0.1",
    "http://[::1]:3300",
    "http://a.localhost",
  ])
    expect(read(local)).toBe(local);
  for (const wrong of [
    "purser.example.com",
    "http://purser.example.com",
    "http://localhost.example.com",
    "https://purser.example.com/purser",
    "https://user:secret@purser.example.com",
    "https://purser.example.com?x=1",
    "ftp://localhost",
  ])
    expect(() => read(wrong)).toThrow(/^PUBLIC_URL must be an https:\/\/ URL without a path/);
});

test("a placeholder password is rejected unless PUBLIC_URL is on localhost", () => {
  const read = (publicUrl: string, password: string) =>
    readConfig({
      ...EMAIL,
      PUBLIC_URL: publicUrl,
      DATABASE_URL: `postgres://purser:${password}@db.internal/purser`,
      INIT_OWNER_PASSWORD: password,
    });
  for (const password of ["change-me", "CHANGEME", "choose-a-password", "secret", "password", "postgres"]) {
    expect(() => read("https://purser.example.com", password)).toThrow(
      /^DATABASE_URL uses a placeholder.*\nINIT_OWNER_PASSWORD uses a placeholder.*$/,
    );
    expect(read("http://localhost:3300", password).publicUrl).toBe("http://localhost:3300");
    expect(read("", password).publicUrl).toBe(null);
  }
  expect(read("https://purser.example.com", "seven-green-kettles").init.owner).not.toBe(null);
});

const COLLECTOR = { DATABASE_URL: DATABASE, OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

test.each([
  [{}, "http://collector:4318/v1/traces", "parentbased_always_on", 1],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://other/x" }, "https://other/x", "parentbased_always_on", 1],
  [
    { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" },
    "http://collector:4318/v1/traces",
    "traceidratio",
    0.1,
  ],
])("tracing is configured by OpenTelemetry's variables: %o", (settings, url, sampler, ratio) => {
  expect(readConfig({ ...COLLECTOR, ...settings }).tracing).toEqual({ url, sampler, ratio });
});

test("tracing is off without an endpoint or if it is disabled", () => {
  expect(readConfig({ DATABASE_URL: DATABASE }).tracing).toBe(null);
  expect(readConfig({ ...COLLECTOR, OTEL_SDK_DISABLED: "true" }).tracing).toBe(null);
  expect(readConfig({ ...COLLECTOR, OTEL_TRACES_EXPORTER: "none" }).tracing).toBe(null);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /^OTEL_EXPORTER_OTLP_ENDPOINT must start with http/],
  [{ OTEL_TRACES_SAMPLER: "sometimes" }, /^OTEL_TRACES_SAMPLER must be one of always_on,/],
  [
    { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" },
    /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1$/,
  ],
])("an invalid tracing setting is rejected: %o", (settings, message) => {
  expect(() => readConfig({ ...COLLECTOR, ...settings })).toThrow(message);
});
