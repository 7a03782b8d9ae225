#!/bin/sh
# Gives the archive to the server's user (a new volume is root's), then starts Postgres as its image does.
set -eu
install -d -o postgres -g postgres -m 700 /archive
exec docker-entrypoint.sh "$@"
