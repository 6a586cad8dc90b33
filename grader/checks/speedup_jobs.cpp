#include "checks/speedup_jobs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>

#include "checks/checks.h"
#include "checks/reference.h"
#include "errors/error.h"
#include "errors/text.h"
#include "runner/evidence_files.h"
#include "runner/file_watch.h"
#include "runner/launch.h"
#include "synthetic.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds longest_job{60};
constexpr int images_of_job = 8192;  // of each device, all epochs together: 0.2 to 0.8 seconds
constexpr int larger_batch = 32;     // times the exam's: with a few images devices spend their time waiting for others
constexpr int batch_on_gpus = 64;
constexpr const char *exams_network = "tiny", *workshops_network = "vgg";

bool is_alone(Work work) { return work == Work::one || work == Work::ceiling; }

/// The exam's situation with as many workers.
RunPlan situation_with(int workers, const Task& task) {
  for (const RunPlan& plan : exam_of(task).situations)
    if (plan.workers() == workers) return plan;
  fail("The exam of {} has no situation with {} workers, which its speedup is measured with.", task.name, workers);
}

/// The one run that there is; of others nothing is known.
class OneRun : public Runs {
 public:
  OneRun(const RunPlan& plan, const RunData& data, const Evidence& evidence)
      : plan_(plan), data_(data), evidence_(evidence) {}
  const Evidence& of(const RunPlan& plan) override {
    static const Evidence none;
    return plan == plan_ ? evidence_ : none;
  }
  const RunData& data() const override { return data_; }

 private:
  const RunPlan& plan_;
  const RunData& data_;
  const Evidence& evidence_;
};

/// The place-th of the GPUs that this process may use.
std::string gpu_at(int place) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return std::to_string(place);
  const std::vector<std::string> gpus = split(visible, ',');
  return gpus[std::min(static_cast<std::size_t>(place), gpus.size() - 1)];
}

/// Replaces the value of a flag.
void set(std::vector<std::string>& flags, const std::string& flag, const std::string& value) {
  *std::next(std::ranges::find(flags, flag)) = value;
}

bool is_late(const EndedInside& ended) { return ended.stopped && !ended.broke; }

std::optional<FailedAtWork> failure_of(const EndedInside& ended) {
  if (ended.code == 0 && !ended.stopped) return {};
  if (ended.broke) return FailedAtWork{Verdict::crash, *ended.broke};
  return FailedAtWork{is_late(ended) ? Verdict::hang : Verdict::crash,
                      {is_late(ended) ? "hangs_at_work" : "fails_at_work",
                       {{"seconds", fmt::format("{:.0f}", ended.seconds)}, {"detail", end_of(ended.output)}}}};
}

std::optional<FailedAtWork> find_missing_images(const Evidence& evidence, int expected) {
  std::size_t seen = 0;
  for (const RankSeen& rank : evidence.ranks)
    for (const auto& update : rank.steps)
      for (const Step& step : update) seen += step.images.size();
  if (seen < static_cast<std::size_t>(expected))
    return FailedAtWork{Verdict::wrong,
                        {seen == 0 ? "trained_nothing_at_work" : "fewer_images_at_work",
                         {{"expected", std::to_string(expected)}, {"seen", std::to_string(seen)}}}};
  for (const RankSeen& rank : evidence.ranks)
    if (rank.forged) return FailedAtWork{Verdict::wrong, *rank.forged};
  return {};
}

}  // namespace

Layout Layout::on_machine(const Task& task, int cores, int gpus) {
  Layout layout;
  layout.on_gpus = gpus >= layout.devices;
  if (!task.under_mpi) return layout;
  const int ranks_a_node = layout.on_gpus ? 1 : std::clamp(cores / 2, 1, 2);
  layout.devices = 2 * ranks_a_node;
  for (int rank = 0; rank < layout.devices; ++rank) layout.nodes.push_back(layout.on_gpus ? 0 : rank / ranks_a_node);
  return layout;
}

