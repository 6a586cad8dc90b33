// SPDX-License-Identifier: Apache-2.0
#include "classroom/cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "blanks/blanks.h"
#include "classroom/marking/content.h"
#include "classroom/refusal.h"
#include "files/file.h"
#include "files/json.h"
#include "program/process.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

bool is_done(const TaskRecord& record, bool timings) {
  if (record.state == RecordState::absent) return true;
  const bool needs_timing = timings && !record.timed && task_named(record.task).measures_speedup;
  return record.state == RecordState::marked && !needs_timing;
}

}  // namespace

Cluster::Cluster(fs::path results, fs::path kit, fs::path build)
    : results_(fs::absolute(std::move(results))), kit_(std::move(kit)), build_(std::move(build)) {}

std::string Cluster::ask_scheduler(const std::vector<std::string>& arguments) const {
  Command command{.arguments = {"bash", kit_ / "jobscripts" / "class_job.sh"}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  const Ended ended = run_process(command, {.time = 100s});
  if (ended.code != 0) throw Refusal({"array_refused", {{"detail", end_of(ended.output)}}}, ended.code == 2 ? 2 : 20);
  const std::string said(trim(ended.output, " \t\n"));  // warnings first
  return said.substr(said.rfind('\n') + 1);
}

std::vector<std::vector<TaskRecord>> Cluster::waiting() const {
  std::vector<std::vector<TaskRecord>> students;
  for (const std::string& line : split_lines(read_file(folder() / "answers"))) {
    if (line.empty()) continue;
    TaskRecord record = record_from_json(line);
    if (students.empty() || students.back().front().student != record.student) students.emplace_back();
    students.back().push_back(std::move(record));
  }
  return students;
}

std::optional<RunningArray> Cluster::running() const {
  const std::string job(trim(read_file(folder() / "job"), " \t\n"));
  if (job.empty() || ask_scheduler({"state", job}) == "ended") return {};
  RunningArray array{.job = job};
  const Records records(results_ / "students", results_ / "history");
  for (const auto& student : waiting())
    for (const TaskRecord& answer : student) {
      const auto record = records.read(answer.student, answer.task);
      ++array.of;
      array.n_marked += record && record->content == answer.content && record->state == RecordState::marked;
    }
  return array;
}

Cluster::Submitted Cluster::submit(const Batch& batch, const std::vector<Answer>& answers, const fs::path& submissions,
                                   int most_elements, bool sandbox) const {
  std::vector<Answer> absent;
  std::set<std::string> students;
  std::string lines;
  Submitted submitted{.logs = folder() / "logs"};
  for (const Answer& answer : answers) {  // a student's follow each other
    const auto record = batch.records.read(answer.record.student, answer.record.task);
    if (record && record->content == answer.record.content && is_done(*record, batch.timings)) continue;
    if (answer.record.state == RecordState::absent) {
      absent.push_back(answer);
      continue;
    }
    lines += json_text(json_of(answer.record), -1, NotUtf8::replaced) + '\n';
    students.insert(answer.record.student);
    ++submitted.n;
  }
  run_batch({batch.records, batch.marker, 1, false}, absent, {[](const auto&...) {}, [](const auto&...) {}});
  std::error_code ignored;
  fs::remove(folder() / "job", ignored);
  if (submitted.n == 0) return submitted;
  replace_file(folder() / "answers", lines);
  fs::create_directories(submitted.logs, ignored);
  const auto elements = std::min(students.size(), static_cast<std::size_t>(most_elements));
  submitted.job = ask_scheduler({"submit", fs::absolute(submissions), results_, build_, std::to_string(elements),
                                 sandbox ? "sandbox" : "unsafe", batch.timings ? "alone" : "shared"});
  replace_file(folder() / "job", submitted.job + '\n');
  return submitted;
}

std::vector<Answer> Cluster::answers_of_element(const std::string& salt, int element, int of) const {
  const auto students = waiting();
  std::vector<Answer> answers;
  for (std::size_t i = static_cast<std::size_t>(element) - 1; i < students.size(); i += static_cast<std::size_t>(of))
    for (const TaskRecord& record : students[i])
      answers.push_back({record, results_ / "submitted" / record.student, seed_of(record.content, salt)});
  return answers;
}

}  // namespace odori::grader
