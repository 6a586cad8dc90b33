# Sourced, with $kit set: takes the site file in force, $site, and says what it means for the tasks.

site=${ODORI_SITE:-$kit/jobscripts/site.sh}
[ ! -e "$site" ] || . "$site"

# devices_of TASK: how many devices of a node it uses: task 1 all, and task 2 two, where there are two. A site file that names no
# number, and no site file, stand for two.
devices_of() {
  local gpus=${GPUS_A_NODE:-2}
  if [ "$1" = multi_node ] && [ "$gpus" -gt 2 ]; then gpus=2; fi
  echo "$gpus"
}

# The kit's answer on standard input, which is for nodes of two devices, as it is for this site's.
for_this_site() {
  sed -E "s/^(#PBS -l select=1:mpiprocs=1:ompthreads=)2/\1$(devices_of multi_gpu)/
    s/^(#PBS -l select=2:mpiprocs=)2/\1$(devices_of multi_node)/"
}
