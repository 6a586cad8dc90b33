// SPDX-License-Identifier: Apache-2.0
#include "classroom/cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "blanks/blanks.h"
#include "classroom/marking/content.h"
#include "classroom/marking/refusal.h"
#include "files/file.h"
#include "program/process.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* waits = "array_waits";

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
  return std::string(trim(ended.output, " \t\n"));
}

std::vector<std::vector<std::string>> Cluster::students() const {
  std::vector<std::vector<std::string>> students;
  for (const std::string& line : split_lines(read_file(folder() / "students")))
    if (!line.empty()) students.push_back(split(line, '\t'));
  return students;
}

std::optional<RunningArray> Cluster::running() const {
  const std::string job(trim(read_file(folder() / "job"), " \t\n"));
  if (job.empty() || ask_scheduler({"state", job}) == "ended") return {};
  RunningArray array{.job = job};
  const Records records(results_ / "students", results_ / "history");
  for (const auto& student : students())
    for (std::size_t i = 1; i < student.size(); ++i) {
      const auto record = records.read(student[0], student[i]);
      ++array.of;
      array.n_marked += record && record->state == RecordState::marked;
    }
  return array;
}

Cluster::Submitted Cluster::submit(const Batch& batch, const std::vector<Answer>& answers, const fs::path& submissions,
                                   int most_elements, bool sandbox) const {
  std::vector<Answer> absent;
  std::map<std::string, std::string> lines;
  std::size_t n = 0;
  for (const Answer& answer : answers) {
    const auto record = batch.records.read(answer.student, answer.task->name);
    if (answer.absent) {
      absent.push_back(answer);
    } else if (!record || record->content != answer.content || !is_done(*record, batch.timings)) {
      // One that only waits for its speedup keeps its marks.
      if (!record || record->content != answer.content || record->state != RecordState::marked) {
        TaskRecord waiting = record_of(answer);
        waiting.reason = Finding{waits, {}};
        batch.records.write(waiting);
      }
      lines[answer.student] += '\t' + answer.task->name;
      ++n;
    }
  }
  run_batch({batch.records, batch.marker, 1, false}, absent, {[](const auto&...) {}, [](const auto&...) {}});
  std::error_code ignored;
  fs::remove(folder() / "job", ignored);
  if (n == 0) return {};
  std::string text;
  for (const auto& [student, tasks] : lines) text += student + tasks + '\n';
  replace_file(folder() / "students", text);
  fs::create_directories(folder() / "logs", ignored);
  const int elements = static_cast<int>(std::min(lines.size(), static_cast<std::size_t>(most_elements)));
  const std::string job =
      ask_scheduler({"submit", fs::absolute(submissions), results_, build_, std::to_string(elements),
                     sandbox ? "sandbox" : "unsafe", batch.timings ? "alone" : "shared"});
  replace_file(folder() / "job", job + '\n');
  return {n, job, folder() / "logs"};
}

std::vector<StudentRecord> Cluster::without_waiting(std::vector<StudentRecord> students) {
  for (StudentRecord& student : students)
    std::erase_if(student.tasks,
                  [](const auto& task) { return task.second.reason && task.second.reason->key == waits; });
  return students;
}

std::vector<Answer> Cluster::answers_of_element(const Records& records, const std::string& salt, int element,
                                                int of) const {
  const auto all = students();
  std::vector<Answer> answers;
  for (std::size_t i = static_cast<std::size_t>(element) - 1; i < all.size(); i += static_cast<std::size_t>(of))
    for (std::size_t task = 1; task < all[i].size(); ++task) {
      const auto record = records.read(all[i][0], all[i][task]);
      if (!record) continue;
      answers.push_back({.student = record->student,
                         .task = &task_named(record->task),
                         .folder = results_ / "submitted" / record->student,
                         .flags = record->flags,
                         .content = record->content,
                         .seed = seed_of(record->content, salt)});
    }
  return answers;
}

}  // namespace odori::grader
