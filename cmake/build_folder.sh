# SPDX-License-Identifier: Apache-2.0
# A folder that the kit is built in: whose it is, and that one process at a time configures or builds there.
#   configured_for FOLDER                             prints the kit that it was configured for; nothing where it wasn't
#   lock_build FOLDER; ...; unlock_build
# It speaks by `say` of lib/flags/command_line.sh. What is started in between holds the lock as well: a build goes on for a while after its ./odori was killed.

build_lock=""

configured_for() {
  local line
  line=$(grep -s '^CMAKE_HOME_DIRECTORY:INTERNAL=' "$1/CMakeCache.txt") || true
  echo "${line#*=}"
}

lock_build() {
  local file=$1/odori_lock code=0
  [[ -z $build_lock ]] && command -v flock >/dev/null && mkdir -p "$1" 2>/dev/null || return 0
  { exec {build_lock}>>"$file"; } 2>/dev/null || { build_lock="" && return 0; }
  flock -n "$build_lock" || code=$?
  if [[ $code -eq 1 ]]; then
    say "Waiting until process $(<"$file") has built what it needs in $1. (Ctrl-C stops waiting.)" \
      "プロセス $(<"$file") が $1 でのビルドを終えるのを待っています。（Ctrl-C で中止）" >&2
    code=0
    flock "$build_lock" || code=$?
  fi
  if [[ $code -eq 0 ]]; then
    echo $$ >"$file"
    return 0
  fi
  say "$1 is on a file system that can't lock files. Start no second build there while this one is running." \
    "$1 のファイルシステムではファイルをロックできません。このビルドの間は、そこで別のビルドを始めないでください。" >&2
  unlock_build
}

unlock_build() {
  [[ -z $build_lock ]] || exec {build_lock}>&-
  build_lock=""
}
