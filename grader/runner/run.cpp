// SPDX-License-Identifier: Apache-2.0
#include "runner/run.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "backend/gpu_plugin.h"
#include "errors/error.h"
#include "model/classifier.h"
#include "program/program.h"
#include "synthetic.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto longest_run = 180s;
// Far more than the tiny model takes, and little enough for a machine that marks many answers at once.
constexpr std::size_t memory_of_run = 1 << 30, memory_of_rank = 512 << 20;
constexpr std::size_t bytes_of_output = 16 << 20;        // a file that a run makes; none is kept
constexpr std::uintmax_t bytes_of_a_check = 50'000'000;  // more than the evidence of all its runs

/// The time that a run may take: in all, and without a new fact. Both go by how long it took to begin, before any of
/// the learner's text: a busy machine is slow in all of it.
class RunTime {
 public:
  RunTime(EvidenceFiles& files, Clock::duration least_silence) : files_(files), least_silence_(least_silence) {}
  bool is_over() {
    const auto now = Clock::now();
    // Where this process isn't served for a while, the others aren't either: that doesn't count.
    const auto served = std::min<Clock::duration>(now - asked_, 200ms);
    silent_ += served;
    lasted_ += served;
    asked_ = now;
    const std::uint64_t bytes = files_.look();
    if (bytes != bytes_) {
      if (bytes_ == 0) allowed_ = std::clamp<Clock::duration>(8 * silent_, least_silence_, 60s);
      bytes_ = bytes;
      silent_ = {};
    }
    return silent_ > allowed_ || is_over_in_all();
  }
  /// The time is over, and facts came until the end. That is no standstill of the machine, and does not have to be seen
  /// twice.
  bool is_over_while_facts_came() const { return is_over_in_all() && silent_ < allowed_ / 4; }

 private:
  bool is_over_in_all() const { return lasted_ > std::max(5 * allowed_, 15 * least_silence_ / 2); }

  EvidenceFiles& files_;
  const Clock::duration least_silence_;
  std::uint64_t bytes_ = 0;
  Clock::time_point asked_ = Clock::now();
  Clock::duration silent_{}, lasted_{}, allowed_ = 25s;
};

/// The same files in another folder: what a run opens there, no other run does.
void link_files(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directory(to, error);
  for (const auto& entry : fs::directory_iterator(from))
    if (!error) fs::create_hard_link(entry.path(), to / entry.path().filename(), error);
  if (error) throw EnvironmentFault({"disk_full", {{"file", to.string()}}});
}

/// What the C++ library's own checks (_GLIBCXX_ASSERTIONS) ended the program for: "__n < this->size()".
std::optional<std::string> failed_assertion(const std::string& output) {
  constexpr std::string_view before = ": Assertion '", behind = "' failed.";
  const auto begin = output.find(before), end = output.find(behind, std::min(begin, output.size()));
  if (end == std::string::npos) return {};
  return output.substr(begin + before.size(), end - begin - before.size());
}

/// How it ended, and a word on it.
std::pair<Ending, std::string> ending_of(const Ended& ended) {
  if (ended.stopped) return {Ending::hung, fmt::format("{:.0f}", ended.seconds)};
  switch (ended.code) {
    case exit_code::ok:
      return {Ending::finished, {}};
    case exit_code::unfilled:
      return {Ending::unfilled, {}};
    case 127:
      return {Ending::environment, "no_mpirun"};
  }
  if (const auto at = ended.output.find(": runtime error: "); at != std::string::npos) {
    const auto begin = ended.output.rfind('\n', at) + 1;  // the compiler's own checks (BuildOptions::pointer_checks)
    return {Ending::crashed, ended.output.substr(begin, ended.output.find('\n', at) - begin)};
  }
  if (ended.count("not enough slots") > 0) return {Ending::environment, "too_few_slots"};
  if (const auto at = ended.output.find(unexpected_begins); at != std::string::npos) {
    const std::string sentence = ended.output.substr(at, ended.output.find('\n', at) - at);
    return {Ending::crashed, sentence.substr(0, sentence.find_last_not_of('.') + 1)};  // the message brings its own
  }
  if (const auto condition = failed_assertion(ended.output); condition && ended.code == 128 + SIGABRT) {
    // Of a pointer, as in `get() != pointer()`; of an index or an end.
    if (condition->find("get()") != std::string::npos) return {Ending::crashed, strsignal(SIGSEGV)};
    return {Ending::crashed, fmt::format("{}{}", out_of_range_begins, *condition)};
  }
  if (ended.code > 128) return {Ending::crashed, strsignal(ended.code - 128)};
  return {Ending::failed, end_of(ended.output)};
}

