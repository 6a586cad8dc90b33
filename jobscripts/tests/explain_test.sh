#!/bin/bash
# ./odori explain on what schedulers, MPI, NCCL and CUDA say: each line must be recognised as its fault, and every fault
# must have a line here.
explain=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/explain.sh
messages=${explain%.sh}/messages
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

samples() {
  cat <<'END'
unfilled|The job script reached blank 7, which isn't filled in yet.
unknown_queue|qsub: Unknown queue
unknown_queue|sbatch: error: invalid partition specified: nowhere
wrong_group|comment = Not Running: Bad GID for job execution
wrong_group|sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified
too_many_nodes|comment = Can Never Run: Insufficient amount of resource: ncpus
too_many_nodes|sbatch: error: Batch job submission failed: Requested node configuration is not available
wrong_group|qsub: Unauthorized Request
select_refused|qsub: Illegal attribute or resource value Resource_List.select
select_refused|qsub: Illegal attribute or resource value select.mpiprocs
select_refused|qsub: Illegal attribute or resource value
select_refused|qsub: Cannot be used with select or place: nodes
select_refused|qsub: Cannot have "place" without "select"
select_refused|qsub: Unknown resource Resource_List.PUT_YOUR_CODE
resource_refused|qsub: Illegal attribute or resource value Resource_List.walltime
resource_refused|qsub: Illegal attribute or resource value Resource_List.place
variable_not_set|qsub: cannot send environment with the job
another_folder|qsub: script file:: No such file or directory
no_mpirun|bash: mpirun: command not found
killed_by_memory|terminate called after throwing an instance of 'std::bad_alloc'
memory_limit|=>> PBS: job killed: mem 9000000kb exceeded limit 8388608kb
killed_by_memory|slurmstepd: error: Detected 1 oom_kill event in StepId=12.batch.
killed|/var/spool/job: line 3:  1234 Killed                  ./train
walltime_over_limit|qsub: Job violates queue and/or server resource limits
walltime_over_limit|sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)
killed_at_walltime|=>> PBS: job killed: walltime 612 exceeded limit 600
killed_at_walltime|slurmstepd: error: *** JOB 17 ON node1 CANCELLED AT 2026-11-20T12:00:00 DUE TO TIME LIMIT ***
select_refused|qsub: Unknown resource: PUT_YOUR_CODE
select_refused|qsub: Unknown resource Resource_List.ngpus
select_refused|qsub: "-lresource=" cannot be used with "select" or "place", resource is: ncpus
directive_error|qsub: directive error: -X nonsense
packed_onto_one_host|The job got 1 host(s), although its select line asks for 2 nodes: the scheduler put several chunks onto one host.
removed|The scheduler ended this job: its time was over, or somebody removed it (qdel, scancel).
removed|slurmstepd: error: *** JOB 17 ON node1 CANCELLED AT 2026-11-20T12:00:00 by UID 1000 ***
windows_line_ends|qsub: script contains cr, lf
other_scheduler|This job runs under LSF, but /home/a/odori/jobscripts/site.sh doesn't say so (SCHEDULER=).
diverged|The training diverged: main/loss is nan at the end of epoch 1.
missing_module|ERROR: Unable to locate a modulefile for 'cuda/99'
missing_module|Lmod has detected the following error: The following module(s) are unknown: "cuda/99"
another_folder|/var/spool/pbs/mom_priv/jobs/12.SC: line 19: ./job.sh: No such file or directory
windows_line_ends|-bash: ./run_multi_node_training.sh: /bin/bash^M: bad interpreter: No such file or directory
not_built|The kit isn't built yet: there is no /home/a/odori/build.
not_compiled|/home/a/odori/exercises/01_multi_gpu/train_cifar_multi_gpu.cpp doesn't compile; see above.
shared_library|train_cifar_multi_node: error while loading shared libraries: libcudnn.so.9: cannot open shared object file
not_enough_slots|There are not enough slots available in the system to satisfy the 4
no_remote_shell|Permission denied (publickey,gssapi-keyex,gssapi-with-mic).
no_remote_shell|Host key verification failed.
no_tcp_connection|A process or daemon was unable to complete a TCP connection
daemon_lost|ORTE has lost communication with a remote daemon.
daemon_lost|An ORTE daemon has unexpectedly failed after launch and before
as_root|mpirun has detected an attempt to run as root.
driver_too_old|CUDA driver version is insufficient for CUDA runtime version
no_gpu|no CUDA-capable device is detected
no_such_gpu|CUDA failure: invalid device ordinal
no_kernel_image|no kernel image is available for execution on the device
gpu_out_of_memory|CUDA error: out of memory
nccl_duplicate_gpu|node1:77:92 [1] init.cc:943 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000
nccl_network|NCCL WARN Bootstrap : no socket interface found
timed_out|A collective of NCCL timed out after 60 s
timed_out|MPI's exchange between the ranks has made no progress for 60 seconds. Rank 1 (n1, PID 7) is stopped, by a signal or a debugger.
killed_by_memory|slurmstepd: error: Detected 1 oom-kill event(s) in StepId=3.batch
killed|mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).
segmentation_fault|mpirun noticed that process rank 0 with PID 5 on node n1 exited on signal 11 (Segmentation fault).
disk_full|write error: No space left on device
disk_full|cp: error writing 'x': Disk quota exceeded
no_data|There is no data set in datasets/cache.
no_permission|bash: run_multi_gpu_training.sh: Permission denied
queue_closed|qsub: Queue is not enabled
queue_closed|sbatch: error: Batch job submission failed: Required partition not available (inactive or drain)
queue_closed|    17   gpu  odori  aoki PD  0:00  2 (PartitionDown)
too_many_jobs|qsub: would exceed complex's per-user limit of jobs in 'Q' state
too_many_jobs|qsub: Maximum number of jobs already in queue for user
too_many_jobs|sbatch: error: QOSMaxSubmitJobPerUserLimit
held|    job_state = H
held|comment = job held, too many failed attempts to run
held|    17   gpu  odori  aoki PD  0:00  2 (JobHeldUser)
node_failed|slurmstepd: error: *** JOB 17 ON node1 CANCELLED AT 2026-11-20T12:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***
node_failed|=>> PBS: job killed: node 1 (n2) requested job terminate, 'EOF' (code 1099) - received SISTER_EOF attempting to communicate with sister MOM
preempted|slurmstepd: error: *** JOB 17 ON node1 CANCELLED AT 2026-11-20T12:00:00 DUE TO PREEMPTION ***
no_driver_library|./train: error while loading shared libraries: libcuda.so.1: cannot open shared object file: No such file or directory
no_driver_library|NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.
library_too_old|./train: /lib64/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by ./train)
illegal_instruction|mpirun noticed that process rank 0 with PID 5 on node n1 exited on signal 4 (Illegal instruction).
mpi_not_started|The application appears to have been direct launched using "srun",
mpi_not_started|[n1:1234] [[9,0],0] ORTE_ERROR_LOG: Not found in file ess_hnp_module.c at line 320
network_layer|[1700000000.1] [n1:77 :0] select.c:627 UCX  ERROR no active messages transport to <no debug data>
gpu_broken|CUDA error: uncorrectable ECC error encountered
gpu_broken|NVRM: Xid (PCI:0000:1b:00): 79, pid=77, GPU has fallen off the bus.
bus_error|mpirun noticed that process rank 1 with PID 6 on node n1 exited on signal 7 (Bus error).
killed_by_memory|17  odori  gpu  students  2 OUT_OF_MEMORY 0:125
no_scheduler|bash: qsub: command not found
no_scheduler|Command 'sbatch' not found, but can be installed with:
scheduler_unreachable|qsub: cannot connect to server pbs01 (errno=15010)
scheduler_unreachable|qstat: cannot connect to server (null) (errno=15034)
scheduler_unreachable|sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)
queue_closed|    comment = Not Running: Queue not started.
budget_spent|    comment = Not Running: Job would exceed budget limit
budget_spent|    17   gpu  odori  aoki PD  0:00  2 (AssocGrpCPUMinutesLimit)
too_many_jobs|    17   gpu  odori  aoki PD  0:00  2 (AssocGrpGRES)
held|    17   gpu  odori  aoki PD  0:00  2 (launch failed requeued held)
dependency_failed|    17   gpu  odori  aoki PD  0:00  2 (DependencyNeverSatisfied)
nodes_unavailable|    17   gpu  odori  aoki PD  0:00  2 (ReqNodeNotAvail, UnavailableNodes:gpu[01-04])
walltime_over_limit|qsub: Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement
killed_at_walltime|=>> PBS: job killed: cput 612 exceeded limit 600
memory_limit|=>> PBS: job killed: vmem 8388608kb exceeded limit 4194304kb
memory_limit|slurmstepd: error: Job 17 exceeded memory limit (9000000 > 8388608), being killed
cpu_limit|=>> PBS: job killed: ncpus 37.5 exceeded limit 1 (sum)
removed|slurmstepd: error: *** JOB 17 ON node1 CANCELLED AT 2026-11-20T12:00:00 ***
removed|17  odori  gpu  students  2 CANCELLED by 1000 0:0
removed|Terminated
no_module_command|/var/spool/pbs/mom_priv/jobs/12.SC: line 20: module: command not found
no_module_command|bash: module: コマンドが見つかりません
no_module_command|/home/a/odori/jobscripts/site.sh names modules (MODULES=), but this node has no command `module`.
missing_module|These module(s) or extension(s) exist but cannot be loaded as requested: "openmpi/4.1"
missing_module|The module cuda/99 can't be loaded. `module avail` lists those that there are;
another_folder|/var/spool/pbs/mom_priv/jobs/12.SC: 19 行: ./job.sh: そのようなファイルやディレクトリはありません
windows_line_ends|sbatch: error: Batch script contains DOS line breaks (\r\n)
windows_line_ends|sbatch: error: instead of expected UNIX line breaks (\n).
windows_line_ends|run_multi_gpu_training.sh: line 19: $'\r': command not found
windows_line_ends|run_multi_gpu_training.sh: 19 行: $'\r': コマンドが見つかりません
cmake_too_old|  CMake 3.25 or higher is required.  You are running version 3.20.2
compiler_too_old|c++: error: unrecognized command-line option '-std=c++20'; did you mean '-std=c++2a'?
compiler_too_old|nvcc fatal   : Value 'c++20' is not defined for option 'std'
compiler_too_old|  Target "odori" requires the language dialect "CXX20", but CMake does not
compiler_too_old|/home/a/odori/lib/trace/trace.h:6:10: fatal error: span: No such file or directory
library_to_build_with|/usr/bin/ld: cannot find -lmpi: No such file or directory
library_to_build_with|/home/a/odori/lib/comm/mpi.cpp:3:10: fatal error: mpi.h: No such file or directory
not_compiled|/home/a/odori/exercises/01_multi_gpu/train_cifar_multi_gpu.cpp:41:25: error: expected primary-expression before ';' token
not_compiled|/home/a/odori/lib/backend/cuda/kernels/fill.cu(12): error: expected a ";"
no_driver_library|bash: nvidia-smi: command not found
no_driver_library|There is no GPU 0: no NVIDIA driver was found on this machine.
shared_library|./train: 共有ライブラリのロード中にエラーが発生しました: libmpi.so.40: 共有オブジェクトファイルを開けません
illegal_instruction|/var/spool/job: line 3:  1234 Illegal instruction     (core dumped) ./train
no_mpirun|mpirun: コマンドが見つかりません
host_key_changed|@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
daemon_lost|ORTE was unable to reliably start one or more daemons.
daemon_lost|bash: orted: command not found
mpi_not_started|It looks like opal_init failed for some reason; your parallel process is
driver_mismatch|Failed to initialize NVML: Driver/library version mismatch
driver_too_old|CUDA error: the provided PTX was compiled with an unsupported toolchain.
gpu_not_ready|CUDA error: system not yet initialized
gpu_busy|CUDA error: all CUDA-capable devices are busy or unavailable
no_such_gpu|There is no GPU 2: this machine has 2, numbered from 0. Ask for fewer, or let several devices stand on one GPU with --share_devices.
gpu_out_of_memory|GPU 0 is out of memory: the weights need 512 MiB, and 3 of its 40960 MiB are free.
gpu_out_of_memory|NCCL WARN Cuda failure 2 'out of memory'
gpu_out_of_memory|GPU 0 failed while clearing memory: out of memory (cudaErrorMemoryAllocation). Lower --batchsize, --image_size or --workspace_mib.
illegal_memory|CUDA error: an illegal memory access was encountered
illegal_memory|NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=train, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS
gpu_broken|NVRM: Xid (PCI:0000:3b:00): 48, pid=1234, An uncorrectable double bit error (DBE) has been detected on GPU
nccl_version|init.cc:943 NCCL WARN Mismatched NCCL version detected : rank 0 version 21803 rank 1 version 22105
shared_memory_full|n1:1:2 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-4tnDKe to 9637892 bytes
shared_memory_full|Error while creating shared memory segment /dev/shm/nccl-VPyhzw (size 9637888), error: No space left on device (28)
locked_memory|n1:1:2 [0] misc/ibvwrap.cc:203 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory
locked_memory|UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory : Please set max locked memory (ulimit -l) to 'unlimited'
nccl_infiniband|n1:1:2 [0] misc/ibvwrap.cc:262 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument
nccl_infiniband|n1:1:2 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1234> with error 12, opcode 0
nccl_network|NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)
network_layer|[n1:77:0:77]  ib_mlx5_log.c:171  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)
too_many_processes|bash: fork: retry: Resource temporarily unavailable
too_many_processes|bash: fork: retry: リソースが一時的に利用できません
too_many_processes|libgomp: Thread creation failed: Resource temporarily unavailable
too_many_processes|OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 64: Resource temporarily unavailable
too_many_processes|  what():  Resource temporarily unavailable
killed_by_memory|srun: error: gpu03: task 1: Out Of Memory
killed_by_memory|gpu03 kernel: Out of memory: Killed process 12345 (train_cifar_mul) total-vm:12345678kB
killed|train_cifar: exited with code 137
segmentation_fault|srun: error: n1: task 0: Exited with exit code 139
out_of_range|terminate called after throwing an instance of 'std::out_of_range'
out_of_range|  what():  vector::_M_range_check: __n (which is 4) >= this->size() (which is 4)
bus_error|/var/spool/job: 27 行: 1234 バスエラー
stale_file|cat: out/log: Stale file handle
read_only|mkdir: cannot create directory '/home/a/odori/out': Read-only file system
read_only|mkdir: ディレクトリ '/home/a/odori/out' を作成できません: 読み込み専用ファイルシステムです
disk_full|write: デバイスに空き領域がありません
not_executable|bash: ./run_multi_gpu_training.sh: Permission denied
not_executable|bash: ./run_multi_gpu_training.sh: 許可がありません
not_executable|zsh: permission denied: ./run_multi_gpu_training.sh
no_permission|cat: out/jobs/log.txt: 許可がありません
nccl_cuda_error|NCCL failed while connecting the ranks: unhandled cuda error (run with NCCL_DEBUG=INFO for details).
rank_lost|[node1:00000] *** An error occurred in Socket closed
rank_lost|[n1][[7,1],0][btl_tcp_frag.c:241:mca_btl_tcp_frag_recv] mca_btl_tcp_frag_recv: readv failed: Connection reset by peer (104)
rank_lost|NCCL error: remote process exited or there was a network error
step_ended|slurmstepd: error: *** STEP 17.0 ON node1 CANCELLED AT 2026-11-20T12:00:00 ***
step_ended|srun: error: n1: task 0: Killed
command_not_found|/var/spool/job: line 3: nvcc: command not found
command_not_found|bash: cmake: コマンドが見つかりません
command_not_found|sh: 1: python: not found
job_waits|    job_state = Q
job_waits|    comment = Not Running: Insufficient amount of resource: ngpus (R: 4 A: 0 T: 8)
job_waits|    17   gpu  odori  aoki PD  0:00  2 (Priority)
job_waits|   JobState=PENDING Reason=Resources Dependency=(null)
job_runs|    job_state = R
job_runs|    17   gpu  odori  aoki  R  2:03  2 gpu[01-02]
job_over|    job_state = F
job_over|qstat: 17.head Job has finished, use -x or -H to obtain historical job information
out_of_range|/usr/include/c++/12/span:278: T& std::span<T>::operator[](size_type) const: Assertion '__idx < size()' failed.
mpi_abort|MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
mpi_abort|Rank 1 of 4 stopped, and all ranks with it.
slower|Speedup: 0.83 (43.1 / 51.8 [images/sec.])
END
}

