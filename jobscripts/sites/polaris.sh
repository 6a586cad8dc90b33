# SPDX-License-Identifier: Apache-2.0
# Polaris (Argonne): PBS, nodes with 4 A100. From the site's public pages, 2025; not tried there.
# The site's own MPI is Cray's; the kit needs Open MPI: build one, or load one that your project has.

SCHEDULER=pbs
QUEUE=debug             # 1 or 2 nodes, up to an hour
GROUP=
WALLTIME=00:10:00
GPUS_A_NODE=4
CHUNK=

# -A names your project. A job has to say which file systems it needs.
QSUB_FLAGS="-A your_project -l filesystems=home:eagle"
MODULES=
LAUNCHER=ssh

# The network that MPI and NCCL use; `ip -brief address` on a compute node lists them. Empty: they choose.
INTERFACE=

# Where processes stand: one a GPU, and mpirun says where (seen in the log's first lines).
BINDING="--bind-to none --report-bindings"

# More flags for mpirun.
MPI_FLAGS=