/// mpirun and its flags for this many ranks on this machine; a program and its flags follow.
std::vector<std::string> mpirun_arguments(int ranks) {
  std::vector<std::string> arguments{ODORI_MPIRUN_SCRIPT, ODORI_MPIEXEC};
  if (geteuid() == 0) arguments.push_back("--allow-run-as-root");
  for (const char* argument : {"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"})
    arguments.push_back(argument);
  for (const char* argument : {"--mca", "orte_default_hostfile", "none", "-np"}) arguments.push_back(argument);
  arguments.push_back(std::to_string(ranks));
  return arguments;
}

/// No terminal, and none of the variables of a scheduler, a site or a user by which mpirun would start ranks on other
/// machines, where the scratch folder does not exist, or would not start them.
std::map<std::string, std::string> launch_environment() {
  // Open MPI reads ~/.openmpi/mca-params.conf. The grader's own limits end a run that hangs.
  std::map<std::string, std::string> environment{{"TERM", "dumb"}, {"HOME", "/nonexistent"}, {"ODORI_TIMEOUT", "0"}};
  for (char** entry = environ; *entry != nullptr; ++entry)
    for (const char* prefix : {"PBS_", "SLURM_", "OMPI_MCA_btl=", "OMPI_MCA_hwloc_base_", "OMPI_MCA_mca_base_env_list",
                               "OMPI_MCA_orte_", "OMPI_MCA_plm", "OMPI_MCA_ras", "OMPI_MCA_rmaps_", "PRTE_MCA_"})
      if (std::strncmp(*entry, prefix, std::strlen(prefix)) == 0)
        environment[std::string(*entry, std::strcspn(*entry, "="))] = "";
  return environment;
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& prefix) try : TemporaryFolder(prefix) {
} catch (const WriteError& error) {
  throw EnvironmentFault({"no_scratch", {{"folder", prefix.string()}, {"reason", std::strerror(error.reason())}}});
}

fs::path ScratchFolder::any() {
  std::error_code none;  // where TMPDIR names no folder, nothing can be made
  return fs::temp_directory_path(none) / "odori_check_";
}

std::vector<std::string> flags_of(const RunPlan& plan, const std::string& data, std::uint64_t data_seed) {
  std::vector<std::string> flags;
  const auto add = [&](std::initializer_list<std::string> more) { flags.insert(flags.end(), more); };
  const std::string seed = std::to_string(plan.programs_seed(data_seed));
  if (plan.on_devices) add({"--device", "cpu"});
  if (plan.epochs > 0) {
    add({"--model", "tiny", "--out", "out", "--seed", seed});
    if (plan.snapshots) add({"--no-snapshot", "--keep-going"});
    add({"--dataset", data});
    add({"--epoch", std::to_string(plan.epochs), "--batchsize", std::to_string(plan.batch_size)});
    add({"--learnrate", fmt::format("{}", plan.learning_rate)});
    if (plan.nodes.empty()) add({"--n-gpus", std::to_string(plan.devices)});
  }
  if (plan.seeded) add({"--seed", seed});
  if (plan.sum) add({"--compat", "chainer"});
  if (plan.scaled) add({"--scale-learnrate", "--warmup-epochs", "1"});
  if (plan.accumulate > 1) add({"--accumulate", std::to_string(plan.accumulate)});
  flags.insert(flags.end(), plan.flags.begin(), plan.flags.end());
  return flags;
}

