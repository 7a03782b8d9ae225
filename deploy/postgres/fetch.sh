#!/bin/sh
# restore_command = 'sh fetch.sh <archive> %f %p': gives one segment back. Status 1 where there is none, which ends the reading.
set -eu
kept=$1/wal/$2.gz
[ -e "$kept" ] || exit 1
if gzip -dc "$kept" >"$3"; then exit 0; fi
rm -f "$3"
echo "fetch.sh: $kept cannot be read: what comes after it cannot be restored from this archive" >&2
exit 126 # above 125 Postgres stops, and does not take it for the end of the archive
