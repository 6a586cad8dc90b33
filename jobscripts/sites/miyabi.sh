# SPDX-License-Identifier: Apache-2.0
# Miyabi-G (JCAHPC: the Universities of Tokyo and Tsukuba): PBS, GH200, one GPU a node.
# From the site's public pages, 2025; not tried there. With one GPU a node, task 2's select line is
# select=2:mpiprocs=1:ompthreads=1 and shows all that it is about; task 1 has one GPU, and so no speedup to show.

SCHEDULER=pbs
QUEUE=short-g           # debug-g for up to 30 minutes
GROUP=                  # your project: `show_token` lists them
WALLTIME=00:10:00
GPUS_A_NODE=1
CHUNK=
QSUB_FLAGS=

# GH200's processors are arm64: build the kit there, in an interactive job. The site's Open MPI is not loaded by itself.
MODULES="cuda/12.6 ompi-cuda/4.1.6-12.6"

# The site sets OMPI_MCA_mca_base_env_list, which the job scripts take back: mpirun refuses -x beside it.
LAUNCHER=

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=

# Where processes stand: one a GPU, and mpirun says where (seen in the log's first lines).
BINDING="--bind-to none --report-bindings"

# More flags for mpirun.
MPI_FLAGS=