first_lines() {  # FILE: KEY|LINE, the first line of each section's text
  awk '/^## / { key = $2; next } key && !/^    / && !/^$/ { print key "|" $0; key = "" }' "$1"
}

# All logs in one call, and what is said of each by itself: under its name, with its line. In Japanese some are enough: what is
# looked for is the same, and so are the sections.
mkdir "$folder/logs"
explained() { # LANGUAGE, and lines KEY|LINE from the input
  local keys=() lines=() said=() texts=$messages.md at=0 key line i
  local -A text=()
  [[ $1 == en ]] || texts=$messages.ja.md
  while IFS='|' read -r key line; do text[$key]=$line; done < <(first_lines "$texts")
  while IFS='|' read -r key line; do
    : $((at += 1))
    keys[at]=$key lines[at]=$line
    printf 'some line before\n%s\n' "$line" >"$folder/logs/$at"
  done
  (cd "$folder/logs" && LC_ALL=C.UTF-8 "$explain" --lang "$1" "${!keys[@]}") >"$folder/said" 2>&1
  at=0
  while IFS= read -r line; do
    [[ ! $line =~ ^([0-9]+): ]] || at=${BASH_REMATCH[1]}
    said[at]+=$line$'\n'
  done <"$folder/said"
  for i in "${!keys[@]}"; do
    [[ ${said[i]:-} == "$i:2:"*"${text[${keys[i]}]:-no text}"* ]] ||
      fail "'${lines[i]}' isn't explained as ${keys[i]} ($1): ${said[i]:-}"
  done
}
explained en < <(samples)
explained ja < <(samples | awk 'NR % 10 == 1')

