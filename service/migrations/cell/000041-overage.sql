-- A plan may allow use beyond its allowance, which is invoiced later. A charge says how much of its price that is.
-- Locks: cell.plan_allowances (brief), cell.ledger (brief), cell.meters (brief)

alter table cell.plan_allowances add column overage bigint default 0;
alter table cell.plan_allowances
  add constraint plan_allowances_overage_range check (overage >= 0 and overage <= 1000000000000);

alter table cell.ledger add column overage bigint;
alter table cell.ledger add column overage_parts text collate "C";

alter table cell.meters
  drop constraint meters_kind_known,
  drop constraint meters_kind_whole,
  add constraint meters_kind_known check (kind >= 1 and kind <= 4),
  add constraint meters_kind_whole check (
    (feature_id is null) = (kind = 1)
    and (pool_id is null) = (kind not in (2, 4))
    and (reason is null) = (kind <> 3)
  );

comment on column cell.meters.kind is '1: events, 2: charges, 3: denials, 4: overage';

comment on column cell.plan_allowances.overage is 'credits that may be used beyond the allowance in each period; null if unlimited';
comment on column cell.ledger.overage is 'the part of the price that was used beyond all credits, or that a reversal undoes; null if there is none';
comment on column cell.ledger.overage_parts is 'grants of the allowances that the overage is counted with, as 2:10,3:5';
