#!/bin/sh
# Run once by the postgres image on a new volume: one role and one database for each service, closed to the others.
set -eu
for service in gateway tasks images results quota inference; do
  psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -v name="vision_$service" -v password="$SERVICE_DATABASE_PASSWORD" <<'SQL'
create role :"name" login password :'password';
create database :"name" owner :"name";
revoke all on database :"name" from public;
SQL
done
