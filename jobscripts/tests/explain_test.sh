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
killed_by_memory|=>> PBS: job killed: mem 9000000kb exceeded limit 8388608kb
killed_by_memory|slurmstepd: error: Detected 1 oom_kill event in StepId=12.batch.
killed_by_memory|/var/spool/job: line 3:  1234 Killed                  ./train
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
killed_by_memory|mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).
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
mpi_abort|MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
mpi_abort|Rank 1 of 4 stopped, and all ranks with it.
slower|Speedup: 0.83 (43.1 / 51.8 [images/sec.])
END
}

text_of() {  # FILE KEY: its text's first line
  awk -v key="$2" '/^## / { on = $2 == key; next } on && !/^    / && !/^$/ { print; exit }' "$1"
}

while IFS='|' read -r key line; do
  printf 'some line before\n%s\n' "$line" >"$folder/log"
  for language in en ja; do
    file=$messages.md
    [[ $language == en ]] || file=$messages.ja.md
    LC_ALL=C.UTF-8 "$explain" --lang $language "$folder/log" >"$folder/said" 2>&1
    grep -qF -- "$(text_of "$file" "$key")" "$folder/said" && grep -qF "log:2:" "$folder/said" ||
      fail "'$line' isn't explained as $key ($language): $(<"$folder/said")"
  done
done < <(samples)

keys() { sed -n 's/^## //p' "$1"; }
[[ $(keys "$messages.md") == "$(keys "$messages.ja.md")" ]] || fail "the two languages have different sections"
for key in $(keys "$messages.md"); do
  samples | grep -q "^$key|" || fail "the section $key has no line in this test"
  [[ $(grep -A1 "^## $key\$" "$messages.md" | tail -n 1) == "    "* ]] || fail "the section $key has no pattern"
done

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
