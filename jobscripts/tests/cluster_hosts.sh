# SPDX-License-Identifier: Apache-2.0
# Hosts of a small cluster on this machine: for the scripts that start a real scheduler on them; to be sourced, with $folder set.
# Every host is a set of namespaces (network, host name, shared memory), joined by a bridge that has no way out. The caller runs
# `alone "$0" "$@"` first: with its command, all that was started is gone. Needs root, and Debian's iproute2. Below them is what the
# tests on such a cluster share.

student_id=23456
nodes=(node1 node2)

# alone COMMAND...: a new set of namespaces, which dies with its first process.
alone() {
  exec unshare --mount --net --pid --uts --ipc --fork --kill-child --mount-proc --propagation private "$@"
}

# Files that all hosts see.
user_files() {
  local file
  mkdir -p "$folder"/{etc,home,spool}
  { cat /etc/passwd; echo "student:x:$student_id:$student_id::$folder/home:/bin/bash"; } >"$folder/etc/passwd"
  { cat /etc/group; echo "student:x:$student_id:"; } >"$folder/etc/group"
  printf '127.0.0.1 localhost\n10.77.0.254 head\n10.77.0.1 node1\n10.77.0.2 node2\n' >"$folder/etc/hosts"
  for file in passwd group hosts; do mount --bind "$folder/etc/$file" "/etc/$file"; done
  chown "$student_id:$student_id" "$folder/home"
  reach_built_kit
}

# Programs know the kit that they were built in by its path, which may lead through a folder that root alone may enter.
reach_built_kit() {
  local way="" part parts
  IFS=/ read -ra parts <<<"${built_kit#/}"
  for part in "${parts[@]}"; do
    way+=/$part
    ! as_student test -x "$way" || continue
    mkdir -p "$folder/built_kit"
    mount --rbind "$built_kit" "$folder/built_kit"
    mount -t tmpfs -o mode=755 tmpfs "$way"
    mkdir -p "$built_kit"
    mount --rbind "$folder/built_kit" "$built_kit"
    return
  done
}

declare -A first_process  # of each node: holds its namespaces

head_network() {
  hostname head
  ip link set lo up
  ip link add bridge0 type bridge
  ip link set bridge0 up
  ip address add 10.77.0.254/24 dev bridge0
}

start_node() {  # NAME NUMBER
  local name=$1 number=$2
  unshare --mount --net --uts --ipc --propagation private bash -c "
    hostname $name && mount -t tmpfs -o size=256m tmpfs /dev/shm && ip link set lo up && echo ready >'$folder/spool/$name.up'
    exec sleep infinity" &
  first_process[$name]=$!
  until [[ -e $folder/spool/$name.up ]]; do sleep 0.02; done
  ip link add "veth$number" type veth peer name eth0 netns "${first_process[$name]}"
  ip link set "veth$number" master bridge0 up
  on_node "$name" ip address add "10.77.0.$number/24" dev eth0
  on_node "$name" ip link set eth0 up
}

on_node() {  # NAME COMMAND...
  local pid=${first_process[$1]}
  shift
  nsenter --target "$pid" --mount --net --uts --ipc -- "$@"
}

as_student() {
  setpriv --reuid="$student_id" --regid="$student_id" --clear-groups env HOME="$folder/home" USER=student "$@"
}

# student_kit KIT BUILD FOLDER: a kit of copies in FOLDER, owned by the student: a job reads and writes there alone.
student_kit() {
  local kit=$1 build=$2 to=$3
  export built_kit=$kit
  mkdir -p "$to"/{build/bin,grader,lib}
  cp -a "$kit"/{odori,cmake,jobscripts,solutions,exercises} "$to/"
  cp -a "$kit"/lib/{comm,flags,threads} "$to/lib/"
  cp -a "$build/library" "$to/build/"
  cp -a "$kit"/grader/{messages,exercises} "$to/grader/"
  cp -a "$build/bin/solutions" "$build/bin/odori_grader" "$to/build/bin/"
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$to" >"$to/build/CMakeCache.txt"
  rm -f "$to/jobscripts/site.sh"
  find "$to/build" -type f -exec touch {} + # built behind its sources
  "$build/bin/odori_make_synthetic" --train 640 --test 160 --out "$to/data" >/dev/null
  chown -R "$student_id:$student_id" "$to"
}

# ---- What the student's tests are written in
failures=0

check() {  # WHAT COMMAND...
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "FAILED: $what" && failures=$((failures + 1)); fi
}

has() {  # FILE PATTERN
  grep -qE -- "$2" "$1" || { echo "--- $1 has no line like '$2':" && cat "$1" && return 1; }
}

explained() {  # LOG PATTERN: `explain` recognises it
  "$kit/jobscripts/explain.sh" "$1" >"$kit/explained.txt"
  has "$kit/explained.txt" "$2" || { cat "$1" && return 1; }
}
