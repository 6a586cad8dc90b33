#include "checks/speedup_step.h"

#include <fmt/core.h>

#include <random>

#include "backend/gpus.h"
#include "checks/speedup.h"
#include "checks/speedup_jobs.h"
#include "errors/error.h"
#include "files/file.h"
#include "report/machine.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

std::string mib(double bytes) { return fmt::format("{:.1f}", bytes / (1 << 20)); }

/// GPUs take seconds to start a job, and as many pairs to be sure of.
constexpr double seconds_on_cpu = 58, seconds_on_gpus = 180;

void measure(SpeedupStep& step, TimedWork& work, const Layout& layout, const Question& question, int cores, int gpus) {
  if (!layout.on_gpus) step.verdict.finding = why_not_measured(layout.devices, cores, question.task.under_mpi);
  if (step.verdict.finding) {
    step.verdict.verdict = Verdict::inconclusive;
    return;
  }
  SpeedupVerdict measured =
      measure_speedup(work, std::random_device()(), layout.on_gpus ? seconds_on_gpus : seconds_on_cpu);
  step.verdict.verdict = measured.verdict;
  step.verdict.finding = std::move(measured.why);
  step.line = std::move(measured.line);
  if (step.line && !layout.on_gpus && gpus > 0) step.line->values["gpus_too_few"] = std::to_string(gpus);
}

/// The stream of a program that was traced; nothing if there is none that can be read: no reason to hold back a
/// verdict.
std::optional<timeline::Timeline> read_stream(const fs::path& folder) try {
  return timeline::read(folder);
} catch (const Error&) {
  return {};
}

void draw(SpeedupStep& step, SpeedupJobs& jobs, const Question& question, const std::string& language) try {
  const std::optional<timeline::Timeline> seen = read_stream(jobs.trace());
  if (!seen) return;
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
    measure(step, jobs, layout, question, cores, gpus);
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

}  // namespace odori::grader
