# SPDX-License-Identifier: Apache-2.0
# A site with PBS (OpenPBS, PBS Professional), as an example: copy it to ../site.sh and change what differs.
#
#   cp sites/pbs.sh site.sh        in jobscripts/; ./odori submit and the job scripts read it
#
# A line that isn't needed may go, or stay empty.

SCHEDULER=pbs

# For `./odori submit`: into -q, -W group_list and -l walltime of the submitted script.
QUEUE=workq             # `qstat -Q` lists the queues
GROUP=                  # `id -Gn` lists your groups
WALLTIME=00:10:00

# GPUs of a node: all for task 1, up to two for task 2.
GPUS_A_NODE=2

# Added to each chunk of the select line, where the site wants to be told what a node has to give: ncpus=36:ngpus=2
CHUNK=

# More flags for qsub, as -P PROJECT.
QSUB_FLAGS=

# Loaded by each job before anything runs; the same as for building the kit.
MODULES="cuda/12.6 openmpi/4.1"

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=ib0

# Where processes stand: one a GPU, each near its socket, and mpirun says where (seen in the log's first lines).
BINDING="--map-by socket --bind-to socket --report-bindings"

# What starts processes on the other nodes. Empty: Open MPI knows PBS (`ompi_info | grep tm`), or else pbs_tmrsh is used.
# Another command that takes HOST COMMAND..., as ssh does, may stand here.
LAUNCHER=

# More flags for mpirun.
MPI_FLAGS=