SpeedupJobs::SpeedupJobs(const Task& task, const Layout& layout, fs::path solutions, fs::path learners,
                         std::uint64_t seed, const Sandbox* sandbox)
    : task_(task),
      layout_(layout),
      solutions_(std::move(solutions)),
      learners_(std::move(learners)),
      sandbox_(sandbox),
      full_{.plan = situation_with(layout.devices, task),
            .images = 0,
            .network = layout.on_gpus ? workshops_network : exams_network} {
  if (sandbox_) libraries_ = libraries_of(solutions_ / "train_cifar_single_gpu");
  full_.plan.nodes = layout_.nodes;
  full_.plan.batch_size = layout_.on_gpus ? batch_on_gpus : larger_batch * full_.plan.batch_size;
  // Whole batches, so that each epoch trains on every image once.
  const auto whole = [&](int images) { return std::max(1, images / full_.plan.batch_size) * full_.plan.batch_size; };
  full_.images = whole(images_of_job / full_.plan.epochs);
  empty_ = full_;
  empty_.images = whole(full_.images / 50);
  data_ = {.folder = folder(0) / "data", .seed = seed};
  const auto devices = static_cast<std::uint32_t>(layout.devices);
  try {
    for (int place = 0; place < layout.devices; ++place) fs::create_directories(folder(place) / "evidence");
    // A small test set: the evaluation runs on one device while the others wait.
    synthetic::write_set(
        data_.folder,
        {.train = devices * static_cast<std::uint32_t>(full_.images), .test = 64 * devices, .seed = seed});
    data_.sets = load_cifar(data_.folder.string());
    data_.parameters = first_weights(data_, 0).size();
  } catch (const fs::filesystem_error&) {
    throw EnvironmentFault({"disk_full", {{"file", scratch_.path().string()}}});
  } catch (const Error& error) {
    if (error.code() == exit_code::interrupted) throw;
    throw EnvironmentFault({"disk_full", {{"file", scratch_.path().string()}}});
  }
}

/// Of the place-th of the programs that run at once; its name is that of a checked run's (runner/run.cpp).
fs::path SpeedupJobs::folder(int place) const { return scratch_.path() / fmt::format("run_{}", place + 1); }

fs::path SpeedupJobs::program_of(Work work) const {
  if (work == Work::learner) return learners_;
  return solutions_ / (work == Work::solution ? task_.program.solution.stem() : fs::path("train_cifar_single_gpu"));
}

SandboxPolicy SpeedupJobs::policy_of(Work work, const EvidenceFiles& evidence, int place) const {
  SandboxPolicy policy{.readable = libraries_, .writable = evidence.paths(), .folders = {folder(place)}};
  policy.readable.push_back(program_of(work));
  policy.readable.push_back(data_.folder);
  // Of the event stream, what was made before alone remains.
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder(0) / "trace", none)) policy.writable.push_back(entry.path());
  return policy;
}

Command SpeedupJobs::command(Work work, const Job& job, int place) const {
  Command command{.environment = launch_environment(), .folder = folder(place)};
  RunPlan plan = job.plan;
  if (is_alone(work))
    plan = {.nodes = {0}, .batch_size = plan.batch_size, .learning_rate = plan.learning_rate, .epochs = plan.epochs};
  std::vector<std::string> flags = flags_of(plan, data_.folder.string(), data_.seed);
  set(flags, "--model", job.network);
  if (layout_.on_gpus) set(flags, "--device", "cuda");
  flags.insert(flags.end(), job.flags.begin(), job.flags.end());
  // A device alone trains on as many images as each of several.
  const double fraction = static_cast<double>(job.images) / full_.images / (is_alone(work) ? layout_.devices : 1);
  if (fraction < 1) flags.insert(flags.end(), {"--fraction", fmt::format("{:.17g}", fraction)});

  if (task_.under_mpi && !is_alone(work)) command.arguments = mpirun_arguments(layout_.devices);
  command.arguments.push_back(program_of(work).string());
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  command.environment["ODORI_NODES"] = is_alone(work) ? "" : fmt::format("{}", fmt::join(plan.nodes, ","));
  if (is_alone(work) && layout_.on_gpus) command.environment["CUDA_VISIBLE_DEVICES"] = gpu_at(place);
  return command;
}

