export type Shape = { readonly name: string; readonly text: string };

/** Bodies of about this size that are especially expensive to parse, validate and traverse. */
export function hostileBodies(fields: readonly string[], bytes: number): Shape[] {
  const [first = "a"] = fields;
  const fill = (piece: (index: number) => string, separator: string, room = bytes - 64): string => {
    const pieces: string[] = [];
    for (let length = 0; length < room; ) {
      const next = piece(pieces.length);
      pieces.push(next);
      length += next.length + separator.length;
    }
    return pieces.join(separator);
  };
  const inField = (field: string, value: string): string => `{${JSON.stringify(field)}:${value}}`;
  const inEach = (value: (room: number) => string): string => {
    const room = Math.floor((bytes - 256) / Math.max(1, fields.length));
    return `{${fields.map((field) => `${JSON.stringify(field)}:${value(room - field.length - 4)}`).join(",")}}`;
  };
  const half = Math.floor(bytes / 2) - 64;
  return [
    { name: "many unknown fields", text: `{${fill((i) => `"${i.toString(36)}":1`, ",")}}` },
    {
      name: "many unknown fields, the last twice",
      text: `{${fill((i) => `"${i.toString(36)}":1`, ",")},"0":1}`,
    },
    { name: "one field repeated", text: `{${fill(() => `"${first}":1`, ",")}}` },
    { name: "a wide array of numbers", text: inField(first, `[${fill(() => "1", ",")}]`) },
    { name: "a wide array of nulls", text: inField(first, `[${fill(() => "null", ",")}]`) },
    { name: "a wide array of strings", text: inField(first, `[${fill((i) => `"${i}"`, ",")}]`) },
    { name: "a wide array of objects", text: inField(first, `[${fill((i) => `{"${i % 10}":1}`, ",")}]`) },
    { name: "a wide array in every field", text: inEach((room) => `[${fill(() => "1", ",", room)}]`) },
    { name: "a long string in every field", text: inEach((room) => `"${"a".repeat(Math.max(0, room))}"`) },
    { name: "escapes in every field", text: inEach((room) => `"${fill(() => "\\ud800", "", room - 8)}"`) },
    { name: "a long number", text: inField(first, "1".repeat(bytes - 64)) },
    { name: "arrays in arrays", text: inField(first, "[".repeat(half) + "]".repeat(half)) },
    {
      name: "objects in objects",
      text: inField(
        first,
        `${'{"a":'.repeat(Math.floor(bytes / 6) - 20)}1${"}".repeat(Math.floor(bytes / 6) - 20)}`,
      ),
    },
    {
      name: "__proto__ at the end",
      text: `{${fill((i) => `"${i.toString(36)}":1`, ",")},"__proto__":1}`,
    },
    { name: "a truncated object", text: `{${fill((i) => `"${i.toString(36)}":1`, ",")},` },
    { name: "only spaces", text: " ".repeat(bytes - 64) },
  ];
}
