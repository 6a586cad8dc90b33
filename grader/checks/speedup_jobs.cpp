#include "checks/speedup_jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <future>

#include "errors/error.h"
#include "errors/text.h"
#include "synthetic.h"
#include "worker/launch.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr int batchsize = 64;
constexpr std::chrono::seconds longest_job{60};

/// The place-th of the GPUs that this process may use.
std::string gpu_at(int place) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return std::to_string(place);
  const std::vector<std::string> gpus = split(visible, ',');
  return gpus[std::min(static_cast<std::size_t>(place), gpus.size() - 1)];
}

/// An epoch is a fifth of a second with AVX-512, or half of one without.
int images_a_device(bool on_gpus) { return on_gpus ? 8192 : 128; }

}  // namespace

Layout Layout::on_machine(const Task& task, int cores, int gpus) {
  Layout layout;
  layout.on_gpus = gpus >= layout.devices;
  if (!task.under_mpi) return layout;
  const int ranks_a_node = layout.on_gpus ? 1 : std::clamp(cores / 2, 1, 2);
  layout.devices = 2 * ranks_a_node;
  for (int rank = 0; rank < layout.devices; ++rank)
    layout.nodes += fmt::format("{}{}", rank ? "," : "", layout.on_gpus ? 0 : rank / ranks_a_node);
  return layout;
}

SpeedupJobs::SpeedupJobs(const Task& task, const Layout& layout, fs::path solutions, fs::path learners,
                         const Sandbox* sandbox)
    : task_(task),
      layout_(layout),
      solutions_(std::move(solutions)),
      learners_(std::move(learners)),
      sandbox_(sandbox) {
  if (sandbox_) libraries_ = libraries_of(solutions_ / "train_cifar_single_gpu");
  const auto devices = static_cast<std::uint32_t>(layout.devices);
  try {
    // A small test set: the evaluation runs on one device while the others wait.
    synthetic::write_set(scratch_.path() / "data",
                         {.train = devices * static_cast<std::uint32_t>(images_a_device(layout.on_gpus)),
                          .test = static_cast<std::uint32_t>(images_a_device(layout.on_gpus)) / 32 * devices});
  } catch (const Error& error) {
    if (error.code() == exit_code::interrupted) throw;
    throw EnvironmentFault({"disk_full", {{"file", scratch_.path().string()}}});
  }
}

int SpeedupJobs::images_per_epoch() const { return images_a_device(layout_.on_gpus); }

int SpeedupJobs::images_of_empty_job() const { return batchsize; }

fs::path SpeedupJobs::program_of(Work work) const {
  if (work == Work::learner) return learners_;
  return solutions_ / (work == Work::solution ? task_.program.solution.stem() : fs::path("train_cifar_single_gpu"));
}

SandboxPolicy SpeedupJobs::policy_of(Work work) const {
  SandboxPolicy policy{.readable = libraries_, .folders = {scratch_.path()}};
  policy.readable.push_back(program_of(work));
  policy.readable.push_back(scratch_.path() / "data");
  // Of the event stream, what was made before alone remains.
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(scratch_.path() / "trace", none))
    policy.writable.push_back(entry.path());
  return policy;
}

Command SpeedupJobs::command(Work work, const Size& size, int place) const {
  Command command{.environment = launch_environment(), .folder = scratch_.path()};
  const bool alone = work == Work::one || work == Work::ceiling;
  if (task_.under_mpi && !alone) command.arguments = mpirun_arguments(layout_.devices);
  const auto add = [&](std::initializer_list<std::string> more) {
    command.arguments.insert(command.arguments.end(), more);
  };
  add({program_of(work).string()});
  if (!task_.under_mpi && !alone) add({"--n_gpus", std::to_string(layout_.devices)});
  add({"--dataset", "data", "--no_snapshot", "--out", fmt::format("out_{}", place)});
  add({"--model", size.network, "--batchsize", std::to_string(size.images)});
  add({"--epoch", std::to_string(size.epochs)});
  // A device alone trains on as many images as each of several.
  add({"--fraction", fmt::format("{:.17g}", size.fraction / (alone ? layout_.devices : 1))});
  if (!layout_.on_gpus) add({"--device", "cpu"});
  command.environment["ODORI_NODES"] = alone ? "" : layout_.nodes;
  command.environment["ODORI_EVIDENCE"] = "";
  if (alone && layout_.on_gpus) command.environment["CUDA_VISIBLE_DEVICES"] = gpu_at(place);
  return command;
}

double SpeedupJobs::run(Work work, const std::vector<Command>& commands, double at_most, int more_attempts) const {
  const bool may_be_stopped = work == Work::learner && at_most > 0;
  const Limits limits{.time = may_be_stopped ? std::chrono::milliseconds(std::lround(1000 * at_most)) : longest_job};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::future<EndedInside>> jobs;
  for (const Command& command : commands)
    jobs.push_back(std::async(std::launch::async, [this, &command, &limits, work] {
      return run_inside(sandbox_, command, policy_of(work), limits);
    }));
  std::vector<EndedInside> endings;
  for (auto& job : jobs) endings.push_back(job.get());
  const auto is_accident = [this](const Ended& ended) { return ended_by_accident(ended, task_.under_mpi); };
  if (more_attempts > 0 && std::any_of(endings.begin(), endings.end(), is_accident))
    return run(work, commands, at_most, more_attempts - 1);  // unless it keeps coming
  for (const EndedInside& ended : endings) {
    if (ended.code == 0 && !ended.stopped) continue;
    if (may_be_stopped && ended.stopped && !ended.broke) return at_most;
    if (work == Work::learner) throw FailedAtWork{ended};
    throw EnvironmentFault({"kit_fails", {}});
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double SpeedupJobs::seconds(Work work, int epochs, double at_most) {
  const Size size{.network = layout_.on_gpus ? "vgg" : "mid",
                  .images = batchsize,
                  .fraction = epochs ? 1.0 : static_cast<double>(batchsize) / images_per_epoch(),
                  .epochs = std::max(1, epochs)};
  std::vector<Command> commands;
  for (int place = 0; place < (work == Work::ceiling ? layout_.devices : 1); ++place)
    commands.push_back(command(work, size, place));
  return run(work, commands, at_most);
}

fs::path SpeedupJobs::trace() {
  const Size size{.network = "vgg",
                  .images = traced_images,
                  .fraction = static_cast<double>(traced_iterations * traced_images) / images_per_epoch(),
                  .epochs = 1};
  Command traced = command(Work::learner, size, 0);
  traced.arguments.insert(traced.arguments.end(), {"--trace", "trace"});
  fs::create_directory(scratch_.path() / "trace");
  for (int rank = 0; sandbox_ && rank < (task_.under_mpi ? layout_.devices : 1); ++rank) {
    const fs::path file = scratch_.path() / "trace" / fmt::format("trace.{}.json", rank);
    std::ofstream(file).flush();
    fs::permissions(file, fs::perms(0666));
  }
  run(Work::learner, {traced});
  return scratch_.path() / "trace";
}

}  // namespace odori::grader
