# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016
# Hosts with names and networks of their own, on one machine: for scripts of bash, which source this file.
#
#   can_make_hosts                may this user make namespaces, bridges and cables here, and is what it takes installed?
#   enter_namespaces "$0" "$@"    starts the script anew in namespaces, which vanish with it or what called it, however these
#                                 end, and with them all that it started. Does nothing there
#   start_hosts FOLDER N          node1 to nodeN, 10.9.0.1 to 10.9.0.N, joined by a switch that has no way out: to_nodeN is
#                                 its end of the cable to nodeN's eth0. FOLDER is for their files
#   on_host HOST COMMAND...       runs it there
#   mpirun_on HOSTS ARGUMENT...   mpirun, on the first host, with the settings that a job gets. HOSTS: node1:2,node2:2 has 2 ranks on each
#
# Takes root or user namespaces, ip and tc, and pgrep (Debian: iproute2, procps). After the manual pages namespaces(7) and veth(4).

apart=(unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private)
[[ $EUID -eq 0 ]] || apart+=(--user --map-root-user)

can_make_hosts() {
  type ip tc nsenter pgrep setpriv >/dev/null 2>&1 && "${apart[@]}" unshare --uts --ipc --net sh -c '
    ip link set lo up && ip link add switch type bridge && ip link add cable type veth peer name end &&
      tc qdisc replace dev cable root tbf rate 8kbit burst 16kb latency 1s' 2>/dev/null
}

enter_namespaces() {
  [[ -n ${ODORI_HOSTS_APART:-} ]] || ODORI_HOSTS_APART=yes exec setpriv --pdeathsig KILL "${apart[@]}" "$@"
}

start_hosts() { # FOLDER N
  hosts=$1
  local n host
  ip link set lo up
  ip link add switch type bridge
  ip link set switch up
  echo '127.0.0.1 localhost' >"$hosts/etc_hosts"
  for ((n = 1; n <= $2; ++n)); do echo "10.9.0.$n node$n" >>"$hosts/etc_hosts"; done
  for ((n = 1; n <= $2; ++n)); do
    host=node$n
    unshare --net --uts --ipc --mount --propagation private bash -c '
      hostname "$0" && mount -t tmpfs tmpfs /dev/shm && mount --bind "$1/etc_hosts" /etc/hosts && ip link set lo up &&
        echo $$ >"$1/$0.new" && mv "$1/$0.new" "$1/$0" && exec -a "$0 of $1" sleep infinity' $host "$hosts" &
    until [[ -e $hosts/$host ]]; do kill -0 $! && sleep 0.02 || return; done
    ip link add to_$host type veth peer name eth0 netns "$(<"$hosts/$host")"
    ip link set to_$host master switch up
    on_host $host ip address add 10.9.0.$n/24 dev eth0
    on_host $host ip link set eth0 up
  done
  # What mpirun takes for ssh.
  printf '#!/bin/sh\nhost=$1\nshift\nexec nsenter -t "$(cat %q/"$host")" -n -u -i -m -- /bin/sh -c "$*"\n' "$hosts" >"$hosts/enter"
  chmod +x "$hosts/enter"
  # The settings of jobs whose ranks stand on several machines.
  printf 'node%d\n' $(seq "$2") >"$hosts/nodes"
  PBS_NODEFILE=$hosts/nodes
  # shellcheck source=lib/comm/mpirun.sh
  . "${BASH_SOURCE[0]%/tests/*}/comm/mpirun.sh"
  unset PBS_NODEFILE
}

on_host() { # HOST COMMAND...
  nsenter -t "$(<"$hosts/$1")" -n -u -i -m -- "${@:2}"
}

# Each host takes itself for the only one on these cores: bound to them, ranks of several would share some.
mpirun_on() { # HOSTS ARGUMENT...
  on_host node1 mpirun --allow-run-as-root --host "$1" --bind-to none --mca plm ^alps,lsf,pals,slurm,tm --mca plm_rsh_agent "$hosts/enter" \
    --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 "${@:2}"
}
