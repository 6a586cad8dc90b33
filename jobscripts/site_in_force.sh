# SPDX-License-Identifier: Apache-2.0
# Sourced, with $kit and a function `stop CODE SENTENCE`: takes the site file in force, $site, and says what it means for the tasks.

site=${ODORI_SITE:-$kit/jobscripts/site.sh}
if [ -e "$site" ]; then
  ! grep -q $'\r' "$site" || stop 2 "the site file $site has Windows' line ends (CR LF). sed -i 's/\r\$//' $site takes the CRs away."
  ! head -c 3 "$site" | grep -q $'^\xef\xbb\xbf' || stop 2 "the site file $site begins with a byte-order mark, as some editors write it. sed -i '1s/^\xef\xbb\xbf//' $site takes it away."
  # In a shell of its own first: what is wrong with it ends nothing.
  said=$(bash -ec '. "$0" >/dev/null; echo read' "$site" 2>&1 </dev/null) || :
  [[ $said == *read ]] ||
    stop 2 "the site file $site can't be read to its end: it exits, or holds more than settings. It should read like those in jobscripts/sites: NAME=VALUE lines, with quotes round a value that isn't plain.${said:+ The shell says: ${said%%$'\n'*}}"
  . "$site"
elif [ -n "${ODORI_SITE:-}" ]; then
  stop 2 "there is no site file $site, which ODORI_SITE names. Give its whole path: a job begins in another folder."
fi

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
