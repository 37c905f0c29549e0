import type { FastifyRequest } from "fastify";
import { type ProxyTrust, trustProxies } from "./guard.ts";

/** Log message and health warning about an untrusted proxy. */
export const UNTRUSTED_PROXY =
  "X-Forwarded-For came from an address that TRUST_PROXY does not cover. If the address belongs to your proxy, add it to TRUST_PROXY; " +
  "until then, everyone behind the proxy shares one limit on login attempts. If not, ignore this warning: anyone can send the header.";

/** Detects a proxy that `TRUST_PROXY` does not cover. All callers behind the proxy appear to have its address. */
export class ProxyWatch {
  readonly isTrusted: ProxyTrust;
  readonly #onFirst: (address: string) => void;
  #untrusted: string | null = null;

  constructor(trustProxy: readonly string[], onFirst: (address: string) => void) {
    this.isTrusted = trustProxies(trustProxy);
    this.#onFirst = onFirst;
  }

  /** The last untrusted address that forwarded a call. Null if there is none. */
  get untrusted(): string | null {
    return this.#untrusted;
  }

  notice(request: FastifyRequest): void {
    const address = request.socket.remoteAddress;
    if (request.headers["x-forwarded-for"] === undefined || address === undefined) return;
    if (this.isTrusted(address)) return;
    const isFirst = this.#untrusted === null;
    this.#untrusted = address;
    if (isFirst) this.#onFirst(address);
  }
}
