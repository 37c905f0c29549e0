import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import type { Resolve } from "./resolve.ts";
import { guardLookup, isPublicAddress, LookupFailed, refuseTarget } from "./target.ts";

const PUBLIC_ONLY = { allowPrivate: false };
const PRIVATE_TOO = { allowPrivate: true };

const ADDRESS = "must not contain a private or reserved address";
const NAME = "must have a public host name";
const INVALID = "must be a valid URL";
const SCHEME = "must start with https://";

test.each([
  // Loopback and "this host", also as decimal, octal, hexadecimal, shortened and full-width numbers.
  ["https://127.0.0.1/", ADDRESS],
  ["https://127.0.0.1:8443/hook", ADDRESS],
  ["https://127.255.255.254/", ADDRESS],
  ["https://127.0.0.1./", ADDRESS],
  ["https://127.1/", ADDRESS],
  ["https://2130706433/", ADDRESS],
  ["https://017700000001/", ADDRESS],
  ["https://0x7f000001/", ADDRESS],
  ["https://0x7f.1/", ADDRESS],
  ["https://0177.0.0.01/", ADDRESS],
  ["https://%31%32%37.0.0.1/", ADDRESS],
  ["https://１２７.0.0.1/", ADDRESS],
  ["https://127。0。0。1/", ADDRESS],
  ["https://0.0.0.0/", ADDRESS],
  ["https://0/", ADDRESS],
  ["https://[::1]/", ADDRESS],
  ["https://[0:0:0:0:0:0:0:1]/", ADDRESS],
  ["https://[::]/", ADDRESS],
  // Private and link-local networks, and the metadata services of clouds.
  ["https://10.0.0.1/", ADDRESS],
  ["https://172.16.0.1/", ADDRESS],
  ["https://172.31.255.255/", ADDRESS],
  ["https://192.168.1.1/", ADDRESS],
  ["https://0xC0A80101/", ADDRESS],
  ["https://169.254.169.254/latest/meta-data/", ADDRESS],
  ["https://2852039166/latest/meta-data/", ADDRESS],
  ["https://0251.0376.0251.0376/", ADDRESS],
  ["https://100.100.100.200/", ADDRESS],
  ["https://192.0.0.192/", ADDRESS],
  ["https://168.63.129.16/", ADDRESS],
  ["https://[fd00:ec2::254]/", ADDRESS],
  ["https://[fe80::1]/", ADDRESS],
  ["https://[fec0::1]/", ADDRESS],
  // IPv4 within IPv6: mapped, compatible, NAT64, 6to4 and Teredo.
  ["https://[::ffff:127.0.0.1]/", ADDRESS],
  ["https://[::ffff:7f00:1]/", ADDRESS],
  ["https://[0:0:0:0:0:FFFF:10.0.0.1]/", ADDRESS],
  ["https://[::ffff:169.254.169.254]/", ADDRESS],
  ["https://[::127.0.0.1]/", ADDRESS],
  ["https://[64:ff9b::10.0.0.1]/", ADDRESS],
  ["https://[64:ff9b:1::7f00:1]/", ADDRESS],
  ["https://[2002:7f00:1::]/", ADDRESS],
  ["https://[2001:0:7f00:1::]/", ADDRESS],
  // Names of this computer or its network.
  ["https://localhost/", NAME],
  ["https://LOCALHOST:8443/", NAME],
  ["https://localhost./", NAME],
  ["https://localhost../", NAME],
  ["https://api.localhost/", NAME],
  ["https://lo%63alhost/", NAME],
  ["https://ⓛocalhost/", NAME],
  ["https://printer.local/", NAME],
  ["https://metadata.google.internal/", NAME],
  ["https://metadata.google.internal./", NAME],
  ["https://postgres/", NAME],
  ["https://postgres./", NAME],
  // Other schemes, and URLs that a person could read differently.
  ["http://example.com/", SCHEME],
  ["HTTP://example.com/", SCHEME],
  ["ftp://example.com/", SCHEME],
  ["file:///etc/passwd", SCHEME],
  ["javascript:alert(1)", SCHEME],
  ["//example.com/", SCHEME],
  ["/hook", SCHEME],
  ["", SCHEME],
  [" https://example.com/", SCHEME],
  ["https:example.com", SCHEME],
  ["https://", INVALID],
  ["https://[fe80::1%25eth0]/", INVALID],
  ["https://1.2.3.4.5/", INVALID],
  ["https://example.com:70000/", INVALID],
  ["https://exam\nple.com/", INVALID],
  ["https://example.com/\u0000", INVALID],
  ["https://example.com\\@10.0.0.1/", INVALID],
  ["https://user@example.com/", "must not contain a user name or password"],
  ["https://:password@example.com/", "must not contain a user name or password"],
  ["https://example.com@127.0.0.1/", "must not contain a user name or password"],
  ["https://example.com/#part", "must not contain a fragment (#)"],
  ["https://example.com/#", "must not contain a fragment (#)"],
  [`https://example.com/${"a".repeat(1_981)}`, "must have at most 2,000 characters"],
])("%j is refused: %s", (url, reason) => {
  expect(refuseTarget(url, PUBLIC_ONLY)).toBe(reason);
});