keys() { sed -n 's/^## //p' "$1"; }
[[ $(keys "$messages.md") == "$(keys "$messages.ja.md")" ]] || fail "the two languages have different sections"
for language in "" .ja; do
  [[ $(first_lines "$messages$language.md" | cut -d '|' -f 1) == "$(keys "$messages$language.md")" ]] ||
    fail "a section of $messages$language.md has no text"
done
untried=$(comm -3 <(samples | cut -d '|' -f 1 | sort -u) <(keys "$messages.md" | sort))
[[ -z $untried ]] || fail "these sections have no line in this test: $untried"
bare=$(awk 'after && !/^    / { print after } { after = /^## / ? $2 : "" }' "$messages.md")
[[ -z $bare ]] || fail "these sections have no pattern: $bare"
grep -E '^    .*(\\b|[{])' "$messages.md" && fail "a pattern holds what not every awk knows"

# Healthy: what a site's shell, CMake, mpirun, NCCL, PBS and the kit itself say when all is well.
cat >"$folder/log" <<'END'
Job 7.head: multi_node on gpu01, 2026-11-20 12:00:00
-- Performing Test CMAKE_HAVE_LIBC_PTHREAD - Failed
-- Looking for pthread_create in pthreads - not found
-- Could NOT find NCCL (missing: NCCL_LIBRARY NCCL_INCLUDE_DIR)
-- Check for working CUDA compiler: /usr/local/cuda/bin/nvcc - skipped
    group_list = students
    Hold_Types = n
    Resource_List.mem = 16gb
    Resource_List.select = 2:mpiprocs=2:ompthreads=1
    comment = Job run at Fri Nov 20 at 12:00 on (gpu01:ncpus=2)+(gpu02:ncpus=2)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 PreemptEligibleTime=2026-11-20T12:00:00 PreemptTime=None
