import { BlockList, isIP, isIPv6, type Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";

/**
 * Spec 1: the service must not be called from a browser. Browsers cannot hide these two headers. `Sec-Fetch-Mode`
 * is no sign of one: Node's own fetch sends it.
 */
export function refuseBrowsers(request: FastifyRequest): void {
  if (request.headers.origin === undefined && request.headers["sec-fetch-site"] === undefined) return;
  throw new Problem("browser_not_allowed", {
    detail: "Call Purser from your backend: an API key can spend credits and must never reach a browser.",
  });
}

export type ProxyTrust = (address: string | undefined) => boolean;

/** Refuses what a trusted proxy says came over plain http: the API key has travelled in the clear. */
export function refusePlainHttp(request: FastifyRequest, isTrusted: ProxyTrust): void {
  if (forwardedProtocol(request, isTrusted) !== "http") return;
  throw new Problem("tls_required", {
    detail:
      "This call came over plain http, so its API key may have been read on the way. Use https, and rotate the key.",
  });
}

/** How the caller reached a proxy that we trust. Null: there is none, or it does not say. */
export function forwardedProtocol(request: FastifyRequest, isTrusted: ProxyTrust): string | null {
  const forwarded = request.headers["x-forwarded-proto"];
  if (forwarded === undefined || !isTrusted(request.socket.remoteAddress)) return null;
  // The nearest proxy appends last, and it is the one we trust.
  return String(forwarded).split(",").at(-1)?.trim().toLowerCase() ?? null;
}

export type CameFrom = Pick<FastifyRequest, "ip"> & { readonly raw: { readonly socket: Socket } };

/** Where a call came from. A proxy may pass on whatever the caller wrote: what is no address is replaced by the proxy's own. */
export function addressOf({ ip, raw }: CameFrom): string {
  return isIP(ip) === 0 ? (raw.socket.remoteAddress ?? "") : ip;
}

/** From `TRUST_PROXY`: addresses and CIDR ranges. */
export function trustProxies(ranges: readonly string[]): ProxyTrust {
  const trusted = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (isIP(address) === 0) throw new Error(`not an address or range: ${range}`);
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    if (address === undefined) return false;
    const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
    return trusted.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
  };
}
