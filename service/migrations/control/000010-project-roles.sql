-- A member may have roles in single projects and environments, with or without a role in the whole workspace.
-- Locks: control.members (brief), control.projects (brief)

-- Without a role in the whole workspace, `role` is 'none'. It is not null, because release 0.1 reads a null as "not limited by its
-- creator" when it reads a token. It rejects an unknown role.
alter table control.members
drop constraint members_role_known,
add constraint members_role_known check (role in ('none', 'viewer', 'operator', 'admin', 'owner'));

create table control.member_roles (
  member_id integer not null,
  project_id integer not null,
  -- Null: both environments.
  environment text collate "C",
  role text collate "C" not null,
  constraint member_roles_key unique nulls not distinct (member_id, project_id, environment),
  constraint member_roles_member_id_fkey foreign key (member_id) references control.members (id),
  constraint member_roles_project_id_fkey foreign key (project_id) references control.projects (id),
  constraint member_roles_environment_known check (environment in ('test', 'live')),
  constraint member_roles_role_known check (role in ('viewer', 'operator', 'admin'))
);
