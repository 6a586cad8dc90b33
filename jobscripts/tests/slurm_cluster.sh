#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two nodes of Slurm on this machine, while one command runs:
#
#   slurm_cluster.sh FOLDER COMMAND [ARGUMENT...]
#
# runs COMMAND as the user `student` on the head of a cluster whose nodes node1 and node2 have 2 processors each. Every
# host is a set of namespaces (network, host name, shared memory), joined by a bridge that has no way out. When the
# command ends, or this script is killed, everything that was started is gone. FOLDER is for configuration and logs.
# Needs root, and Debian's slurm-wlm, slurm-wlm-torque (qsub), munge and iproute2.
#
# After the manual pages slurm.conf(5), munged(8) and namespaces(7).
set -euo pipefail

partition=workshop
. "$(dirname "${BASH_SOURCE[0]}")/cluster_hosts.sh"

stop() {
  printf 'slurm_cluster.sh: %s\n' "$1" >&2
  exit 20
}

# ---- Outside: nothing but a new set of namespaces, which dies with its first process

if [[ ${1:-} != --inside ]]; then
  [[ $# -ge 2 ]] || stop "usage: slurm_cluster.sh FOLDER COMMAND [ARGUMENT...]"
  [[ $EUID -eq 0 ]] || stop "hosts are made of namespaces, which takes root."
  for program in qsub sbatch slurmctld slurmd munged mungekey ip nsenter unshare setpriv; do
    command -v "$program" >/dev/null || stop "$program isn't installed (Debian: slurm-wlm slurm-wlm-torque munge iproute2)."
  done
  alone "$0" --inside "$@"
fi
shift
folder=$(realpath "$1")
shift
mkdir -p "$folder"/{etc,spool,log,munge}

slurm_files() {
  mkdir -p /etc/slurm
  mount -t tmpfs tmpfs /etc/slurm
  cat >/etc/slurm/slurm.conf <<END
ClusterName=workshop
SlurmctldHost=head(10.77.0.254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
EnforcePartLimits=ALL
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPidFile=$folder/spool/slurmctld.pid
SlurmdPidFile=$folder/spool/%n.pid
StateSaveLocation=$folder/spool/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=100000
NodeName=node1 NodeAddr=10.77.0.1 CPUs=2 State=UNKNOWN
NodeName=node2 NodeAddr=10.77.0.2 CPUs=2 State=UNKNOWN
PartitionName=$partition Nodes=node1,node2 Default=YES MaxTime=60 State=UP
END
  # Gives jobs the PBS_ variables, as PBS does.
  echo "required spank_pbs.so" >/etc/slurm/plugstack.conf
  printf 'CgroupAutomount=no\n' >/etc/slurm/cgroup.conf
  mkdir -p "$folder/spool/state"
}

# ---- Daemons

start_daemons() {
  local name number=0
  chmod 755 "$folder" "$folder/munge"
  mungekey --create --force --keyfile "$folder/munge/key"
  munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" --pid-file="$folder/munge/pid" \
    --seed-file="$folder/munge/seed" --log-file="$folder/log/munged.log"
  slurmctld -i
  for name in "${nodes[@]}"; do
    start_node "$name" $((++number))
    on_node "$name" slurmd -N "$name"
  done
}

wait_for_nodes() {
  local try
  for ((try = 0; try < 150; ++try)); do
    [[ $(sinfo --noheader --format=%D --states=idle 2>/dev/null) != 2 ]] || return 0
    sleep 0.1
  done
  tail -n 5 "$folder"/log/*.log >&2
  stop "the nodes didn't come up within 15 s; the daemons' last words are above."
}

user_files
slurm_files
head_network
start_daemons
wait_for_nodes
as_student "$@"
