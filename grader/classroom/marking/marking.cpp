// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/marking.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "blanks/blanks.h"
#include "errors/error.h"
#include "program/process.h"
#include "runner/run.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int most_attempts = 3;
constexpr std::uintmax_t most_bytes_of_output = 4 << 20;  // of what a child writes
constexpr std::uintmax_t most_bytes_of_page = 16 << 20;   // of a timeline
// Beyond the sum of a check's own limits: only a check that stands still itself takes as long.
constexpr auto longest_marking = 15min, longest_timing = 25min;

/// The child is the grader itself, but it may be cut short: nothing of what it wrote is believed unless all of it fits.
void require_fits(const CheckRecord& check, const Answer& answer, const std::map<int, double>& points_of) {
  require(check.seed == answer.seed, "The seed is another one.");
  require(check.verdicts.size() == points_of.size(), "There are {} verdicts.", check.verdicts.size());
  for (const auto& [blank, of] : points_of) {
    const BlankVerdict* verdict = check.on(blank);
    require(verdict != nullptr && verdict->of == of, "There is no verdict on blank {} of {} points.", blank, of);
    require(verdict->points == 0 || verdict->verdict == Verdict::pass, "Blank {} has points without a pass.", blank);
  }
}

std::string last_words(const Ended& ended) {
  const std::string words = end_of(ended.output);
  return words.empty() ? "-" : words;
}

std::optional<Finding> environment_fault(const CheckRecord& check) {
  for (const BlankVerdict& verdict : check.verdicts)
    if (verdict.verdict == Verdict::environment) return verdict.finding.value_or(Finding{"child_unclear", {}});
  return {};
}

/// Puts the page beside the record. What it is called there; nothing if there is none.
std::string keep_page(const std::string& page, const fs::path& pages, const std::string& task) {
  std::error_code error;
  if (page.empty() || pages.empty() || fs::file_size(page, error) > most_bytes_of_page) return {};
  const std::string name = task + ".timeline.html";
  fs::create_directories(pages, error);
  fs::copy_file(page, pages / name, fs::copy_options::overwrite_existing, error);
  return error ? std::string() : name;
}

}  // namespace

struct Marker::Attempt {
  std::optional<CheckRecord> check;
  std::vector<Finding> flags;
  std::optional<Finding> fault;  // this machine's; then there is no check
};

Marker::Marker(Place place) : place_(std::move(place)) {
  for (const Task& task : all_tasks()) points_of_[task.name] = points_of(task, place_.kit);
}

Lock Marker::machine_for(Lock::Kind kind) {
  Lock lock = this_machine_for(kind, place_.locks, [this](const std::string& holder) {
    if (stopped_) throw Error("Stopped.", exit_code::interrupted);
    const std::lock_guard guard(mutex_);
    // Others may hold it together with this process, whose name was written last.
    if (!holder.empty() && holder != this_process())
      waits_for_ = holder;
    else if (waits_for_.empty())
      waits_for_ = "?";
  });
  const std::lock_guard guard(mutex_);
  waits_for_.clear();
  return lock;
}

std::string Marker::waits_for() const {
  const std::lock_guard guard(mutex_);
  return waits_for_;
}

