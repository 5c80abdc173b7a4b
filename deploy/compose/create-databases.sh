#!/bin/sh
# Run once by the postgres image on a new volume: one role and one database for each service, closed to the others.
set -eu
create() {
  psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -v name="vision_$1" -v password="$2" <<'SQL'
create role :"name" login password :'password';
create database :"name" owner :"name";
revoke all on database :"name" from public;
SQL
}
# The roles have nothing to look for in the databases of the server itself.
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -c 'revoke all on database postgres, template1 from public'
create gateway "$GATEWAY_DATABASE_PASSWORD"
create tasks "$TASKS_DATABASE_PASSWORD"
create images "$IMAGES_DATABASE_PASSWORD"
create results "$RESULTS_DATABASE_PASSWORD"
create quota "$QUOTA_DATABASE_PASSWORD"
create notify "$NOTIFY_DATABASE_PASSWORD"
create inference "$INFERENCE_DATABASE_PASSWORD"
