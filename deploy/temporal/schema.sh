#!/bin/sh
# Brings the schema of both databases of Temporal up to date; for new ones it lays the ground first. Again: nothing to do.
set -eu
SQL_PASSWORD=$(cat "$TEMPORAL_DB_PASSWORD_FILE")
export SQL_PASSWORD
export SQL_HOST="${TEMPORAL_DB_ADDRESS%:*}" SQL_PORT="${TEMPORAL_DB_ADDRESS##*:}" SQL_USER="$TEMPORAL_DB_USER" SQL_PLUGIN=postgres12_pgx

update() {
  temporal-sql-tool --db "$1" update-schema --schema-name "$2" && return
  temporal-sql-tool --db "$1" setup-schema -v 0.0
  temporal-sql-tool --db "$1" update-schema --schema-name "$2"
}

update "$TEMPORAL_DB" postgresql/v12/temporal
update "$TEMPORAL_VISIBILITY_DB" postgresql/v12/visibility
