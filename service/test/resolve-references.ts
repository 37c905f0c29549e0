/** Returns the OpenAPI document with every reference replaced by its target. */
export function resolveReferences<T>(document: T): T {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const { $ref, ...rest } = value as Record<string, unknown>;
    const own = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, resolve(part)]));
    if (typeof $ref !== "string") return own;
    const steps = $ref.replace("#/", "").split("/");
    const target = steps.reduce((part: unknown, step) => (part as Record<string, unknown>)[step], document);
    if (target === undefined) throw new Error(`${$ref} does not exist`);
    return { ...(resolve(target) as object), ...own };
  };
  return resolve(document) as T;
}
