-- Whatever can be edited into a catalog can be exported and applied again, so an edit has to know how large the document is.
-- Counting what every plan has pinned would take longer than the edit: each plan says how many bytes its own part takes.

alter table cell.plans add column document_bytes integer not null default 0;

-- Of those that are there already, about as many: 150 bytes for each feature.
update cell.plans as p
set document_bytes = 150 * (
  select count(*)
  from cell.plan_features as f
  where f.environment_id = p.environment_id
    and f.plan_version_id = (
      select v.id
      from cell.plan_versions as v
      where v.environment_id = p.environment_id
        and v.plan_id = p.id
      order by v.number desc
      limit 1
    )
);
