-- Where a waiting login comes from, so that somebody who knows the password cannot end the logins of the member's own devices.
-- Locks: control.challenges (brief)

alter table control.challenges
  add column source text collate "C" not null default '',
  add column is_known boolean not null default false;

comment on column control.challenges.source is 'the known device, session or network that the challenge was created for';
comment on column control.challenges.is_known is 'whether the source is a device or session of the member';
