import { isIPv6 } from "node:net";

const GROUPS = 8;
const GROUPS_OF_64_BITS = 4;

/**
 * Returns the network of one subscriber: an IPv4 address, or an IPv6 /64 network, in which a subscriber can choose any address. IPv4
 * written as IPv6 (`::ffff:203.0.113.9`) counts as IPv4.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1);
  if (!isIPv6(plain)) return address;
  const groups = readGroups(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  }
  const prefix = groups.slice(0, GROUPS_OF_64_BITS).map((group) => group.toString(16));
  return `${prefix.join(":")}::/64`;
}

/** Whether a URL's host name is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** The eight groups of a valid IPv6 address in any notation. */
function readGroups(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const before = readPart(head);
  const after = tail === undefined ? [] : readPart(tail);
  const gap = GROUPS - before.length - after.length;
  return [...before, ...Array.from({ length: gap }, () => 0), ...after];
}

function readPart(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