max locked memory           (kbytes, -l) 64
max user processes                  (-u) 4096
[gpu01:1234] MCW rank 0 bound to socket 0[core 0[hwt 0]]: [B/.][./.]
gpu01:77:92 [0] NCCL INFO NET/IB : No device found.
gpu01:77:92 [0] NCCL INFO Allocated 9637888 bytes of shared memory in /dev/shm/nccl-4tnDKe
epoch       main/loss   validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time
137         2.5719      2.30431               0.139          0.05                      9.0470519
Throughput: 51.8 [images/sec.] (10000 / 193.1)
Throughput: 87.7 [images/sec.] (10000 / 114.0)
Speedup: 1.69 (87.7 / 51.8 [images/sec.])
END
"$explain" --lang en "$folder/log" | grep -q 'nothing went wrong' || fail "a healthy log: $("$explain" --lang en "$folder/log")"
# It came to its end: a line that looks like a fault didn't stop it.
said_of() { printf "$1" | "$explain" --lang "${2:-en}"; }
job='Job 7: multi_node on n1, 2026\n'
end='Throughput: 51\nThroughput: 87\nSpeedup: 1.69 (87.7 / 51.8 [images/sec.])\n'
line='[gpu03][[1,1],0][btl_tcp_endpoint.c:625] connect() to 172.17.0.1 failed: Connection refused (111)\n'
said=$(said_of "$job$line$end")
[[ $said == *"came to its end, with the line: Speedup: 1.69"*"below didn't stop it"*"the input:2:"*"leads nowhere"* ]] ||
  fail "a harmless line: $said"
