#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two nodes of OpenPBS on this machine, while one command runs:
#
#   openpbs_cluster.sh PREFIX FOLDER COMMAND [ARGUMENT...]
#
# runs COMMAND as the user `student` on the head of a cluster whose nodes node1 and node2 have 4 processors each. PREFIX is where
# OpenPBS is installed (Debian has no package of it: github.com/openpbs/openpbs, ./configure --prefix=PREFIX
# --with-database-user=postgres; then chmod 4755 PREFIX/sbin/pbs_{iff,rcp}), FOLDER for configuration and logs, not below /tmp. Needs
# root, Debian's iproute2 and postgresql.
#
# After OpenPBS's INSTALL and its manual pages pbs.conf(8B), pbs_mom(8B) and qmgr(8B).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/cluster_hosts.sh"

stop() {
  printf 'openpbs_cluster.sh: %s\n' "$1" >&2
  exit 20
}

if [[ ${1:-} != --inside ]]; then
  [[ $# -ge 3 ]] || stop "usage: openpbs_cluster.sh PREFIX FOLDER COMMAND [ARGUMENT...]"
  [[ $EUID -eq 0 ]] || stop "hosts are made of namespaces, which takes root."
  [[ -x $1/sbin/pbs_server ]] || stop "$1 has no sbin/pbs_server: OpenPBS isn't installed there."
  for program in psql ip nsenter unshare setpriv; do
    command -v "$program" >/dev/null || stop "$program isn't installed (Debian: postgresql iproute2)."
  done
  alone "$0" --inside "$@"
fi
prefix=$(realpath "$2") folder=$(realpath "$3")
shift 3
export PATH=$prefix/bin:$prefix/sbin:$PATH

# Each host has a configuration and a folder of its own.
configure_host() {  # NAME SERVER MOM
  cat >"$folder/etc/pbs.conf.$1" <<END
PBS_EXEC=$prefix
PBS_HOME=$folder/$1
PBS_SERVER=head
PBS_START_SERVER=$2
PBS_START_SCHED=$2
PBS_START_COMM=$2
PBS_START_MOM=$3
PBS_LEAF_ROUTERS=head
PBS_CORE_LIMIT=unlimited
PBS_SCP=/bin/false
END
}

start_daemons() {
  local name number=0
  chmod 755 "$folder"
  touch /etc/pbs.conf
  configure_host head 1 0
  mount --bind "$folder/etc/pbs.conf.head" /etc/pbs.conf
  {
    "$prefix/libexec/pbs_habitat"
    pbs_comm
    pbs_server
    pbs_sched
  } >"$folder/head.log" 2>&1 || { cat "$folder/head.log" >&2; stop "the server didn't start; the daemons' last words are above."; }
  for name in "${nodes[@]}"; do
    start_node "$name" $((++number))
    configure_host "$name" 0 1
    on_node "$name" mount --bind "$folder/etc/pbs.conf.$name" /etc/pbs.conf
    on_node "$name" "$prefix/libexec/pbs_habitat" >"$folder/$name.log" 2>&1
    # shellcheck disable=SC2016
    printf '$clienthost head\n$usecp *:/ /\n' >"$folder/$name/mom_priv/config"
    on_node "$name" pbs_mom >>"$folder/$name.log" 2>&1
  done
  qmgr <<END
set server flatuid = True
set server scheduler_iteration = 5
set server job_history_enable = True
set queue workq resources_max.walltime = 01:00:00
create node node1 resources_available.ncpus = 4
create node node2 resources_available.ncpus = 4
END
}

wait_for_nodes() {
  local try
  for ((try = 0; try < 300; ++try)); do
    [[ $(pbsnodes -a 2>/dev/null | grep -c 'state = free') -lt 2 ]] || return 0
    sleep 0.2
  done
  pbsnodes -a >&2
  tail -n 5 "$folder"/*/*_logs/* >&2
  stop "the nodes didn't come up within 60 s; the daemons' last words are above."
}

# /etc as this machine has it, and what is written there is gone with the cluster.
mkdir -p "$folder"/etc_{written,work}
mount -t overlay -o "lowerdir=/etc,upperdir=$folder/etc_written,workdir=$folder/etc_work" odori /etc
user_files
head_network
start_daemons
wait_for_nodes
as_student "$@"
