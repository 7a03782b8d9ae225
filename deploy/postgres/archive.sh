#!/bin/sh
# archive_command = 'sh archive.sh %p %f <archive>': keeps one finished segment of the WAL, compressed (an idle one of 16 MB is 16 KB).
# A name that is there already is never written over: the same bytes are success (Postgres asks again after a crash), others are an error.
# Success means that the bytes are on the disk of the archive: Postgres may forget its own.
set -eu
segment=$1
folder=$3/wal
kept=$folder/$2.gz
part=$folder/.$2.$$
mkdir -p "$folder"
if [ -e "$kept" ]; then
  if gzip -dc "$kept" | cmp -s - "$segment"; then exit 0; fi
  echo "archive.sh: $kept holds other bytes than $segment: two servers share one archive?" >&2
  exit 1
fi
trap 'rm -f "$part"' EXIT
gzip -1 -c "$segment" >"$part"
sync "$part"
ln "$part" "$kept" # fails where the name is there by now; `mv` would write over it
sync "$folder"
