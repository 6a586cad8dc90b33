# SPDX-License-Identifier: Apache-2.0
# How much of this machine the kit may take, in bash: before anything is built, and in job scripts. Source it.

all_groups=/sys/fs/cgroup own_groups=/proc/self/cgroup

# What the control groups of this process say, a line each (cgroups(7)): a container's limits stand there and nowhere else.
limits_of_groups() { # CONTROLLER FILES_OF_VERSION_1 FILE_OF_VERSION_2
  local controllers group folder files
  [[ -r $own_groups ]] || return 0
  while IFS=: read -r _ controllers group; do
    case ,$controllers, in
      ,,) folder=$all_groups files=$3 ;;
      *,"$1",*) folder=$all_groups/$1 files=$2 ;;
      *) continue ;;
    esac
    # shellcheck disable=SC2086 # several files
    while group=${group%/}; do
      (cd "$folder$group" 2>/dev/null && echo $(cat $files 2>/dev/null)) || true
      [[ -n $group ]] || break
      group=${group%/*}
    done
  done <"$own_groups"
}

# As odori::usable_cores().
usable_cores() {
  { echo "$(nproc) 1" && limits_of_groups cpu 'cpu.cfs_quota_us cpu.cfs_period_us' cpu.max; } |
    awk '$1 ~ /^[1-9]/ && $2 > 0 { n = int(($1 + $2 - 1) / $2); if (!least || n < least) least = n } END { print least }'
}

# How many compilers may run at a time: one a core, and each may need a GiB.
usable_compilers() {
  { echo $(($(usable_cores) << 30)) && awk '/^MemTotal:/ { printf "%.0f\n", $2 * 1024 }' /proc/meminfo &&
    limits_of_groups memory memory.limit_in_bytes memory.max; } |
    awk '$1 ~ /^[1-9]/ { n = int($1 / 2^30); if (!least || n < least) least = n > 1 ? n : 1 } END { print least }'
}
