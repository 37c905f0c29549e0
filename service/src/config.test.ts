import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readClientConfig, readConfig } from "./config.ts";
import { makeSecret } from "./primitives/secret.ts";

const URL = "postgres://purser:secret@db.internal/purser";
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
    DATABASE_URL_FILE: write(`${URL}\n`),
    INIT_OWNER_PASSWORD_FILE: write("seven green kettles \r\n"),
    INIT_API_KEY_FILE: write(key),
  });
  expect(config.databaseUrl).toBe(URL);
  expect(config.init).toEqual({
    owner: { email: EMAIL.INIT_OWNER_EMAIL, password: "seven green kettles " },
    apiKey: key,
  });
  expect(readClientConfig({ PURSER_TOKEN_FILE: write("pur_mgmt_1\n") }).token).toBe("pur_mgmt_1");
});

test("a secret that is set twice, or whose file cannot be read, is rejected without printing it", () => {
  const both = { DATABASE_URL: URL, DATABASE_URL_FILE: write(URL) };
  expect(() => readConfig(both)).toThrow(/^DATABASE_URL and DATABASE_URL_FILE must not both be set$/);
  expect(() => readConfig({ DATABASE_URL_FILE: "/no/such/file" })).toThrow(
    /^DATABASE_URL_FILE names a file that cannot be read: ENOENT$/,
  );
  const twice = { PURSER_TOKEN: "pur_mgmt_1", PURSER_TOKEN_FILE: write("pur_mgmt_2") };
  expect(() => readClientConfig(twice)).toThrow(/^PURSER_TOKEN and PURSER_TOKEN_FILE must not both be set$/);
});
