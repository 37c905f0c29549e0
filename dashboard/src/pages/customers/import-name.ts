const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,119}$/;

export function isImportName(name: string): boolean {
  return NAME.test(name);
}

/** "Opening balances (1).csv" as "Opening-balances-1". */
export function importNameOf(fileName: string): string {
  return fileName
    .replace(/\.[^.]+$/, "")
    .replaceAll(/[^A-Za-z0-9._:-]+/g, "-")
    .replaceAll(/^[^A-Za-z0-9]+|-+$/g, "")
    .slice(0, 120);
}
