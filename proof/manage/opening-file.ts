import { PLANS } from "../harness/project.ts";

// Who is in the file, and with what, follows from the number in the id alone: so any row can be checked by itself.

const PLAN_OF = `case when n % 10 = 0 then null when n % 100 = 1 then 'free' else 'pro' end`;
const CREDITS_OF = "case when n % 7 = 0 then 0 else 1 + n % 1000 end";

/** Numbers `customer_0` and so on, not in their order. */
export function makeOpeningFile(rows: number): string {
  const lines = ["customerId,name,email,billingReference,plan,credits"];
  for (let i = 0; i < rows; i++) {
    // 7,919 is a prime that divides no round number.
    const n = (i * 7_919) % rows;
    const plan = n % 10 === 0 ? "" : n % 100 === 1 ? "free" : "pro";
    const credits = n % 7 === 0 ? "" : String(1 + (n % 1_000));
    lines.push(`customer_${n},Company ${n},billing${n}@example.com,cus_${n},${plan},${credits}`);
  }
  return `${lines.join("\n")}\n`;
}

/** How many customers there are, with how many of them something is wrong, and how many grants are too many. */
export const CHECK_IMPORTED = `
  with expected as (
    select c.environment_id, c.number, n, ${PLAN_OF} as plan, ${CREDITS_OF} as credits, w.balance
    from cell.customers as c
    cross join lateral (select substr(c.customer_id, 10)::integer as n) as i
    left join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
  )
  select
    (select count(*) from expected) as customers,
    (select count(distinct n) from expected) as "distinctCustomers",
    (
      select count(*) from expected as e
      where e.balance is distinct from e.credits + case e.plan
        ${Object.entries(PLANS)
          .map(([key, { allowance }]) => `when '${key}' then ${allowance.credits}`)
          .join(" ")} else 0 end
    ) as "wrongBalances",
    (select count(*) from expected as e where e.credits > 0) as "openingBalances",
    (select count(*) from cell.grants where kind = 3) as "openingGrants",
    (select count(reference) - count(distinct reference) from cell.grants) as "repeatedReferences"`;
