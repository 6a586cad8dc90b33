#include "comm/session.h"

#include <dlfcn.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <thread>

#include "comm/background.h"
#include "comm/collective.h"
#include "comm/mpi_check.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "program/program.h"
#include "program/rank_table.h"
#include "threads/watch.h"

namespace odori {
namespace {

const Watch::Words words{"MPI's exchange between the ranks", "All ranks have to make the same calls."};
std::unique_ptr<Watch> watch;  // of the process's one session; none without a limit

std::unique_ptr<Watch> make_watch() {
  const std::chrono::seconds limit = watch_limit();
  return limit.count() > 0 ? std::make_unique<Watch>(words, limit) : nullptr;
}

bool finalized() {
  int done = 0;
  MPI_Finalized(&done);
  return done != 0;
}

/// MPI_Finalize returns when all ranks have come to it. One that came too early, while the others wait for it in a
/// collective call, would be a hang with no word.
void finalize() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::promise<void> done;
  std::thread watch([rank, end = done.get_future()] {
    if (end.wait_for(std::chrono::seconds(5)) == std::future_status::timeout)
      std::fprintf(stderr,
                   "\nRank %d has come to its end and waits for the other ranks. If nothing moves, it has left too "
                   "early: all ranks have to make the same collective calls. Ctrl-C ends the job.\n",
                   rank);
  });
  const Collective call("MPI_Finalize()");
  MPI_Finalize();
  done.set_value();
  watch.join();
  // What goes on after this is none of mpirun's ranks any more, and would outlive it.
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
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

Exchange::Exchange(const rank_table::Call& call) noexcept {
  Background::wait_for_all();
  outer_ = rank_table::enter(call);
  if (watch) watch->begin();
}

Exchange::~Exchange() {
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
  const rank_table::Call outer = rank_table::enter({"MPI_Init()"});
  int level = 0;
  ODORI_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level));
  ODORI_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  JobEnd job;
  ODORI_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job.rank));
  ODORI_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job.size));
  job.end_job = end_job;
  set_job_end(job);
  if (wrong_limit) std::rethrow_exception(wrong_limit);
  rank_table::all_joined(job.size);
  // mpirun doesn't carry variables to other hosts by itself.
  auto limit = static_cast<std::int64_t>(watch_limit().count());
  ODORI_MPI(MPI_Bcast(&limit, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
  set_watch_limit(std::chrono::seconds(limit));
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