Marker::Attempt Marker::attempt(const Answer& answer, bool timed, const fs::path& pages) {
  const ScratchFolder folder(place_.scratch / "answer_");  // for everything that the child leaves lying about
  const fs::path json = folder.path() / "check.json";
  Command command{
      .arguments = {place_.program, "check", answer.record.task, "--kit", place_.kit, "--build", place_.build,
                    "--program", answer.folder / answer.task().program.exercise.filename(), "--seed",
                    std::to_string(answer.seed), "--json", json, "--out", folder.path() / "out", "--lang", "en"},
      .environment = {{"TMPDIR", folder.path()}}};
  if (const auto& script = answer.task().script)
    command.arguments.insert(command.arguments.end(), {"--script", answer.folder / script->exercise.filename()});
  if (!timed) command.arguments.push_back("--no-speedup");
  command.arguments.push_back(place_.sandbox ? "--sandbox" : "--apart");
  for (const fs::path& folder : place_.hidden) command.arguments.insert(command.arguments.end(), {"--hide", folder});
  const Ended ended = run_process(command, {.time = timed ? longest_timing : longest_marking,
                                            .output_bytes = 1 << 16,
                                            .give_up = [this] { return stopped_.load(); }});
  if (stopped_) throw Error("Stopped.", exit_code::interrupted);
  if (ended.stopped)
    return {.fault = Finding{"child_too_slow",
                             {{"seconds", fmt::format("{:.0f}", ended.seconds)}, {"detail", last_words(ended)}}}};
  std::error_code error;
  const auto bytes = fs::file_size(json, error);
  if (error || bytes > most_bytes_of_output)
    return {.fault = Finding{"child_died", {{"code", std::to_string(ended.code)}, {"detail", last_words(ended)}}}};
  try {
    CheckOutput output = check_output_from_json(read_file(json));
    Attempt attempt{.check = std::move(output.check), .flags = std::move(output.flags)};
    require_fits(*attempt.check, answer, points_of_.at(answer.record.task));
    require(ended.code == exit_code_of(attempt.check->verdicts), "The exit code is {}.", ended.code);
    if ((attempt.fault = environment_fault(*attempt.check))) attempt.check.reset();
    if (attempt.check) attempt.check->timeline = keep_page(attempt.check->timeline, pages, answer.record.task);
    return attempt;
  } catch (const std::exception& unclear) {
    return {.fault = Finding{"child_unclear", {{"detail", unclear.what()}, {"said", last_words(ended)}}}};
  }
}

Marker::Attempt Marker::attempts(const Answer& answer, bool timed, const fs::path& pages, TaskRecord& record) {
  const auto began = std::chrono::steady_clock::now();
  Attempt last;
  record.attempts = 0;
  do {
    const Lock lock = machine_for(timed ? Lock::Kind::exclusive : Lock::Kind::shared);
    try {
      last = attempt(answer, timed, pages);
    } catch (const EnvironmentFault& fault) {
      last = {.fault = fault.finding()};
    } catch (const std::exception& error) {
      if (stopped_) throw;
      last = {.fault = Finding{"child_unclear", {{"detail", error.what()}, {"said", "-"}}}};
    }
  } while (++record.attempts < most_attempts && last.fault);
  record.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (last.fault) last.fault = fit_to_keep(*last.fault);
  return last;
}

TaskRecord Marker::mark(const Answer& answer) {
  TaskRecord record = answer.record;
  Attempt last = attempts(answer, false, {}, record);
  record.flags.insert(record.flags.end(), last.flags.begin(), last.flags.end());
  record.reason = last.fault;
  if (last.fault) return record;
  record.state = RecordState::marked;
  record.timed = !all_blanks_right(*last.check);
  record.check = std::move(last.check);
  return record;
}

TaskRecord Marker::time(const Answer& answer, const TaskRecord& marked, const fs::path& pages) {
  TaskRecord record = marked;
  Attempt last = attempts(answer, true, pages, record);
  const auto flag = [&](Finding finding) {
    if (std::find(record.flags.begin(), record.flags.end(), finding) == record.flags.end())
      record.flags.push_back(std::move(finding));
  };
  for (Finding& finding : last.flags) flag(std::move(finding));
  if (last.fault) {
    // The blanks keep their marks.
    for (BlankVerdict& verdict : record.check->verdicts)
      if (verdict.blank == 0) verdict = {0, Verdict::environment, last.fault, 0, verdict.of};
    return record;
  }
  record.timed = true;
  for (const BlankVerdict& first : marked.check->verdicts) {
    const BlankVerdict& second = *last.check->on(first.blank);
    if (first.blank != 0 && first.verdict != second.verdict)
      flag({"flag_unsteady",
            {{"blank", std::to_string(first.blank)},
             {"first", name_of(first.verdict)},
             {"second", name_of(second.verdict)}}});
  }
  const BlankVerdict& speedup = *last.check->on(0);
  if (speedup.finding && speedup.finding->key == "too_good") flag({"flag_too_good", speedup.finding->values});
  if (all_blanks_right(*last.check)) {
    record.check = std::move(last.check);
  } else {
    for (BlankVerdict& verdict : record.check->verdicts)
      if (verdict.blank == 0) verdict = speedup;
  }
  return record;
}

bool all_blanks_right(const CheckRecord& check) {
  return std::all_of(check.verdicts.begin(), check.verdicts.end(), [](const BlankVerdict& verdict) {
    return verdict.blank == 0 || verdict.verdict == Verdict::pass;
  });
}

}  // namespace odori::grader
