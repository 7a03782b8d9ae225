#!/bin/sh
# prune.sh <archive> <days>: deletes what no restore to a moment of the last <days> days needs: base backups older than the newest one
# that is as old, and the WAL before it. The newest base backup always stays. Says what it deletes.
set -eu
if [ $# -ne 2 ]; then echo 'usage: prune.sh <archive> <days>' >&2; exit 2; fi
archive=$1
days=$2
case $days in '' | *[!0-9]*) echo 'prune.sh: days as a whole number' >&2; exit 2 ;; esac
limit=$(date -u -d "$days days ago" +%Y%m%dT%H%M%SZ)
keep=
for one in $(ls "$archive/base"); do # by time: names are
  if [ -z "$keep" ] || [ "$(printf '%s\n%s\n' "$one" "$limit" | sort | head -n 1)" = "$one" ]; then keep=$one; fi
done
if [ -z "$keep" ]; then echo 'prune.sh: there is no base backup; nothing is deleted' >&2; exit 1; fi
first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]\{24\}\))$/\1/p' "$archive/base/$keep/backup_label")
if [ -z "$first" ]; then echo "prune.sh: no WAL is named in $archive/base/$keep" >&2; exit 1; fi
for one in $(ls "$archive/base"); do
  [ "$one" = "$keep" ] && break
  rm -rf "${archive:?}/base/$one"
  echo "base/$one"
done
find "$archive/base" -maxdepth 1 -name '.part.*' -mtime +0 -exec rm -rf {} +
# A name is timeline (8 digits) and place (16); the place alone counts, and histories of timelines always stay.
from=$(echo "$first" | cut -c9-24)
for file in "$archive"/wal/*.gz; do
  name=$(basename "$file")
  case $name in *.history.gz) continue ;; esac
  place=$(echo "$name" | cut -c9-24)
  if [ "$place" != "$from" ] && [ "$(printf '%s\n%s\n' "$place" "$from" | sort | head -n 1)" = "$place" ]; then
    rm -f "$file"
    echo "wal/$name"
  fi
done
