declare const brand: unique symbol;

/** A string or number that was validated at the edge. Only `brandAs` creates one. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export function brandAs<B extends Brand<string | number, string>>(
  value: B extends string ? string : number,
): B {
  return value as unknown as B;
}

export type CustomerId = Brand<string, "CustomerId">;
/** A user, team or API key of a customer, named by the caller. */
export type MemberId = Brand<string, "MemberId">;
export type EventKey = Brand<string, "EventKey">;
export type IdempotencyKey = Brand<string, "IdempotencyKey">;
export type Quantity = Brand<number, "Quantity">;
export type ProjectId = Brand<number, "ProjectId">;
export type EnvironmentId = Brand<number, "EnvironmentId">;
export type CustomerNumber = Brand<number, "CustomerNumber">;
export type FeatureKey = Brand<string, "FeatureKey">;
export type PoolId = Brand<number, "PoolId">;
export type FeatureId = Brand<number, "FeatureId">;
export type PlanId = Brand<number, "PlanId">;
export type PlanVersionId = Brand<number, "PlanVersionId">;

/** Whole credits, never a fraction. */
export type Credits = Brand<number, "Credits">;

/** Milliseconds since 1970 in UTC. All times inside the service have this type. */
export type Instant = Brand<number, "Instant">;
