#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The array job of ./odori grade --submit, for PBS and Slurm.
#   class_job.sh submit SUBMISSIONS RESULTS BUILD ELEMENTS sandbox|unsafe alone|shared    prints the scheduler's name for the job
#   class_job.sh state JOB                                                                prints "there" or "ended"
#   class_job.sh element SUBMISSIONS RESULTS BUILD ELEMENTS sandbox|unsafe                in the job: marks one element's students
# alone: with whole nodes, for timings.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kit=${here%/jobscripts}
. "$kit/lib/flags/command_line.sh"
. "$here/directives.sh"

take_site_of_class() {
  take_site
  [[ $SCHEDULER =~ ^(pbs|slurm)$ ]] ||
    stop 2 "--submit marks a class on PBS or Slurm, and the site file $site says SCHEDULER=$SCHEDULER. Leave out --submit, and mark in an interactive job; on a login node add --nice."
}

require_command() {
  command -v "$1" >/dev/null || stop 20 "there is no $1 here, but the site file $site says SCHEDULER=$SCHEDULER. Call ./odori grade --submit on the cluster's login node."
}

# As for a job script of the exercises: the site's queue, group and walltime take the place of these.
write_script() {  # SUBMISSIONS RESULTS BUILD ELEMENTS sandbox|unsafe
  local convert=for_$SCHEDULER
  "$convert" <<END
#!/bin/bash
#PBS -q workq
#PBS -W group_list=
#PBS -l walltime=01:00:00
#PBS -N odori_grade
#PBS -l select=1:mpiprocs=1:ompthreads=2
${ODORI_SITE:+export ODORI_SITE=$(printf %q "$ODORI_SITE")}
exec $(printf '%q ' bash "$here/class_job.sh" element "$@")
END
}

submit() {  # SUBMISSIONS RESULTS BUILD ELEMENTS sandbox|unsafe alone|shared
  local folder=$2/array elements=$4 flags=() site_flags
  read -ra site_flags <<<"$QSUB_FLAGS"
  write_script "${@:1:5}" >"$folder/job.sh"
  if [[ $SCHEDULER == slurm ]]; then
    require_command sbatch
    [[ $6 == shared ]] || flags+=(--exclusive)
    sbatch --parsable --array="1-$elements" --output="$folder/logs/%a.log" "${flags[@]}" "$folder/job.sh"
  else
    require_command qsub
    [[ $6 == shared ]] || flags+=(-l place=exclhost) # excl is for vnodes, of which a host may have several
    [[ $elements -eq 1 ]] || flags+=(-J "1-$elements") # PBS has no array of one
    qsub -j oe -o "$folder/logs/" "${flags[@]}" "${site_flags[@]}" "$folder/job.sh"
  fi
}

state() {  # JOB
  local seen=""
  if [[ $SCHEDULER == slurm ]]; then
    require_command squeue
    seen=$(squeue --noheader --jobs="${1%%;*}" 2>/dev/null) || seen="" # an unknown job is one that ended
    squeue --noheader --me >/dev/null 2>&1 || stop 20 "squeue doesn't answer, so it is unknown whether job $1 still marks this class. Try again when the scheduler is back."
  else
    require_command qstat
    ! qstat "$1" >/dev/null 2>&1 || seen=yes
    qstat >/dev/null 2>&1 || stop 20 "qstat doesn't answer, so it is unknown whether job $1 still marks this class. Try again when the scheduler is back."
  fi
  [[ -n $seen ]] && echo there || echo ended
}

element() {  # SUBMISSIONS RESULTS BUILD ELEMENTS sandbox|unsafe
  local number=${PBS_ARRAY_INDEX:-${SLURM_ARRAY_TASK_ID:-1}} unsafe=()
  stop() { printf 'odori: %s\n' "${*:2}" >&2 && exit "$1"; } # modules.sh gives it several lines
  set +eu # the files of `module` keep to neither
  . "$here/modules.sh"
  load_modules
  set -eu
  [[ $5 == sandbox ]] || unsafe=(--unsafe)
  exec "$3/bin/odori_classroom" "$1" --out "$2" --kit "$kit" --build "$3" --element "$number/$4" "${unsafe[@]}"
}

take_language
take_site_of_class
"$@"
