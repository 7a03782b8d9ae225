#!/bin/sh
# Starts the Temporal server with the password of its database from a file, so that it stands in no environment one can inspect.
set -eu
TEMPORAL_DB_PASSWORD=$(cat "$TEMPORAL_DB_PASSWORD_FILE")
export TEMPORAL_DB_PASSWORD
exec temporal-server --root / --config /etc/temporal --env server --allow-no-auth start
