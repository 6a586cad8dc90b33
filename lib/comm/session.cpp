// SPDX-License-Identifier: Apache-2.0
#include "comm/session.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>

#include "comm/background.h"
#include "comm/collective.h"
#include "comm/mpi_check.h"
#include "errors/error.h"
#include "errors/language.h"
#include "errors/text.h"
#include "observe/hooks.h"
#include "program/program.h"
#include "program/rank_table.h"
#include "threads/watchdog.h"

namespace odori {
namespace {

/// Call before MPI_Init. Open MPI copies long messages between ranks of a node with process_vm_readv ("cross-memory
/// attach", CMA). Docker, Podman and Kubernetes may refuse this system call, and then each message fails with
/// "Read -1, expected N, errno = 1". This calls it once, on this process's own memory; where it is refused, Open MPI is
/// set to copy through shared memory, by its parameters btl_vader_single_copy_mechanism (version 4) and smsc (5),
/// unless the environment has set them. Returns whether it is refused.
bool avoid_refused_reads() {
  char from = 0, to = 0;
  const iovec local{&to, 1}, remote{&from, 1};
  if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1) return false;
  ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  ::setenv("OMPI_MCA_smsc", "^cma", 0);
  return true;
}

constexpr int exit_code_of_environment = 20;  // as of ./odori doctor

const Watchdog::Words words{
    {"MPI's exchange between the ranks", "MPI によるランク間の通信"},
    {"All ranks have to make the same calls.", "すべてのランクが同じ呼び出しを行う必要があります。"}};
std::unique_ptr<Watchdog> watch;  // of the process's one session; none without a limit

std::unique_ptr<Watchdog> make_watch() {
  const std::chrono::seconds limit = watchdog_limit();
  return limit.count() > 0 ? std::make_unique<Watchdog>(words, limit) : nullptr;
}

bool finalized() {
  int done = 0;
  MPI_Finalized(&done);
  return done != 0;
}

/// Not before all ranks have come to their ends: one that came too early is named.
void finalize() {
  try {
    const Collective call({rank_table::last_call});
    MPI_Finalize();
  } catch (const Error&) {
    std::_Exit(report_failure());  // the caller may be a destructor
  }
  // What goes on after this is none of mpirun's ranks any more, and would outlive it.
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/// Throws Error where a launcher started several processes, and MPI takes each for a job of its own: they would train
/// the same side by side.
void refuse_alone() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const text = std::getenv(name);
    if (!text || !*text) continue;
    const int started = number_of<int>(text).value_or(1);
    if (started < 2) return;
    const Text alone{
        fmt::format("{} processes were started ({}), but MPI takes this one for a job of one rank: this MPI and what "
                    "started them do not fit together. Use ./odori run or a job script, which take the mpirun of the "
                    "MPI that the kit was built with; srun needs an Open MPI with PMIx support (srun --mpi=pmix).",
                    started, name),
        fmt::format("{} 個のプロセスが起動されました（{}）が、MPI からはこのプロセスだけのジョブに見えています。MPI と"
                    "起動方法が合っていません。キットのビルドに使った MPI の mpirun を使う ./odori run またはジョブ"
                    "スクリプトで実行してください。srun を使うには、PMIx に対応した Open MPI が必要です（srun "
                    "--mpi=pmix）。",
                    started, name)};
    throw Error(alone, exit_code_of_environment);
  }
}

void say_copied_twice() {
  const Text text{
      "Note: this container does not let ranks read each other's memory (process_vm_readv), so Open MPI copies "
      "messages "
      "through shared memory, which takes two copies instead of one. To allow it: docker run --cap-add SYS_PTRACE.",
      "注意: このコンテナではランクどうしがメモリを直接読めない（process_vm_readv）ため、Open MPI は共有メモリを介して"
      "メッセージをコピーします（コピーは 1 回でなく 2 回）。許可するには docker run --cap-add SYS_PTRACE とします。"};
  fmt::print(stderr, "{}\n", in_language(text));
}

/// ODORI_CHECK_CALLS=0 turns the comparison of all ranks' calls off. The grader names them by its own evidence.
bool wants_calls_checked() {
  const char* const text = std::getenv("ODORI_CHECK_CALLS");
  return !observe::enabled() && !(text && std::string_view(text) == "0");
}

/// The failure has been told in a sentence, and Open MPI's box about MPI_Abort() would only hide it. What mpirun itself
/// says, as of a rank that dies by a signal, stays. Open MPI 5 hasn't this switch, and shows its box.
void leave_out_open_mpis_box() {
  if (void* const quiet = ::dlsym(RTLD_DEFAULT, "orte_execute_quiet")) *static_cast<bool*>(quiet) = true;
}

/// Also called by report_failure() on a rank whose session is gone already, so it asks MPI itself.
void end_job(int code) {
  if (finalized()) return;
  if (code == exit_code::ok) return finalize();
  leave_out_open_mpis_box();
  MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace

BlockingCall::BlockingCall(const rank_table::Call& call) noexcept {
  Background::wait_for_all();
  const observe::CollectiveScope* const outermost = observe::CollectiveScope::outermost();
  rank_table::Call shown = call;
  if (outermost && !call.is_message()) {
    shown.name = outermost->name();
    shown.site = outermost->site();
  }
  outer_ = rank_table::enter(shown);
  if (watch) watch->begin();
}

BlockingCall::BlockingCall(const CollectiveCall& plan)
    : BlockingCall(rank_table::Call{.name = plan.name, .site = plan.site}) {
  if (checks_all_calls()) agree(plan);
}

BlockingCall::~BlockingCall() {
  if (watch) watch->end();
  rank_table::leave(outer_);
}

MpiSession::MpiSession(int& argc, char**& argv) {
  std::exception_ptr wrong_limit;  // told once, as soon as all ranks can be ended
  try {
    if (rank_table::join()) watch = make_watch();
  } catch (const Error&) {
    wrong_limit = std::current_exception();
  }
  if (watch) watch->begin();
  const rank_table::Call outer = rank_table::enter(rank_table::Call{"MPI_Init()"});
  const bool reads_refused = avoid_refused_reads();
  int level = 0;
  ODORI_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level));
  ODORI_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  JobEnd job;
  ODORI_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job.rank));
  ODORI_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job.size));
  job.end_job = end_job;
  set_job_end(job);
  if (wrong_limit) std::rethrow_exception(wrong_limit);
  if (job.size == 1) refuse_alone();
  if (reads_refused && job.size > 1 && job.rank == 0) say_copied_twice();
  rank_table::all_joined(job.size);
  // mpirun doesn't carry variables to other hosts by itself.
  std::array<std::int64_t, 2> settings{watchdog_limit().count(), wants_calls_checked()};
  ODORI_MPI(MPI_Bcast(settings.data(), 2, MPI_INT64_T, 0, MPI_COMM_WORLD));
  set_watchdog_limit(std::chrono::seconds(settings[0]));
  start_agreements(settings[1] != 0);
  rank_table::leave(outer);
  watch.reset();
  if (job.size > 1) watch = make_watch();
  observe::on_rank(job.rank);
  require(level >= MPI_THREAD_FUNNELED, "This MPI can't be used by a program with threads (MPI_THREAD_FUNNELED).");
  // What happens from the first of these facts on, on whichever rank, isn't MPI's start any more.
  if (observe::enabled()) ODORI_MPI(MPI_Barrier(MPI_COMM_WORLD));
  observe::on_program_begun();
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() == 0) end_job(0);
  watch.reset();
}

}  // namespace odori
