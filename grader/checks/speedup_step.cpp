#include "checks/speedup_step.h"

#include <fmt/core.h>

#include "backend/gpus.h"
#include "checks/speedup.h"
#include "checks/speedup_jobs.h"
#include "files/file.h"
#include "report/machine.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

std::string mib(double bytes) { return fmt::format("{:.1f}", bytes / (1 << 20)); }

/// GPUs take seconds to start a job, and as many pairs to be sure of.
SpeedupLimits limits_on(bool gpus) { return gpus ? SpeedupLimits{.seconds_in_all = 180} : SpeedupLimits{}; }

void measure(SpeedupStep& step, TimedWork& work, const Layout& layout, const Question& question, int cores, int gpus) {
  auto reason = layout.on_gpus ? std::nullopt : why_not_measured(layout.devices, cores, question.task.under_mpi);
  if (reason) {
    step.verdict.verdict = Verdict::inconclusive;
    step.verdict.finding = std::move(reason);
    return;
  }
  SpeedupVerdict measured = measure_speedup(work, question.seed, limits_on(layout.on_gpus));
  step.verdict.verdict = measured.verdict;
  step.verdict.finding = std::move(measured.why);
  step.line = std::move(measured.line);
  if (step.line && !layout.on_gpus && gpus > 0) step.line->values["gpus_too_few"] = std::to_string(gpus);
}

bool did_not_end(const FailedAtWork& failure) { return failure.ended.stopped && !failure.ended.broke; }

void draw(SpeedupStep& step, SpeedupJobs& jobs, const Question& question, const std::string& language) try {
  const timeline::Timeline seen = timeline::read(jobs.trace());
  step.counts = counts_of(seen, question.task.under_mpi, SpeedupJobs::traced_images);
  step.timeline =
      write_page(question.out / "timeline.html",
                 timeline::to_page(seen, {question.task.name, language, this_machine(), now()}, timeline::read_d3()));
} catch (const FailedAtWork& failure) {
  // On a machine that is busy enough, a right program takes as long: whether it ends is told beside the kit's own.
  if (!did_not_end(failure)) throw;
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

SpeedupStep take_speedup(const Question& question, const fs::path& whole, double points, const std::string& language) {
  SpeedupStep step{.verdict = {.blank = 0, .of = points}};
  const int cores = this_machine().cores, gpus = gpu_count();
  const Layout layout = Layout::on_machine(question.task, cores, gpus);
  try {
    SpeedupJobs jobs(question.task, layout, question.build / "bin" / "solutions", whole, question.sandbox);
    draw(step, jobs, question, language);
    measure(step, jobs, layout, question, cores, gpus);
  } catch (const EnvironmentFault& fault) {
    step.verdict.verdict = Verdict::environment;
    step.verdict.finding = fault.finding();
  } catch (const FailedAtWork& failure) {
    const bool hangs = did_not_end(failure);
    step.verdict.verdict = hangs ? Verdict::hang : Verdict::crash;
    step.verdict.finding = failure.ended.broke;
    if (!step.verdict.finding)
      step.verdict.finding = Finding{
          hangs ? "hangs_at_work" : "fails_at_work",
          {{"seconds", fmt::format("{:.0f}", failure.ended.seconds)}, {"detail", end_of(failure.ended.output)}}};
  }
  if (step.verdict.verdict == Verdict::pass) step.verdict.points = points;
  return step;
}

}  // namespace odori::grader
