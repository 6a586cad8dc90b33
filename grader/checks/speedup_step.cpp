// SPDX-License-Identifier: Apache-2.0
#include "checks/speedup_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <future>
#include <random>

#include "backend/gpus.h"
#include "checks/checks.h"
#include "errors/error.h"
#include "errors/text.h"
#include "files/file.h"
#include "report/machine.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds longest_job{60};
constexpr int images_of_job = 8192;  // of each device, all epochs together: 0.2 to 0.8 seconds
constexpr int larger_batch = 32;     // times the exam's: with a few images devices spend their time waiting for others
constexpr int batch_on_gpus = 64;
constexpr const char* program_alone = "train_cifar_single_gpu";
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

/// How a job failed, by its end or by the images in its evidence; nothing if it did not.
std::optional<FailedAtWork> failure_of(const EndedInside& ended, const Evidence& evidence, int images) {
  if (ended.broke) return FailedAtWork{Verdict::crash, *ended.broke};
  if (ended.code != 0 || ended.stopped)
    return FailedAtWork{ended.stopped ? Verdict::hang : Verdict::crash,
                        {ended.stopped ? "hangs_at_work" : "fails_at_work",
                         {{"seconds", fmt::format("{:.0f}", ended.seconds)}, {"detail", end_of(ended.output)}}}};
  std::size_t seen = 0;
  for (const RankSeen& rank : evidence.ranks)
    for (const auto& update : rank.steps)
      for (const Step& step : update) seen += step.images.size();
  if (seen < static_cast<std::size_t>(images))
    return FailedAtWork{Verdict::wrong,
                        {seen == 0 ? "trained_nothing_at_work" : "fewer_images_at_work",
                         {{"expected", std::to_string(images)}, {"seen", std::to_string(seen)}}}};
  for (const RankSeen& rank : evidence.ranks)
    if (rank.forged) return FailedAtWork{Verdict::wrong, *rank.forged};
  return {};
}

std::string mib(double bytes) { return fmt::format("{:.1f}", bytes / (1 << 20)); }

/// GPUs take seconds to start a job, and as many pairs to be sure of.
constexpr double seconds_on_cpu = 58, seconds_on_gpus = 180;

void draw(SpeedupStep& step, SpeedupJobs& jobs, const Question& question, const std::string& language) try {
  const fs::path stream = jobs.trace();
  std::optional<timeline::Timeline> seen;
  try {
    seen = timeline::read(stream);
  } catch (const Error&) {
    return;  // no reason to hold back a verdict
  }
  step.counts = counts_of(*seen, question.task.under_mpi, SpeedupJobs::traced_images);
  step.timeline =
      write_page(question.out / "timeline.html",
                 timeline::to_page(*seen, {question.task.name, language, this_machine(), now()}, timeline::read_d3()));
} catch (const FailedAtWork& failure) {
  // On a machine that is busy enough, a right program takes as long: whether it ends is told beside the kit's own.
  if (failure.verdict != Verdict::hang) throw;
}

}  // namespace

fs::path write_page(const fs::path& path, const std::string& page) try {
  replace_file(path, page);
  return path;
} catch (const WriteError&) {
  return {};
}

Finding counts_of(const timeline::Timeline& timeline, bool under_mpi, int images_a_device) {
  std::map<std::string, double> bytes, calls;
  for (const timeline::Row& row : timeline.rows)
    for (const timeline::Span& span : row.spans)
      for (const timeline::Interval& iteration : row.iterations)
        if (iteration.begin <= span.time.begin && span.time.end <= iteration.end)
          bytes[span.name] += static_cast<double>(span.bytes), ++calls[span.name];
  const double updates = std::max(1, timeline.n_iterations), ranks = static_cast<double>(timeline.rows.size());
  std::map<std::string, std::string> values{{"devices", std::to_string(timeline.rows.size())},
                                            {"images", std::to_string(images_a_device)},
                                            {"updates", std::to_string(timeline.n_iterations)}};
  if (under_mpi) {
    values["collectives"] = fmt::format("{:.0f}", calls["allreduce"] / ranks / updates);
    values["averaged"] = mib(bytes["allreduce"] / ranks / updates);
    return {"counts_ranks", values};
  }
  values["gathered"] = mib(bytes["gather"] / updates);
  values["sent"] = mib(bytes["send"] / updates);
  return {"counts_devices", values};
}

std::optional<Finding> why_not_measured(int devices, int cores, bool under_mpi) {
  if (cores >= devices) return {};
  return Finding{under_mpi ? "ranks_outnumber_cores" : "too_few_cores",
                 {{"devices", std::to_string(devices)}, {"have", std::to_string(cores)}}};
}

