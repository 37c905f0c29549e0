import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions, type Server } from "node:tls";

/** Only suites with forward secrecy, so that a stolen private key cannot decrypt recorded traffic. */
const CIPHERS = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

const PROTOCOL = { minVersion: "TLSv1.2", ciphers: CIPHERS, honorCipherOrder: true } as const;

/** TLS certificate and key, reloaded when the files change. */
export class Certificate {
  readonly #files: { readonly certFile: string; readonly keyFile: string };
  #seen: { cert: Buffer; key: Buffer };

  constructor(files: { readonly certFile: string; readonly keyFile: string }) {
    this.#files = files;
    this.#seen = this.#read();
  }

  get options(): SecureContextOptions {
    return { ...PROTOCOL, ...this.#seen };
  }

  /**
   * Returns whether the server now uses a new certificate. Throws once if the certificate and key do not match, for example because
   * only one file was replaced. The server then keeps its old certificate until the files change again.
   */
  reload(server: Pick<Server, "setSecureContext">): boolean {
    const now = this.#read();
    if (now.cert.equals(this.#seen.cert) && now.key.equals(this.#seen.key)) return false;
    this.#seen = now;
    createSecureContext(this.options);
    server.setSecureContext(this.options);
    return true;
  }

  #read(): { cert: Buffer; key: Buffer } {
    return { cert: readFileSync(this.#files.certFile), key: readFileSync(this.#files.keyFile) };
  }
}