test.each([
  "https://example.com",
  "HTTPS://EXAMPLE.COM/HOOK",
  "https://hooks.example.com:8443/purser?tenant=1&key=%23",
  "https://example.com./",
  "https://localhost.example.com/",
  "https://internal.example/",
  "https://notlocalhost.dev/",
  "https://xn--bcher-kva.example/",
  "https://bücher.example/",
  "https://8.8.8.8/",
  "https://172.32.0.1/",
  "https://[2606:4700:4700::1111]/",
  "https://[::ffff:8.8.8.8]/",
  `https://example.com/${"a".repeat(1_980)}`,
])("%j is accepted", (url) => {
  expect(refuseTarget(url, PUBLIC_ONLY)).toBeNull();
});

test("private targets can be allowed, but other rules still apply", () => {
  for (const url of ["http://postgres:8080/", "http://10.0.0.1/", "https://[::1]/", "https://localhost/"])
    expect(refuseTarget(url, PRIVATE_TOO)).toBeNull();
  expect(refuseTarget("http://user@postgres/", PRIVATE_TOO)).toBe("must not contain a user name or password");
  expect(refuseTarget("http://postgres/#", PRIVATE_TOO)).toBe("must not contain a fragment (#)");
  expect(refuseTarget("file:///hook", PRIVATE_TOO)).toBe("must start with https:// or http://");
});

/** First and last address of each range, with its neighbours if they are public. */
test.each([
  [null, "0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
  ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
  ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
  ["168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"],
  ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
  ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
  ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
  ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
  ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
  ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
  ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
  ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
  ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
  ["223.255.255.255", "224.0.0.0", "255.255.255.255", null],
  [null, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", null],
  [null, "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
  ["2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"],
  ["2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"],
  ["3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"],
  ["3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", null],
])("%s is public, %s to %s are not, %s is public", (before, first, last, after) => {
  expect([before, after].filter((address) => address !== null && !isPublicAddress(address))).toEqual([]);
  expect([first, last].filter(isPublicAddress)).toEqual([]);
});

test.each([
  "100::1",
  "ff02::1",
  "fc00::1",
  "fe80::1%eth0",
  "::ffff:100.64.0.1",
  "::8.8.8.8",
  "10.1",
  "example.com",
  "",
])("%j is not a public address", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

const answering =
  (...addresses: string[]): Resolve =>
  (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
    );

/** The addresses that `lookup` returns to a connection. */
function lookUp(options: { allowPrivate: boolean; resolve: Resolve; all?: boolean }) {
  const { allowPrivate, resolve, all = true } = options;
  const lookup = guardLookup({ allowPrivate }, resolve);
  return new Promise((done, reject) => {
    lookup("example.com", { all }, (error, address, family) => {
      if (error !== null) reject(error);
      else done(all ? address : { address, family });
    });
  });
}

test("lookup returns all addresses or the first one", async () => {
  const both = { ...PUBLIC_ONLY, resolve: answering("8.8.8.8", "2606:4700::1") };
  const first = { address: "8.8.8.8", family: 4 };
  expect(await lookUp(both)).toEqual([first, { address: "2606:4700::1", family: 6 }]);
  expect(await lookUp({ ...both, all: false })).toEqual(first);
});

test.each([
  ["10.0.0.1"],
  ["8.8.8.8", "127.0.0.1"],
  ["8.8.8.8", "::1"],
  ["::ffff:10.0.0.1"],
  ["not an address"],
])("lookup refuses a host if any address is not public: %j, %j", async (...addresses) => {
  const resolve = answering(...addresses);
  const refused = expect.objectContaining({ name: "LookupFailed", reason: "refused_address" });
  await expect(lookUp({ ...PUBLIC_ONLY, resolve })).rejects.toEqual(refused);
  await expect(lookUp({ ...PUBLIC_ONLY, resolve, all: false })).rejects.toEqual(refused);
  expect(await lookUp({ ...PRIVATE_TOO, resolve, all: false })).toMatchObject({ address: addresses[0] });
});

test("lookup reports a name without addresses as a DNS failure", async () => {
  const missing: Resolve = (_hostname, _options, callback) =>
    callback(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }), []);
  const failure = await lookUp({ ...PUBLIC_ONLY, resolve: missing }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LookupFailed);
  expect(failure).toMatchObject({
    reason: "dns",
    message: "The host name could not be resolved (ENOTFOUND)",
  });
  await expect(lookUp({ ...PRIVATE_TOO, resolve: answering() })).rejects.toMatchObject({ reason: "dns" });
});
