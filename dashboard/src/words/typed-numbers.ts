/** "1500", "1,500" and "1 500" as "1500". Null of anything else: whoever types "49,90" means no thousands. */
export function readWhole(text: string): string | null {
  const plain = text.trim();
  return /^(\d+|\d{1,3}([,\s]\d{3})+)$/.test(plain) ? plain.replaceAll(/[,\s]/g, "") : null;
}
