#!/bin/sh
# as_ordinary_user.sh PROGRAM [ARGUMENTS]: runs it, and if root asks for that, as the user nobody and from a folder that
# this one can enter, with the library that it finds beside its own.
set -e
program=$1
shift
[ "$(id -u)" = 0 ] || exec "$program" "$@"
folder=$(mktemp -d /var/tmp/ordinary_user_XXXXXX)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/bin" "$folder/library"
cp "$program" "$folder/bin/"
cp "$(dirname "$program")/../library/libodori.so" "$folder/library/"
cd /
setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/bin/$(basename "$program")" "$@"
