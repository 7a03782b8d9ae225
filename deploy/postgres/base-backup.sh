#!/bin/sh
# base-backup.sh <archive>: copies the data folder ($PGDATA) of the running server into <archive>/base/<UTC time>, all databases of it:
# the service's, `temporal` and `temporal_visibility`. Whole or not there at all; its name is the time from which on it can be restored.
# Uses the server's own backup calls and `tar`, so that it needs no client of the server's version. $PSQL is the client, `psql` unless told.
set -eu
archive=$1
: "${PGDATA:?the data folder of the server}"
part=$archive/base/.part.$$ # one that was cut off is left to prune.sh
mkdir -p "$archive/base"
mkdir "$part"
chmod 700 "$part"
mkfifo "$part/ask" "$part/answer"
${PSQL:-psql} -XAtq -v ON_ERROR_STOP=1 <"$part/ask" >"$part/answer" &
client=$!
exec 3>"$part/ask" 4<"$part/answer"
# The backup lasts as long as its connection: when this script ends, so does the backup.
trap 'exec 3>&-; wait "$client" 2>/dev/null || true; rm -rf "$part"' EXIT
end='-- end of answer --'
ask() { # one statement; what it answers, line by line
  printf "%s\nselect '%s';\n" "$1" "$end" >&3
  while IFS= read -r line <&4; do
    if [ "$line" = "$end" ]; then return 0; fi
    printf '%s\n' "$line"
  done
  echo "base-backup.sh: the server ended the connection" >&2
  exit 1
}
spaces=$(ask "select count(*) from pg_tablespace where spcname not in ('pg_default', 'pg_global');")
if [ "$spaces" != 0 ]; then
  echo "base-backup.sh: there are tablespaces outside the data folder; use pg_basebackup" >&2
  exit 1
fi
ask "select pg_backup_start('base-backup.sh', fast => true);" >/dev/null
# Files change while they are read (status 1): the WAL from here on puts them right. Status 2 is an error.
tar -C "$PGDATA" -czf "$part/data.tar.gz" --exclude=./postmaster.pid --exclude=./postmaster.opts --exclude='./pg_wal/*' \
  --exclude='./pg_replslot/*' --exclude='./pg_dynshmem/*' --exclude='./pg_notify/*' --exclude='./pg_serial/*' \
  --exclude='./pg_snapshots/*' --exclude='./pg_stat_tmp/*' --exclude='./pg_subtrans/*' --exclude='pgsql_tmp*' \
  --exclude='./*.signal' . 2>"$part/tar.log" || [ $? -eq 1 ] || { cat "$part/tar.log" >&2; exit 1; }
# Waits until the WAL that it needs is in the archive.
ask 'select labelfile from pg_backup_stop(wait_for_archive => true);' >"$part/backup_label"
grep -q '^START WAL LOCATION' "$part/backup_label" || { echo 'base-backup.sh: the server gave no label' >&2; exit 1; }
exec 3>&-
wait "$client"
rm -f "$part/ask" "$part/answer" "$part/tar.log"
trap - EXIT
name=$(date -u +%Y%m%dT%H%M%SZ)
sync "$part/data.tar.gz" "$part/backup_label"
mv -T "$part" "$archive/base/$name"
sync "$archive/base"
echo "$archive/base/$name"
