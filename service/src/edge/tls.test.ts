import { execFile, execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { setup } from "../../test/harness.ts";
import { withJobClock } from "../../test/job-clock.ts";

const run = promisify(execFile);
const EVENT = JSON.stringify({ customerId: "c", event: "e", quantity: 1 });

function makeCertificate(): { TLS_CERT_FILE: string; TLS_KEY_FILE: string } {
  const directory = mkdtempSync(join(tmpdir(), "purser-tls-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const name = ["-subj", "/CN=purser", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", ...kind, ...name, ...files], { stdio: "ignore" });
  return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
}

test("with a certificate, the service serves HTTPS", async () => {
  const { service, project, database } = await setup(makeCertificate());
  expect(service.url).toMatch(/^https:/);
  const { stdout } = await run("curl", [
    ...["-sk", "-o", "/dev/null", "-w", "%{http_code} %{scheme}"],
    ...["-H", `authorization: Bearer ${project.test.key.secret}`, "-H", "content-type: application/json"],
    ...["-d", EVENT, `${service.url}/v1/events`],
  ]);
  expect(stdout.toLowerCase()).toBe("200 https");
  expect(await database.count("cell.events")).toBe(1);
});

test("the server uses the configured certificate", async () => {
  const files = makeCertificate();
  const { service } = await setup(files);
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}/livez`, { ca: readFileSync(files.TLS_CERT_FILE) });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => resolve(incoming.resume().statusCode));
    outgoing.end();
  });
  expect(status).toBe(200);
});

test("plain HTTP on the TLS port gets no response", async () => {
  const { service, project, database } = await setup(makeCertificate());
  const plain = fetch(`${service.url.replace("https", "http")}/v1/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${project.test.key.secret}`, "content-type": "application/json" },
    body: EVENT,
  });
  const status = await plain.then(
    (reply) => reply.status,
    () => "no answer",
  );
  expect(["no answer", 400]).toContain(status);
  expect(await database.count("cell.events")).toBe(0);
});

type Handshake = { readonly fingerprint: string; readonly cipher: string; readonly protocol: string | null };

function shake(url: string, options: object = {}): Promise<Handshake> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ...options });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      const { fingerprint256: fingerprint } = socket.getPeerCertificate();
      resolve({ fingerprint, cipher: socket.getCipher().name, protocol: socket.getProtocol() });
      socket.destroy();
    });
  });
}

test("only forward-secret cipher suites are accepted, and replies have HSTS", async () => {
  const files = makeCertificate();
  const { service } = await setup(files);
  expect((await shake(service.url)).protocol).toBe("TLSv1.3");
  const old = { maxVersion: "TLSv1.2" };
  expect((await shake(service.url, old)).cipher).toMatch(/^ECDHE-ECDSA-.*(GCM|POLY1305)/);
  for (const options of [
    { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-SHA" },
    { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" },
  ]) {
    await expect(shake(service.url, options)).rejects.toThrow();
  }
  const { stdout } = await run("curl", ["-skI", `${service.url}/livez`]);
  expect(stdout).toContain("strict-transport-security: max-age=31536000");
});

test("a renewed certificate is used without a restart, and a broken certificate is ignored", async () => {
  const [files, renewed] = [makeCertificate(), makeCertificate()];
  const { service, pass } = await withJobClock(() => setup(files));
  // A service reads the files every 5 s.
  const passInterval = () => pass(5_000);
  const first = await shake(service.url);
  writeFileSync(files.TLS_CERT_FILE, "not a certificate");
  passInterval();
  expect((await shake(service.url)).fingerprint).toBe(first.fingerprint);
  copyFileSync(renewed.TLS_CERT_FILE, files.TLS_CERT_FILE);
  copyFileSync(renewed.TLS_KEY_FILE, files.TLS_KEY_FILE);
  passInterval();
  const { fingerprint256 } = new X509Certificate(readFileSync(renewed.TLS_CERT_FILE));
  const shown = async () => (await shake(service.url)).fingerprint;
  await expect.poll(shown, { timeout: 20_000, interval: 500 }).toBe(fingerprint256);
}, 60_000);