said=$(said_of "$job$line$end" ja)
[[ $said == *"最後まで終わっています"*"Speedup: 1.69"*"止めていません"*":2:"* ]] || fail "a harmless line in Japanese: $said"
said_of "Job 7: single_gpu on n1, 2026\n/etc/profile: /opt/x: Permission denied\nThroughput: 51\n" |
  grep -q 'came to its end' || fail "a harmless line of the baseline's own job"
for log in "$job${line}Throughput: 51\n" "$job$line${end/1.69/0.83}" "${job}Speedup: 0.83 (1 / 2)\n" \
  "$job${end}write error: No space left on device\n" "${job}although its select line asks for 2 nodes\n$end"; do
  said=$(said_of "$log")
  [[ $said == *"the input:"[2-5]:* && $said != *"came to its end"* ]] || fail "a fault is called harmless: $log"
done
# It ends in what isn't known here: that line is shown.
log="${job}epoch main/loss\nlibfoo: no such frobnicator\n\n \n"
said=$(said_of "$log")
[[ $said == *"ends early"*"  libfoo: no such frobnicator"*"an error that isn't known here"*"still runs"* ]] ||
  fail "an unknown error in a job: $said"
said=$(said_of "$log" ja)
[[ $said == *"途中で終わっています"*"  libfoo: no such frobnicator"*"知られていない"*"まだ動いています"* ]] || fail "and in Japanese: $said"
# A line is told once, and what follows from another fault isn't told.
told_beside() { # LOG TEXT
  said_of "$1" | grep -q "$2" && fail "'$2' is told of: $1"
}
told_beside 'qsub: Illegal attribute or resource value Resource_List.select\n' HH:MM:SS
told_beside 'error while loading shared libraries: libcuda.so.1: cannot open shared object file\n' 'same modules in the job'
told_beside '=>> PBS: job killed: mem 9kb exceeded limit 8kb\nThe scheduler ended this job: its time was over\n' qdel
told_beside '=>> PBS: job killed: walltime 10 exceeded limit 6\nrank 1 exited on signal 9 (Killed).\n' 'killed from outside'
told_beside 'REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.\n' 'could not reach'
jobs=' 17 gpu odori aoki R 2:03 2 gpu[01-02]\n 18 gpu odori aoki PD 0:00 2 (Priority)\n'
told_beside "${jobs}bash: ./x.sh: Permission denied\n" 'this job'
said=$(said_of "$jobs")
[[ $said == *"this job waits"*"this job runs"* ]] || fail "a job that runs and one that waits: $said"
# An abort isn't the cause, where the cause stands there too.
printf 'Rank 1: There is no GPU 3\nMPI_ABORT was invoked on rank 1\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'One rank stopped' && fail "the abort is told beside its cause"
# Healthy: `qstat -f` names the group_list of each job.
printf 'Job Id: 7.head\n    group_list = students\n    Resource_List.select = 2:mpiprocs=2\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q "isn't one of yours" && fail "a healthy qstat -f is told that its group is wrong"
printf 'Job Id: 7.head\n    job_state = R\n    group_list = students\n' | "$explain" --lang en | grep -q 'this job runs' ||
  fail "a qstat -f of a job that runs isn't told so"
