# A job script's #PBS lines for one site; sourced by submit.sh and use_site.sh.

# The site file's variables, all empty: what it doesn't set is not asked for.
SCHEDULER="" QUEUE="" GROUP="" WALLTIME="" CHUNK="" GPUS_A_NODE="" SBATCH_FLAGS=""

stop() {  # EXIT_CODE SENTENCE
  printf 'odori: %s\n' "$2" >&2
  exit "$1"
}

# A name that the site file leaves empty turns its line into a comment (##PBS), which another site's can use again; a time
# that it leaves empty stays the script's.
for_pbs() {
  awk -v queue="$QUEUE" -v group="$GROUP" -v walltime="$WALLTIME" -v chunk="$CHUNK" '
    /^##?PBS -q/ { print (queue != "" ? "#PBS -q " queue : "##PBS -q"); next }
    /^##?PBS -W group_list=/ { print (group != "" ? "#PBS -W group_list=" group : "##PBS -W group_list="); next }
    /^#PBS -l walltime=/ && walltime != "" { print "#PBS -l walltime=" walltime; next }
    /^#PBS -l +select=/ && chunk != "" { sub(/ *$/, ":" chunk); gsub(/\+/, ":" chunk "+") }
    { print }' "$1"
}

# select=2:mpiprocs=2:ompthreads=1 is --nodes=2 --ntasks-per-node=2 --cpus-per-task=1.
for_slurm() {
  ! grep -qE '^#PBS -l +select=.*\+' "$1" || stop 2 "Slurm's nodes are all alike: the select line may have one chunk, and no '+'."
  awk -v queue="$QUEUE" -v group="$GROUP" -v walltime="$WALLTIME" -v gpus="$GPUS_A_NODE" -v flags="$SBATCH_FLAGS" '
    function directive(flag, value) { if (value != "") print "#SBATCH --" flag "=" value }
    /^##?PBS -q/ { directive("partition", queue); next }
    /^##?PBS -W group_list=/ { directive("account", group); next }
    /^#PBS -l walltime=/ { directive("time", walltime != "" ? walltime : substr($0, index($0, "=") + 1)); next }
    /^#PBS -N / { directive("job-name", $3); directive("output", $3 ".o%j"); next }
    /^#PBS -l +select=/ {
      sub(/.*select=/, ""); sub(/ *$/, "")
      n = split($0, parts, ":")
      directive("nodes", parts[1])
      for (i = 2; i <= n; ++i) {
        split(parts[i], pair, "=")
        if (pair[1] == "mpiprocs") directive("ntasks-per-node", pair[2])
        if (pair[1] == "ompthreads") directive("cpus-per-task", pair[2])
      }
      if (gpus != "") directive("gres", "gpu:" gpus)
      n = split(flags, more, " ")
      for (i = 1; i <= n; ++i) print "#SBATCH " more[i]
      next
    }
    { print }' "$1"
}
