#!/bin/sh
# as_ordinary_user.sh PROGRAM [ARGUMENTS]: runs it, and if root asks for that, as the user nobody and from a folder that
# this one can enter.
set -e
program=$1
shift
[ "$(id -u)" = 0 ] || exec "$program" "$@"
folder=$(mktemp -d /var/tmp/ordinary_user_XXXXXX)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp "$program" "$folder/"
cd /
setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/$(basename "$program")" "$@"
