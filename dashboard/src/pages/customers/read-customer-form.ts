import type { Body } from "../../api/answer.ts";

export type CustomerBody = Body<"putCustomer">;

export type CustomerFormValues = {
  customerId: string;
  name: string;
  email: string;
  billingReference: string;
  metadata: string;
};

/** The whole of it: what is left out becomes empty. Null: the metadata cannot be read. */
export function readCustomerForm(form: CustomerFormValues): CustomerBody | null {
  const metadata = readMetadata(form.metadata);
  if (metadata === undefined) return null;
  return {
    name: form.name.trim() || null,
    email: form.email.trim() || null,
    billingReference: form.billingReference.trim() || null,
    metadata,
  };
}

/** Undefined: it is no JSON object. */
export function readMetadata(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
