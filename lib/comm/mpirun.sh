#!/usr/bin/env bash
# mpirun with a folder of its own for what Open MPI writes while it runs: its session, and the ranks' shared memory.
#
#   lib/comm/mpirun.sh MPIRUN [ARGUMENT ...]     becomes this mpirun
#   . lib/comm/mpirun.sh                         the same for every mpirun that this shell starts
#
# Without it, all mpiruns of a user share one folder. Each makes it at its start and removes it at its end, and of
# several at a time some don't start: "orte_session_dir failed" (open-mpi/ompi, issues 7049 and 8510).
#
# The folder is removed when the last process that holds it locked has ended, whatever ended it. Where the process that
# removes it was killed too, the next start removes it.

own_mpi_folder() {
  local base=${OMPI_MCA_btl_vader_backing_directory:-${OMPI_MCA_btl_sm_backing_directory:-/dev/shm}} folder="" held old
  # Ranks on other machines would look for the folder there.
  [[ ${SLURM_JOB_NUM_NODES:-1} -eq 1 ]] || return 0
  [[ -z ${PE_HOSTFILE:-}${PJM_JOBID:-} ]] || return 0
  [[ -z ${PBS_NODEFILE:-} || $(sort -u "$PBS_NODEFILE" 2>/dev/null | wc -l) -le 1 ]] || return 0
  command -v flock setsid mktemp >/dev/null || return 0
  [[ -d $base && -w $base ]] || base=${TMPDIR:-/tmp}
  for old in "$base/odori_mpi.$EUID".*; do
    [[ ! -d $old || ! -O $old ]] || flock -n "$old" rm -rf "$old"
  done
  # Another start may have removed the new folder before it was locked.
  until [[ -d $folder ]]; do
    folder=$(mktemp -d "$base/odori_mpi.$EUID.XXXXXX") || return 0
    exec {held}<"$folder" || continue
    flock "$held" || { rmdir "$folder" && return 0; } # no locks on this file system
  done
  { cd / && exec setsid flock "$folder" rm -rf "$folder"; } {held}<&- </dev/null >/dev/null 2>&1 &
  disown
  unset OMPI_MCA_orte_local_tmpdir_base OMPI_MCA_orte_remote_tmpdir_base # mpirun refuses them beside the next one
  export OMPI_MCA_orte_tmpdir_base=$folder PRTE_MCA_prte_tmpdir_base=$folder # Open MPI 4; 5
  export OMPI_MCA_btl_vader_backing_directory=$folder OMPI_MCA_btl_sm_backing_directory=$folder
}

own_mpi_folder
[[ ${BASH_SOURCE[0]} != "$0" ]] || exec "$@"
