// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/intake.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <tuple>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "classroom/marking/refusal.h"
#include "classroom/marking/scan.h"
#include "classroom/marking/student_name.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_flags_of_answer = 10;

/// False below solutions/, out/ and build folders, and in a clone of the kit for all places but the exercise's own.
bool is_answer(const Candidate& candidate, const ScannedStudent& student) {
  std::string folder;
  for (const std::string& next : split(candidate.folder, '/')) {
    const bool is_kit = student.kits.contains(folder);
    if (is_kit && candidate.folder != folder + candidate.named.wanted->folder) return false;
    if (!is_kit && student.build_folders.contains(folder)) return false;
    if (is_folder_without_answers(next)) return false;
    folder += next + '/';
  }
  return true;
}

/// The larger, the better.
auto rank_of(const Candidate& candidate) {
  const bool is_in_place = ('/' + candidate.folder).ends_with('/' + candidate.named.wanted->folder);
  return std::tuple(candidate.named.exact, is_in_place, -std::ranges::count(candidate.folder, '/'), candidate.modified);
}

struct Choice {
  std::optional<std::string> text;
  std::vector<Finding> flags;
};

/// Chooses one of the student's files with this name.
Choice choose(const ScannedStudent& student, const std::string& file) {
  Choice choice;
  const Candidate* best = nullptr;
  std::set<std::string> texts;
  std::optional<Finding> elsewhere;
  for (const Candidate& candidate : student.candidates) {
    if (candidate.named.wanted->name != file) continue;
    const std::string path = candidate.folder + candidate.name;
    if (!is_answer(candidate, student)) {
      elsewhere = {"flag_not_an_answer", {{"file", path}}};
    } else if (!candidate.text) {
      choice.flags.push_back({candidate.problem, {{"file", path}}});
    } else {
      texts.insert(*candidate.text);
      if (best == nullptr || rank_of(candidate) >= rank_of(*best)) best = &candidate;
    }
  }
  if (best != nullptr) choice.text = best->text;
  if (texts.size() > 1)
    choice.flags.push_back(
        {"flag_several_files",
         {{"file", file}, {"n", std::to_string(texts.size())}, {"taken", best->folder + best->name}}});
  if (best == nullptr && choice.flags.empty())
    choice.flags.push_back(elsewhere.value_or(Finding{"flag_missing_file", {{"file", file}}}));
  return choice;
}

/// The other files of a student without an answer. Beside answers to other tasks, only code may be a renamed one; those
/// of a clone are the kit's.
std::optional<Finding> find_other_names(const ScannedStudent& student, const Task& task) {
  std::vector<std::string> names;
  for (const auto& [is_no_code, name] : student.others)
    if (!is_no_code || student.candidates.empty()) names.push_back(name);
  if (names.empty() || !student.kits.empty()) return {};
  return Finding{
      "flag_other_names",
      {{"files", fmt::format("{}", fmt::join(names, ", "))}, {"file", task.program.exercise.filename().string()}}};
}

HandedIn answer_of(const ScannedStudent& student, const Task& task) {
  HandedIn answer{.program = {}, .script = {}, .flags = student.flags};
  const auto take = [&](const ExerciseFile& file) {
    Choice choice = choose(student, file.exercise.filename());
    answer.flags.insert(answer.flags.end(), choice.flags.begin(), choice.flags.end());
    return std::move(choice.text);
  };
  answer.program = take(task.program);
  if (task.script) answer.script = take(*task.script);
  if (answer.absent()) {
    std::erase_if(answer.flags, [](const Finding& flag) { return flag.key == "flag_missing_file"; });
    if (auto others = find_other_names(student, task)) answer.flags.insert(answer.flags.begin(), *std::move(others));
  }
  if (const std::size_t n = answer.flags.size(); n > most_flags_of_answer) {
    answer.flags.resize(most_flags_of_answer);
    answer.flags.push_back({"flag_more", {{"n", std::to_string(n - most_flags_of_answer)}}});
  }
  return answer;
}

/// Throws Refusal if there is no class in it. One student's folder contains answers itself, and no two students' with
/// answers.
void require_class(const fs::path& submissions, const Scan& scan) {
  const auto n =
      std::ranges::count_if(scan.students, [](const auto& entry) { return !entry.second.candidates.empty(); });
  if (scan.has_answers_at_top && n < 2) throw Refusal({"submissions_one_student", {{"folder", submissions.string()}}});
  if (!scan.students.empty()) return;
  if (!scan.problems.empty()) throw Refusal(scan.problems.front());
  throw Refusal({"submissions_empty", {{"folder", submissions.string()}}});
}

/// Does not wait for the disk: what a power cut spoils differs from the submission, and is written again.
void write_copy(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) throw WriteError(path.string() + " can't be written.", errno);
}

}  // namespace

Intake take_in(const fs::path& submissions, const fs::path& scratch) {
  Scan scan = scan_submissions(submissions, scratch);
  require_class(submissions, scan);
  Intake intake{.students = {}, .problems = std::move(scan.problems)};
  std::vector<std::string> originals;
  for (auto& [original, student] : scan.students) {
    if (const auto first = copied_name(original); first && scan.students.contains(*first))
      student.flags.push_back({"flag_again", {{"student", *first}}});
    originals.push_back(original);
    Student& added = intake.students.emplace_back();
    for (const Task& task : all_tasks()) added.tasks[task.name] = answer_of(student, task);
  }
  const std::vector<std::string> names = student_names(originals);
  for (std::size_t i = 0; i < names.size(); ++i) intake.students[i].name = names[i];
  std::ranges::sort(intake.students, {}, &Student::name);
  return intake;
}

void write_answers(const Student& student, const fs::path& folder) {
  const auto write = [&](const fs::path& file, const std::optional<std::string>& text) {
    std::error_code error;
    if (!text)
      fs::remove(file, error);
    else if (!fs::exists(file) || read_file(file) != *text)
      write_copy(file, *text);
  };
  for (const Task& task : all_tasks()) {
    const HandedIn& answer = student.tasks.at(task.name);
    write(folder / task.program.exercise.filename(), answer.program);
    if (task.script) write(folder / task.script->exercise.filename(), answer.script);
  }
}

}  // namespace odori::grader
