#!/bin/sh
# standby.sh <command>: makes the data folder ($PGDATA) of a standby from the newest base backup of the archive, where there is none yet, then runs the
# command, Postgres. It follows $PRIMARY_HOST (replication.sh prepare) until it is promoted. Defaults are the places of docker-compose.yml.
set -eu
archive=${ARCHIVE:-/archive}
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$archive" "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups sh "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  password=$(cat "${REPLICATION_PASSWORD_FILE:-/run/secrets/replication_password}")
  sh "$(dirname "$0")/restore.sh" "$archive" "$PGDATA" standby \
    "host=$PRIMARY_HOST port=${PRIMARY_PORT:-5432} user=replicator password=$password"
fi
exec "$@"