printf 'Job Id: 7.head\n    job_state = Q\n' | "$explain" --lang en | grep -q 'this job waits' || fail "nor one of a job that waits"
# PBS says why it ended the job, and the job itself only that it was ended.
printf '=>> PBS: job killed: walltime 10 exceeded limit 6\nThe scheduler ended this job: its time was over, or somebody removed it\n' |
  "$explain" --lang en | grep -q 'qdel' && fail "a job that PBS killed at its limit is told of qdel"
# Killed in its baseline, in the second training, and between them.
printf 'Job 7: multi_node on n1, 2026\nThroughput: 51 [images/sec.]\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'ends early' || fail "a log that ends behind the baseline isn't called early"
printf 'Job 7: multi_gpu on n1, 2026\nepoch main/loss\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'ends early' || fail "a log that ends in the baseline isn't called early"
printf 'Throughput: 51 [images/sec.]\nNum process (COMM_WORLD): 4\n' >"$folder/log"
"$explain" --lang ja "$folder/log" | grep -q '途中で終わっています' || fail "an early end without a first line isn't told in Japanese"
printf 'Job 7: single_gpu on n1, 2026\nThroughput: 51 [images/sec.]\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'nothing went wrong' || fail "the baseline's own job isn't called good"
printf 'qsub: Unknown queue\n' | "$explain" --lang en | grep -q 'has no queue of that name' || fail "a pipe isn't read"
printf 'x\033]0;owned\007 Unknown queue %s\n' "$(head -c 100000 /dev/zero | tr '\0' y)" >"$folder/log"
"$explain" --lang en "$folder/log" >"$folder/said"
LC_ALL=C grep -q "$(printf '[\001-\010\033\007]')" "$folder/said" && fail "control characters reach the terminal"
[[ $(wc -c <"$folder/said") -lt 5000 ]] || fail "a long line is printed whole"
# An encoding of former times, and controls above ASCII.
printf 'エラー: qsub: Unknown queue \xc2\x9b31m\n' | iconv -f UTF-8 -t EUC-JP//IGNORE >"$folder/log" 2>/dev/null
printf 'qsub: Unknown queue \xc2\x9b31m \x9b31m\n' >>"$folder/log"
for locale in C.UTF-8 C; do
  LC_ALL=$locale "$explain" --lang en "$folder/log" >"$folder/said" 2>&1
  grep -q 'log:1:.*qsub: Unknown queue' "$folder/said" || fail "in the locale $locale a line that isn't UTF-8 isn't shown: $(<"$folder/said")"
  LC_ALL=C grep -q $'\x9b' "$folder/said" && fail "in the locale $locale a control character above ASCII reaches the terminal"
