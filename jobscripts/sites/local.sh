# SPDX-License-Identifier: Apache-2.0
# A machine without a scheduler, a laptop or a box with two GPUs: nothing of this is needed, but it may be changed.
#
#   cp sites/local.sh site.sh      in jobscripts/; ./odori submit then runs the script right here

SCHEDULER=none

# Devices that task 1 uses: GPUs, or CPU devices where there are none.
GPUS_A_NODE=2

# Processes stay where the system puts them. On a box with two sockets and two GPUs, "--map-by socket --bind-to socket
# --report-bindings" keeps each near its GPU.
BINDING="--bind-to none"

# More flags for mpirun.
MPI_FLAGS=