SpeedupStep take_speedup(const Question& question, const fs::path& whole, double points, const std::string& language) {
  SpeedupStep step{.verdict = {.blank = 0, .of = points}};
  const int cores = this_machine().cores, gpus = gpu_count();
  const Layout layout = Layout::on_machine(question.task, cores, gpus);
  try {
    SpeedupJobs jobs(question.task, layout, question.build / "bin" / "solutions", whole, question.seed,
                     question.sandbox);
    draw(step, jobs, question, language);
    auto lacking = layout.on_gpus ? std::nullopt : why_not_measured(layout.devices, cores, question.task.under_mpi);
    const SpeedupVerdict measured =
        lacking ? SpeedupVerdict{Verdict::inconclusive, std::move(lacking), {}}
                : measure_speedup(jobs, std::random_device()(), layout.on_gpus ? seconds_on_gpus : seconds_on_cpu);
    step.verdict.verdict = measured.verdict;
    step.verdict.finding = measured.why;
    step.line = measured.line;
    if (step.line && !layout.on_gpus && gpus > 0) step.line->values["gpus_too_few"] = std::to_string(gpus);
  } catch (const EnvironmentFault& fault) {
    step.verdict.verdict = Verdict::environment;
    step.verdict.finding = fault.finding();
  } catch (const FailedAtWork& failure) {
    step.verdict.verdict = failure.verdict;
    step.verdict.finding = failure.finding;
  }
  if (step.verdict.verdict == Verdict::pass) step.verdict.points = points;
  return step;
}

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
  if (sandbox_) libraries_ = libraries_of(solutions_ / program_alone);
  full_.plan.nodes = layout_.nodes;
  full_.plan.batch_size = layout_.on_gpus ? batch_on_gpus : larger_batch * full_.plan.batch_size;
  // Whole batches, so that each epoch trains on every image once.
  const auto whole = [&](int images) { return std::max(1, images / full_.plan.batch_size) * full_.plan.batch_size; };
  full_.images = whole(images_of_job / full_.plan.epochs);
  empty_ = full_;
  empty_.images = whole(full_.images / 50);
  std::error_code ignored;
  for (int place = 0; place < layout.devices; ++place) fs::create_directories(folder(place) / "evidence", ignored);
  // A small test set: the evaluation runs on one device while the others wait.
  const auto devices = static_cast<std::size_t>(layout.devices);
  data_ = make_data(folder(0) / "data", devices * static_cast<std::size_t>(full_.images), 64 * devices, seed);
}

/// Of the place-th of the programs that run at once; its name is that of a checked run's (runner/run.cpp).
fs::path SpeedupJobs::folder(int place) const { return scratch_.path() / fmt::format("run_{}", place + 1); }

void SpeedupJobs::add_start(std::deque<Start>& starts, Work work, const Job& job) const {
  const int place = static_cast<int>(starts.size());
  const bool alone = is_alone(work);
  const fs::path kits = alone ? fs::path(program_alone) : task_.program.solution.stem();
  RunPlan plan = job.plan;
  if (alone)
    plan = {.nodes = {0}, .batch_size = plan.batch_size, .learning_rate = plan.learning_rate, .epochs = plan.epochs};
  std::vector<std::string> flags = flags_of(plan, data_.folder.string(), data_.seed);
  set(flags, "--model", job.network);
  if (layout_.on_gpus) set(flags, "--device", "cuda");
  flags.insert(flags.end(), job.flags.begin(), job.flags.end());
  // A device alone trains on as many images as each of several.
  const double fraction = static_cast<double>(job.images) / full_.images / (alone ? layout_.devices : 1);
  if (fraction < 1) flags.insert(flags.end(), {"--fraction", fmt::format("{:.17g}", fraction)});
  Start& start =
      starts.emplace_back(work == Work::learner ? learners_ : solutions_ / kits, flags, plan, task_.under_mpi && !alone,
                          data_.folder, folder(place), job.network == exams_network);
  if (alone && layout_.on_gpus) start.command.environment["CUDA_VISIBLE_DEVICES"] = gpu_at(place);
  start.policy.readable.insert(start.policy.readable.end(), libraries_.begin(), libraries_.end());
  // Of the event stream, only the files that exist before remain.
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder(0) / "trace", none))
    start.policy.writable.push_back(entry.path());
}

SpeedupJobs::Done SpeedupJobs::run(Work work, const Job& job, double at_most, int more_attempts) const {
  const Limits limits{.time = at_most > 0 ? std::chrono::milliseconds(std::lround(1000 * at_most)) : longest_job};
  std::deque<Start> starts;
  for (int program = 0; program < (work == Work::ceiling ? layout_.devices : 1); ++program)
    add_start(starts, work, job);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<EndedInside>> running;
  for (const Start& start : starts)
    running.push_back(std::async(std::launch::async, [this, &start, &limits] {
      return run_inside(sandbox_, start.command, start.policy, limits);
    }));
  std::vector<EndedInside> endings;
  for (auto& program : running) endings.push_back(program.get());
  Done done{.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  for (const Start& start : starts)
    for (const fs::path& file : start.files.paths()) fs::remove(file);  // open still

  const auto is_accident = [this](const Ended& ended) { return ended_by_accident(ended, task_.under_mpi); };
  if (more_attempts > 0 && std::ranges::any_of(endings, is_accident))
    return run(work, job, at_most, more_attempts - 1);  // unless it keeps coming
  const int images = job.images * job.plan.epochs * (is_alone(work) ? 1 : layout_.devices);
  for (std::size_t place = 0; place < endings.size(); ++place) {
    if (at_most > 0 && endings[place].stopped && !endings[place].broke) return {.seconds = at_most};
    done.evidence = starts[place].read(limits_of(data_), work == Work::learner, sandbox_ != nullptr);
    const auto failure = failure_of(endings[place], done.evidence, images);
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
