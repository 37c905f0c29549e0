-- `purser verify` records its last result here, and /metrics shows it: an alert must not depend on who reads a command's output.

create table cell.verifications (
  kind text not null,
  is_sound boolean not null,
  finished_at timestamptz not null,
  constraint verifications_pkey primary key (kind),
  constraint verifications_kind_known check (kind in ('ledger', 'usage'))
);
