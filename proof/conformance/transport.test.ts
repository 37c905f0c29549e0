import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { setup } from "../../service/test/harness.ts";
import { changedTables } from "./changed-tables.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };

test("a backend that can POST JSON over TLS needs two headers and no library", async () => {
  const { certFile, keyFile } = makeCertificate();
  const { database, service, project } = await setup({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });

  const reply = await postOverTls(`${service.url}/v1/events`, readFileSync(certFile, "utf8"), {
    authorization: `Bearer ${project.test.key.secret}`,
    "content-type": "application/json",
  });

  expect(reply).toMatchObject({ status: 200, protocol: expect.stringMatching(/^TLSv1\.[23]$/) });
  expect(JSON.parse(reply.text)).toMatchObject({ accepted: true });
  expect(await database.count("cell.events")).toBe(1);
});

test("with TLS enabled, plain HTTP gets no response", async () => {
  const { certFile, keyFile } = makeCertificate();
  const { service } = await setup({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
  expect(service.url).toMatch(/^https:/);
  const attempt = fetch(`${service.url.replace("https:", "http:")}/livez`);
  await expect(attempt).rejects.toThrow("fetch failed");
});

test("behind a trusted proxy, a call over plain HTTP is rejected, and nothing is stored", async () => {
  const { database, record } = await setup({ TRUST_PROXY: "127.0.0.1" });
  const changed = await changedTables(database, async () => {
    const reply = await record(EVENT, { "x-forwarded-proto": "http" });
    expect(reply).toMatchObject({ status: 403, body: { code: "tls_required" } });
  });
  expect(changed).toEqual([]);
  expect((await record(EVENT, { "x-forwarded-proto": "https" })).status).toBe(200);
});

test.each([
  ["Origin", { origin: "https://app.example.com" }],
  ["Sec-Fetch-Site", { "sec-fetch-site": "cross-site" }],
  ["Sec-Fetch-Site of the same origin", { "sec-fetch-site": "same-origin" }],
])(
  "a browser detected by %s is rejected despite a valid key, and nothing is stored",
  async (_name, headers) => {
    const { database, record } = await setup();
    const changed = await changedTables(database, async () => {
      const reply = await record(EVENT, headers);
      expect(reply).toMatchObject({ status: 403, body: { code: "browser_not_allowed" } });
    });
    expect(changed).toEqual([]);
  },
);

test("no response has CORS headers, not even the response to a preflight request", async () => {
  const { service, record } = await setup();
  const preflight = await fetch(`${service.url}/v1/events`, {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });
  const answers = [
    preflight,
    await record(EVENT),
    await record(EVENT, { origin: "https://app.example.com" }),
  ];
  for (const { headers } of answers) {
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
  expect(preflight.ok).toBe(false);
});

/** Self-signed, for the address the service listens on. */
function makeCertificate(): { certFile: string; keyFile: string } {
  const directory = mkdtempSync(join(tmpdir(), "purser-tls-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const certFile = join(directory, "cert.pem");
  const keyFile = join(directory, "key.pem");
  const form = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=purser";
  const files = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", certFile, "-keyout", keyFile];
  execFileSync("openssl", ["req", ...form.split(" "), ...files], { stdio: "ignore" });
  return { certFile, keyFile };
}

function postOverTls(
  url: string,
  ca: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; protocol: string | null; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", ca, headers, agent: false }, async (response) => {
      const protocol = response.socket instanceof TLSSocket ? response.socket.getProtocol() : null;
      const text = (await response.toArray()).join("");
      resolve({ status: response.statusCode, protocol, text });
    });
    call.on("error", reject);
    call.end(JSON.stringify(EVENT));
  });
}