RunData make_data(const fs::path& folder, std::size_t train, std::size_t test, std::uint64_t seed) try {
  RunData data{.folder = folder, .seed = seed};
  std::error_code ignored;
  fs::create_directories(folder.parent_path(), ignored);
  synthetic::write_set(
      folder, {.train = static_cast<std::uint32_t>(train), .test = static_cast<std::uint32_t>(test), .seed = seed});
  data.sets = load_cifar(folder.string());
  data.parameters = Classifier(create_network("tiny", data.sets.train->n_classes()), 1, 0).parameter_count();
  return data;
} catch (const Error& error) {
  if (error.code() == exit_code::interrupted) throw;
  throw EnvironmentFault({"disk_full", {{"file", folder.string()}}});
}

Start::Start(const fs::path& program, const std::vector<std::string>& flags, const RunPlan& plan, bool under_mpi,
             const fs::path& data, const fs::path& folder, bool parameters)
    : command{.environment = launch_environment(), .folder = folder},
      files(folder / "evidence", plan.ranks(), parameters),
      data_(data),
      writers_(folder / "evidence", true) {
  if (under_mpi) command.arguments = mpirun_arguments(plan.ranks());
  command.arguments.push_back(program.string());
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  command.environment["ODORI_EVIDENCE"] = files.name();
  command.environment["ODORI_NODES"] = fmt::format("{}", fmt::join(plan.nodes, ","));
  command.environment["ODORI_LINK"] = plan.link;
  command.environment["ODORI_TEST_CASES"] = plan.test_cases;
  policy.readable = {program, data};
  policy.writable = files.paths();
  policy.folders = {folder};
}

Evidence Start::read(EvidenceLimits limits, bool marked, bool sandboxed) {
  Evidence evidence{
      .ending = Ending::finished, .ranks = files.read(limits, marked), .data_reads = data_.most_openings()};
  // On the user's own machine other programs may look at files, and nobody gains by forging.
  if (sandboxed && writers_.most_openings() > 1)
    for (RankSeen& rank : evidence.ranks) rank.forged = Finding{"evidence_opened"};
  return evidence;
}

bool ended_by_accident(const Ended& ended, bool under_mpi) {
  return ended.killed_from_outside() ||
         (under_mpi && !ended.stopped && ended.code > 128 && ended.count("exited on signal") == 0);
}

std::vector<fs::path> libraries_of(const fs::path& kits) {
  std::set<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    for (const char* of_system : {"/usr/", "/lib", "/bin/"})
      if (file.string().starts_with(of_system)) return;
    // PREFIX of PREFIX/lib/libmpi.so or PREFIX/bin/mpirun, which needs PREFIX/share too.
    const fs::path folder = file.parent_path(), name = folder.filename();
    folders.insert(name == "lib" || name == "lib64" || name == "bin" ? folder.parent_path() : folder);
  };
  add(ODORI_MPIEXEC);
  folders.insert(ODORI_MPIRUN_SCRIPT);
  Command ldd{.arguments = {"ldd", kits.string()}};
  if (built_for_gpus() && has_gpu_driver()) ldd.arguments.push_back(gpu_plugin_file());
  std::istringstream fields(run_process(ldd).output);  // "libmpi.so.40 => /path (0x...)"
  for (std::string field; fields >> field;)
    if (field.starts_with('/')) add(field);
  return {folders.begin(), folders.end()};
}

Runner::Runner(const Task& task, fs::path solution, std::uint64_t seed, const Sandbox* sandbox,
               std::chrono::seconds least_silence)
    : task_(task), solution_(std::move(solution)), sandbox_(sandbox), least_silence_(least_silence) {
  if (sandbox_) libraries_ = libraries_of(solution_);
  // Neither size can be divided by 2, 3 or 4, nor the training set's by 5. With these sizes and batches of 4, epochs
  // end in the same updates on 4 ranks whose shards differ by one image (force_equal_length = false), as they do with
  // the workshop's 50000 images.
  const auto train = std::array{53u, 61u, 71u, 77u}[seed % 4], test = std::array{23u, 25u, 29u, 31u}[seed / 4 % 4];
  data_ = make_data(scratch_.path() / "data", train, test, seed);
  // Evidence that is cut short would tell of mistakes that nobody made.
  std::error_code unknown;
  if (const auto space = fs::space(scratch_.path(), unknown); !unknown && space.available < bytes_of_a_check)
    throw EnvironmentFault({"disk_full", {{"file", scratch_.path().string()}}});
}