SpeedupJobs::Done SpeedupJobs::run(Work work, const Job& job, double at_most, int more_attempts) const {
  const Limits limits{.time = at_most > 0 ? std::chrono::milliseconds(std::lround(1000 * at_most)) : longest_job};
  const int programs = work == Work::ceiling ? layout_.devices : 1;
  const int ranks = task_.under_mpi && !is_alone(work) ? layout_.devices : 1;
  FileWatch data(data_.folder), writers(folder(0) / "evidence", true);
  std::vector<std::unique_ptr<EvidenceFiles>> files;
  std::vector<Command> commands;
  for (int place = 0; place < programs; ++place) {
    files.push_back(std::make_unique<EvidenceFiles>(folder(place) / "evidence", ranks, job.network == exams_network));
    commands.push_back(command(work, job, place));
    commands.back().environment["ODORI_EVIDENCE"] = files.back()->name();
  }
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<EndedInside>> running;
  for (int place = 0; place < programs; ++place)
    running.push_back(std::async(std::launch::async, [&, place, at = static_cast<std::size_t>(place)] {
      return run_inside(sandbox_, commands[at], policy_of(work, *files[at], place), limits);
    }));
  std::vector<EndedInside> endings;
  for (auto& program : running) endings.push_back(program.get());
  Done done{.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  for (const auto& of_program : files)
    for (const fs::path& file : of_program->paths()) fs::remove(file);  // open still

  const auto is_accident = [this](const Ended& ended) { return ended_by_accident(ended, task_.under_mpi); };
  if (more_attempts > 0 && std::ranges::any_of(endings, is_accident))
    return run(work, job, at_most, more_attempts - 1);  // unless it keeps coming
  const int images = job.images * job.plan.epochs * (is_alone(work) ? 1 : layout_.devices);
  for (std::size_t place = 0; place < endings.size(); ++place) {
    if (at_most > 0 && is_late(endings[place])) return {.seconds = at_most};
    done.evidence = {.ending = Ending::finished,
                     .ranks = files[place]->read(limits_of(data_), work == Work::learner),
                     .data_reads = data.most_openings()};
    auto failure = failure_of(endings[place]);
    if (!failure) failure = find_missing_images(done.evidence, images);
    // On the user's own machine other programs may look at files, and nobody gains by forging.
    if (!failure && sandbox_ && writers.most_openings() > 1) failure = {Verdict::wrong, {"evidence_opened", {}}};
    if (failure && work != Work::learner) throw EnvironmentFault({"kit_fails", {}});
    if (failure) throw FailedAtWork(*failure);
  }
  return done;
}

double SpeedupJobs::seconds(Work work, double at_most) {
  const Done done = run(work, full_, work == Work::learner ? at_most : 0);
  if (work == Work::learner && at_most == 0 && full_.network == exams_network) {
    OneRun runs(full_.plan, data_, done.evidence);
    for (const Check& check : exam_of(task_).checks)
      if (auto wrong = check.find({runs, full_.plan})) throw FailedAtWork{Verdict::wrong, std::move(*wrong)};
  }
  return done.seconds;
}

fs::path SpeedupJobs::trace() {
  Job job{.plan = full_.plan,
          .images = traced_iterations * traced_images,
          .network = workshops_network,
          .flags = {"--trace", "trace"}};
  job.plan.batch_size = traced_images, job.plan.epochs = 1;
  fs::create_directory(folder(0) / "trace");
  for (int rank = 0; sandbox_ && rank < (task_.under_mpi ? layout_.devices : 1); ++rank) {
    const fs::path file = folder(0) / "trace" / fmt::format("trace.{}.json", rank);
    std::ofstream(file).flush();
    fs::permissions(file, fs::perms(0666));
  }
  run(Work::learner, job);
  return folder(0) / "trace";
}

}  // namespace odori::grader
