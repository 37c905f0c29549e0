import { BlockList, isIP, isIPv6, type Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";

/**
 * Rejects calls from browsers. A web page cannot suppress the two headers checked here. `Sec-Fetch-Mode` is not checked, because
 * Node's fetch also sends it.
 */
export function refuseBrowsers(request: FastifyRequest): void {
  if (request.headers.origin === undefined && request.headers["sec-fetch-site"] === undefined) return;
  throw new Problem("browser_not_allowed", {
    detail: "Call Purser from your backend: an API key can spend credits and must never reach a browser.",
  });
}

export type ProxyTrust = (address: string | undefined) => boolean;

/** Rejects a call that reached a trusted proxy over plain HTTP, because its credential was sent unencrypted. */
export function refusePlainHttp(request: FastifyRequest, isTrusted: ProxyTrust): void {
  if (forwardedProtocol(request, isTrusted) !== "http") return;
  throw new Problem("tls_required", {
    detail:
      "This call used plain HTTP, so its API key may have been intercepted. Use HTTPS, and rotate the key.",
  });
}

/** The protocol between the caller and a trusted proxy. Null without a trusted proxy or without `X-Forwarded-Proto`. */
export function forwardedProtocol(request: FastifyRequest, isTrusted: ProxyTrust): string | null {
  const forwarded = request.headers["x-forwarded-proto"];
  if (forwarded === undefined || !isTrusted(request.socket.remoteAddress)) return null;
  // The nearest proxy, which is the trusted one, appends its value last.
  return String(forwarded).split(",").at(-1)?.trim().toLowerCase() ?? null;
}

export type CameFrom = Pick<FastifyRequest, "ip"> & { readonly raw: { readonly socket: Socket } };

/** The caller's address. If a proxy forwards text that is not an address, the proxy's own address is used. */
export function addressOf({ ip, raw }: CameFrom): string {
  return isIP(ip) === 0 ? (raw.socket.remoteAddress ?? "") : ip;
}

/** Reads `TRUST_PROXY`, a comma-separated list of addresses and CIDR ranges. */
export function readTrustProxy(text: string, problems: string[]): string[] {
  const given = text
    .split(",")
    .map((range) => range.trim())
    .filter((range) => range !== "");
  for (const range of given) {
    const [address = "", prefix = "0"] = range.split("/");
    const bits = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits) continue;
    problems.push(`TRUST_PROXY contains ${JSON.stringify(range)}, which is not an address or CIDR range`);
  }
  return given;
}

/** Whether an address is one of the proxies in `ranges`. */
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
