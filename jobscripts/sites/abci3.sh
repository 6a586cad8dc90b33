# SPDX-License-Identifier: Apache-2.0
# ABCI 3.0 (AIST): PBS, nodes with 8 H200. From the site's public pages, 2025; not tried there.

SCHEDULER=pbs
QUEUE=rt_HF             # whole nodes; `qgstat` shows what is free
GROUP=                  # the group goes to QSUB_FLAGS here: -P GROUP
WALLTIME=00:10:00
GPUS_A_NODE=8           # what task 1 uses; task 2 uses two of each node
CHUNK=

# -P names your group. Without USE_SSH=1 no process can be started on the job's other nodes.
QSUB_FLAGS="-P your_group -v USE_SSH=1"
MODULES="cuda/12.6 hpcx/2.20"
LAUNCHER=ssh

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=

# Where processes stand: one a GPU, and mpirun says where (seen in the log's first lines).
BINDING="--bind-to none --report-bindings"

# More flags for mpirun.
MPI_FLAGS=
