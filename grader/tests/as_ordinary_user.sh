#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# as_ordinary_user.sh PROGRAM [ARGUMENTS]: runs it, and if root asks for that, as the user nobody, with a home and a
# TMPDIR of its own, and with the kit at its own path though it lies in a folder that only root may enter.
set -e
[ "$(id -u)" = 0 ] || exec "$@"
if [ -z "$ORDINARY_USERS_FOLDER" ]; then
  ORDINARY_USERS_FOLDER=$(mktemp -d /var/tmp/ordinary_user_XXXXXX)
  export ORDINARY_USERS_FOLDER
  trap 'rm -rf "$ORDINARY_USERS_FOLDER"' EXIT
  unshare --mount "$0" "$@" # what is mounted is gone with it
  exit
fi
folder=$ORDINARY_USERS_FOLDER
kit=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$folder/home" "$folder/kit"
chown 65534:65534 "$folder" "$folder/home"
chmod 755 "$folder" "$folder/home"
mount --rbind "$kit" "$folder/kit"
# The first folder on the way that others may not enter, if there is one.
for way in $(echo "$kit" | awk -F/ '{ for (i = 2; i <= NF; ++i) { way = way "/" $i; print way } }'); do
  if ! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$way"; then
    mount -t tmpfs -o mode=755 tmpfs "$way"
    mkdir -p "$kit"
    mount --rbind "$folder/kit" "$kit"
    break
  fi
done
cd "$kit"
HOME=$folder/home TMPDIR=$folder XDG_CACHE_HOME='' XDG_RUNTIME_DIR='' \
  setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
