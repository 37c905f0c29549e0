import { BlockList, isIP, type LookupFunction } from "node:net";
import { lookUpInTurn, type Resolve, resolvePublic } from "./resolve.ts";

export type TargetPolicy = {
  /** Allows http, private addresses and local host names, for an installation that sends webhooks within its own network. */
  readonly allowPrivate: boolean;
};

const URL_LENGTH_MAX = 2_000;
/** Names that lead to this computer or its network, and names without a dot. */
const LOCAL_NAME = /^[^.]*$|\.(localhost|local|internal)$/;

/** Returns why a webhook cannot be sent to this URL, or null. A host name is resolved and checked later, by `guardLookup`. */
export function refuseTarget(url: string, { allowPrivate }: TargetPolicy): string | null {
  if (url.length > URL_LENGTH_MAX) return "must have at most 2,000 characters";
  const isWeb = allowPrivate ? /^https?:\/\//i : /^https:\/\//i;
  if (!isWeb.test(url)) return `must start with https://${allowPrivate ? " or http://" : ""}`;
  const parsed = URL.parse(url);
  // A URL parser ignores line breaks and reads a backslash as a slash, so that a person could read another host.
  if (parsed === null || /[\s\\\p{Cc}]/u.test(url)) return "must be a valid URL";
  if (parsed.username !== "" || parsed.password !== "") return "must not contain a user name or password";
  if (url.includes("#")) return "must not contain a fragment (#)";
  if (allowPrivate) return null;
  const host = parsed.hostname.replace(/^\[|\]$|\.+$/g, "");
  if (isIP(host) !== 0)
    return isPublicAddress(host) ? null : "must not contain a private or reserved address";
  return LOCAL_NAME.test(host) ? "must have a public host name" : null;
}

/** Address ranges outside the public internet, and ranges that embed an IPv4 address, which may be private. */
const RESERVED = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10", // shared by providers; metadata of Alibaba Cloud
  "127.0.0.0/8",
  "168.63.129.16/32", // Azure's platform services, at a public address
  "169.254.0.0/16", // link-local; metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24", // protocol assignments; metadata of Oracle Cloud
  "192.0.2.0/24", // documentation, as are 198.51.100.0/24 and 203.0.113.0/24
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16",
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "2001::/23", // protocol assignments, including Teredo
  "2001:db8::/32", // documentation, as is 3fff::/20
  "2002::/16", // 6to4
  "3fff::/20",
];

/**
 * IPv6 assigns public addresses only in 2000::/3. This leaves out loopback, private, link-local, multicast, NAT64 and IPv4-compatible
 * addresses.
 */
const publicAddresses = listOf(["0.0.0.0/0", "2000::/3"]);
const reservedAddresses = listOf(RESERVED);

/** Whether an address belongs to the public internet. An IPv4-mapped address (`::ffff:203.0.113.9`) is judged as IPv4. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 6 ? "ipv6" : "ipv4";
  return publicAddresses.check(address, family) && !reservedAddresses.check(address, family);
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

export class LookupFailed extends Error {
  override readonly name = "LookupFailed";
  readonly reason: "dns" | "refused_address";

  constructor(reason: LookupFailed["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Makes the `lookup` function of a connection. It fails if any address of a host is not public. The connection uses the addresses that
 * were checked, so DNS that changes its answer after a check cannot redirect it. Node does not call `lookup` for a literal address.
 */
export function guardLookup(
  { allowPrivate }: TargetPolicy,
  resolve: Resolve = allowPrivate ? lookUpInTurn() : resolvePublic(),
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = error === null ? addresses : [];
      if (first === undefined) {
        const message = `The host name could not be resolved (${error?.code ?? "no addresses"})`;
        return callback(new LookupFailed("dns", message), []);
      }
      if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
        // Without the address, so that a failed delivery does not reveal the names of a private network.
        const message = "The host name resolves to an address that is not public";
        return callback(new LookupFailed("refused_address", message), []);
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
