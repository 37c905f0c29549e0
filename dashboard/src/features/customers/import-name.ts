import { toHex } from "../../format/hex.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,119}$/;

export function isImportName(name: string): boolean {
  return NAME.test(name);
}

/**
 * "Opening balances.csv" becomes "Opening-balances-5f0c1a9e". The import name makes an import idempotent. Its suffix is a hash of the
 * content, so a second download of the same file ("… (1).csv") adds nothing. A different file with the same file name gets a different
 * import name.
 */
export async function importNameOf(file: File): Promise<string> {
  const stem = file.name
    .replace(/\.[^.]+$/, "")
    .replace(/\s*\(\d+\)$/, "")
    .replaceAll(/[^A-Za-z0-9._:-]+/g, "-")
    .replaceAll(/^[^A-Za-z0-9]+|-+$/g, "")
    .slice(0, 100);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  const end = toHex(hash.subarray(0, 4));
  return stem === "" ? end : `${stem}-${end}`;
}