done
# A TMPDIR that isn't there; and none that takes a file, where a log must not be called empty.
printf 'qsub: Unknown queue\n' >"$folder/log"
TMPDIR=/nonexistent "$explain" --lang en "$folder/log" 2>&1 | grep -q 'has no queue of that name' || fail "a TMPDIR that isn't there stops it"
mkdir "$folder/bin"
# A link to /dev/full: explain removes its copy, and what it removes must be this test's own.
for mktemp in 'exit 1' "ln -sf /dev/full '$folder/full' && echo '$folder/full'"; do
  printf '#!/bin/sh\n%s\n' "$mktemp" >"$folder/bin/mktemp"
  chmod +x "$folder/bin/mktemp"
  said=$(PATH=$folder/bin:$PATH "$explain" --lang en "$folder/log" 2>&1)
  [[ $? -eq 20 && $said == *"there is no room for a copy of the log"* && $said != *"is empty"* ]] || fail "with mktemp as $mktemp: $said"
done
timeout 60 "$explain" --lang en /dev/zero 2>&1 | grep -q 'is a device' || fail "a device is read without end"
printf 'Throughput: 51\nSpeedup: 1.69 (87.7 / 51.8 [images/sec.])\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'nothing went wrong.*1\.69' || fail "a good log isn't called good"
"$explain" --lang en "$folder/log" | grep -q 'slower than on one' && fail "a speedup is called a slowdown"
LC_ALL=C.UTF-8 "$explain" "$folder/log" --lang ja | grep -q '問題は見つかりません' || fail "--lang behind the log isn't taken"
LC_ALL='' LC_MESSAGES='' LANG=ja_JP.UTF-8 "$explain" "$folder/log" | grep -q '問題は見つかりません' || fail "LANG isn't taken"
: >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'is empty' || fail "an empty log isn't told so"
printf 'gibberish\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'none of the known faults' || fail "an unknown log isn't told so"
"$explain" "$folder/nowhere" >/dev/null 2>&1
[[ $? -eq 2 ]] || fail "a log that isn't there must end with exit code 2"
"$explain" --lnag ja "$folder/log" 2>&1 | grep -q 'Did you mean --lang?' || fail "the nearest flag isn't offered"

echo "$(samples | wc -l) lines explained in two languages, $failures failed."
exit $((failures > 0))