Evidence Runner::run(const fs::path& program, const RunPlan& plan, const std::atomic<bool>& cancelled) const {
  Attempt learners;
  std::map<int, int> times;  // that it ended in a way that counts after as many
  // Where the kit's program runs before and after each time, the learner's alone is to blame for what comes again.
  do {
    learners = attempt(program, plan, cancelled);
    if (learners.finished() || cancelled) return learners.evidence;
    if (std::error_code unknown; !fs::exists(program, unknown)) {
      learners.evidence.ending = Ending::environment;
      learners.evidence.detail = "build_gone";
      return learners.evidence;
    }
    Attempt kits = attempt(solution_, plan, cancelled);
    if (kits.times_to_count() > 1) kits = attempt(solution_, plan, cancelled);
    if (!kits.finished()) {
      // A sentence of comm/mpirun.sh says more than any guess.
      if (!kits.began && kits.evidence.ending == Ending::failed && kits.evidence.detail.starts_with("odori: "))
        throw EnvironmentFault({"start_refused", {{"said", kits.evidence.detail}}});
      if (kits.evidence.ending != Ending::environment)
        kits.evidence.detail = kits.killed ? "killed_from_outside" : kits.began ? "kit_fails" : "no_start";
      kits.evidence.ending = Ending::environment;
      return kits.evidence;
    }
  } while (++times[learners.times_to_count()] < learners.times_to_count());
  Evidence& evidence = learners.evidence;
  if (evidence.ending == Ending::environment) {
    // It says, or ends, as if the machine were to blame.
    evidence.ending = Ending::crashed;
    evidence.detail = evidence.detail == "no_mpirun" ? "exit code 127" : "not enough slots";
  }
  return evidence;
}

Runner::Attempt Runner::attempt(const fs::path& program, const RunPlan& plan,
                                const std::atomic<bool>& cancelled) const {
  static std::atomic<int> counter = 0;
  const fs::path folder = scratch_.path() / fmt::format("run_{}", ++counter), data = folder / "data";
  std::error_code error;
  fs::create_directories(folder / "evidence", error);
  link_files(data_.folder, data);
  Start start(program, flags_of(plan, data.string(), data_.seed), plan, task_.under_mpi, data, folder);
  start.policy.readable.insert(start.policy.readable.end(), libraries_.begin(), libraries_.end());
  start.policy.memory = memory_of_run + static_cast<std::size_t>(plan.ranks()) * memory_of_rank;
  start.policy.file = bytes_of_output;
  RunTime time(start.files, least_silence_);
  const EndedInside ended = run_inside(sandbox_, start.command, start.policy,
                                       {.time = longest_run, .give_up = [&] { return cancelled || time.is_over(); }});
  EvidenceLimits limits = limits_of(data_);
  limits.trainings = plan.trainings;
  limits.parameters = std::max(limits.parameters, plan.most_values);
  Evidence evidence = start.read(limits, program != solution_, sandbox_ != nullptr);
  std::tie(evidence.ending, evidence.detail) = ending_of(ended);
  if ((evidence.broke = ended.broke)) evidence.ending = Ending::crashed;
  if (evidence.ending == Ending::failed)
    for (const RankSeen& rank : evidence.ranks)
      if (rank.error) evidence.detail = *rank.error;  // without what the program said before
  fs::remove_all(folder, error);
  return {std::move(evidence), start.files.look() > 0, ended_by_accident(ended, task_.under_mpi),
          time.is_over_while_facts_came()};
}

}  // namespace odori::grader
