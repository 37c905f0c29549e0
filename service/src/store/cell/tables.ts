/** The columns that lists of the management API read, as PostgreSQL hands them over: a bigint as text. */
export type CellTables = {
  "cell.customers": {
    environment_id: number;
    number: number;
    customer_id: string;
    name: string | null;
    email: string | null;
    billing_reference: string | null;
    metadata: unknown;
    created_at: string;
    erased_at: string | null;
  };
  "cell.wallets": {
    environment_id: number;
    customer_number: number;
    sequence: number;
    decided_at: string;
    balance: number;
    is_blocked: boolean;
    state: string;
  };
  "cell.request_log": {
    environment_id: number;
    id: string;
    recorded_at: string;
    request_id: string;
    endpoint: string;
    status: number;
    code: string | null;
    reason: string | null;
    is_replay: boolean;
    customer_number: number | null;
    subject: string | null;
    key_hash: string | null;
    duration_ms: number;
    refused: unknown;
    occurred_at: string | null;
  };
};
