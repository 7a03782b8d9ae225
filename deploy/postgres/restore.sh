#!/bin/sh
# restore.sh <archive> <empty data folder> latest | time '2026-11-22 08:03:00+00' | lsn 0/5A0B3D8 | name <restore point> | standby <conninfo>
# Makes a data folder from a base backup; the server started on it reads the archive up to that point and goes on as a timeline of its
# own, or as a standby follows the server of conninfo ('host=db-1 user=replicator password=…', its slot is `standby`) until it is promoted.
# The backup is the newest before the time, or the newest; BASE=<name> takes another. Run it as the server's user.
set -eu
if [ $# -lt 3 ]; then sed -n '2,5p' "$0" >&2; exit 2; fi
archive=$(cd "$1" && pwd)
data=$2
kind=$3
here=$(cd "$(dirname "$0")" && pwd)
case $kind in
  latest) target= ;;
  time | lsn | name) target=${4:?the $kind to restore to} ;;
  standby) target=${4:?how it reaches the primary} ;; # holds a password: not said
  *) echo "restore.sh: latest, time, lsn, name or standby" >&2; exit 2 ;;
esac
case $target in *\'*) echo 'restore.sh: no quotes in what to restore to' >&2; exit 2 ;; esac
before=99999999T999999Z
if [ "$kind" = time ]; then before=$(date -u -d "$target" +%Y%m%dT%H%M%SZ); fi
base=${BASE:-}
if [ -z "$base" ]; then
  for one in $(ls "$archive/base"); do
    if [ "$(printf '%s\n%s\n' "$one" "$before" | sort | head -n 1)" = "$one" ]; then base=$one; fi
  done
fi
if [ -z "$base" ] || [ ! -e "$archive/base/$base/backup_label" ]; then
  if [ "$kind" = standby ]; then target=now; fi
  echo "restore.sh: no base backup in $archive/base before ${target:-now}" >&2
  exit 1
fi
mkdir -p "$data"
if [ -n "$(ls -A "$data")" ]; then echo "restore.sh: $data is not empty; nothing was changed" >&2; exit 1; fi
chmod 700 "$data"
tar -C "$data" -xzf "$archive/base/$base/data.tar.gz"
cp "$archive/base/$base/backup_label" "$data/backup_label"
settings=$data/postgresql.auto.conf
touch "$settings"
{ # Without those of a restore before this one, and without what the primary waits for: a standby that is promoted has none of its own.
  grep -Ev '^(restore_command|recovery_target|primary_|synchronous_standby_names)' "$settings" || true
  echo "restore_command = 'sh \"$here/fetch.sh\" \"$archive\" %f %p'"
  echo "recovery_target_timeline = 'latest'"
  if [ "$kind" = standby ]; then
    echo "primary_conninfo = '$target application_name=standby'"
    echo "primary_slot_name = 'standby'"
  elif [ "$kind" != latest ]; then
    echo "recovery_target_$kind = '$target'"
    echo "recovery_target_action = 'promote'"
  fi
} >"$settings.new"
mv "$settings.new" "$settings"
if [ "$kind" = standby ]; then touch "$data/standby.signal"; else touch "$data/recovery.signal"; fi
sync
echo "$base"
