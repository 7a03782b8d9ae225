#!/bin/sh
# replication.sh prepare | wait | alone, on the primary as its server's user. `prepare` lets a standby follow it: the role `replicator` with
# the password of $REPLICATION_PASSWORD_FILE, the slot `standby`, and a line of pg_hba.conf. `wait`, once the standby follows, has every commit
# wait for it; `alone` ends that. A second call changes nothing. $PSQL is the client, `psql` unless told.
set -eu
ask() { printf '%s\n' "$@" | ${PSQL:-psql} -XAtq -v ON_ERROR_STOP=1; }
case ${1:-} in
  prepare)
    : "${PGDATA:?the data folder of the server}"
    password=$(cat "${REPLICATION_PASSWORD_FILE:-/run/secrets/replication_password}")
    case $password in '' | *[!A-Za-z0-9_-]*) echo 'replication.sh: the password has letters, digits, - and _ only' >&2; exit 2 ;; esac
    if [ "$(ask "select count(*) from pg_roles where rolname = 'replicator';")" = 0 ]; then ask 'create role replicator;'; fi
    ask "alter role replicator replication login password '$password';"
    if [ "$(ask "select count(*) from pg_replication_slots where slot_name = 'standby';")" = 0 ]; then
      ask "select pg_create_physical_replication_slot('standby');" >/dev/null
    fi
    line='host replication replicator all scram-sha-256'
    if ! grep -qx "$line" "$PGDATA/pg_hba.conf"; then printf '%s\n' "$line" >>"$PGDATA/pg_hba.conf"; fi
    ;;
  wait)
    if [ "$(ask "select count(*) from pg_stat_replication where application_name = 'standby' and state = 'streaming';")" = 0 ]; then
      echo 'replication.sh: no standby follows; nothing was changed' >&2
      exit 1
    fi
    ask "alter system set synchronous_standby_names = 'standby';"
    ;;
  alone) ask "alter system set synchronous_standby_names = '';" ;;
  *) sed -n '2,4p' "$0" >&2; exit 2 ;;
esac
ask 'select pg_reload_conf();' >/dev/null
