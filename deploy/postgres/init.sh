#!/bin/sh
# Runs once, on an empty data folder: roles and databases as sandbox/parts/postgres/roles.ts makes them. Passwords come from the
# files of docker-compose.yml and are handed to psql as variables, never as part of a statement.
set -eu
secret() { cat "/run/secrets/$1"; }
psql --set ON_ERROR_STOP=1 --username postgres --dbname postgres \
  --set owner="$(secret database_owner_password)" --set app="$(secret database_app_password)" \
  --set temporal="$(secret temporal_database_password)" <<'SQL'
create role svc_owner login password :'owner';
create role svc_app login password :'app';
create role temporal login password :'temporal';
create database svc owner svc_owner;
revoke all on database svc from public;
grant connect on database svc to svc_app;
create database temporal owner temporal;
revoke all on database temporal from public;
create database temporal_visibility owner temporal;
revoke all on database temporal_visibility from public;
SQL
