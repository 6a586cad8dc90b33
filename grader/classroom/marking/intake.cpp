#include "classroom/marking/intake.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "classroom/marking/durable_file.h"
#include "classroom/marking/refusal.h"
#include "classroom/marking/scan.h"
#include "classroom/marking/student_name.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_flags_of_answer = 10, most_files_left_out = 3;

/// Writes the file only if its text is another, so that a resumed class is not touched.
std::optional<fs::path> keep(const std::optional<std::string>& text, const fs::path& path) {
  std::error_code error;
  if (!text) {
    fs::remove(path, error);
    return {};
  }
  if (!fs::exists(path, error) || read_file(path) != *text) write_durably(path, *text);
  return path;
}

/// SUBMISSIONS is a copy of the kit, or contains answers itself and no two students with answers.
void refuse_one_students_folder(const fs::path& submissions, const Scan& scan) {
  const auto n =
      std::ranges::count_if(scan.students, [](const auto& entry) { return !entry.second.candidates.empty(); });
  if (scan.is_kit || (scan.has_answers_at_top && n < 2))
    throw Refusal({"submissions_one_student", {{"folder", submissions.string()}}});
}

/// The names that the students are kept under, in the order of scan.students.
std::vector<std::string> names_of(const Scan& scan, const std::set<std::string>& known) {
  std::vector<std::string> original;
  for (const auto& [name, student] : scan.students) original.push_back(name);
  return student_names(original, known);
}

/// False below solutions/, out/ and build folders, and in a clone of the kit for all places but the exercise's own.
bool is_answer(const Candidate& candidate, const ScannedStudent& student) {
  std::string folder;
  for (const std::string& next : split(candidate.folder, '/')) {
    const bool is_kit = student.kits.contains(folder);
    if (is_kit && candidate.folder != folder + candidate.wanted->folder) return false;
    if (!is_kit && student.build_folders.contains(folder)) return false;
    if (is_folder_without_answers(next)) return false;
    folder += next + '/';
  }
  return true;
}

/// The larger, the better.
auto rank_of(const Candidate& candidate) {
  const bool is_in_place = ('/' + candidate.folder).ends_with('/' + candidate.wanted->folder);
  return std::tuple(candidate.exact, is_in_place, -std::ranges::count(candidate.folder, '/'), candidate.modified);
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
    if (candidate.wanted->name != file) continue;
    const std::string path = candidate.folder + candidate.name;
    if (!is_answer(candidate, student)) {
      elsewhere = {"flag_not_an_answer", {{"file", path}}};
    } else if (!candidate.text) {
      if (choice.flags.size() < most_files_left_out) choice.flags.push_back({candidate.problem, {{"file", path}}});
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

HandedIn answer_of(const ScannedStudent& student, const Task& task, const fs::path& folder) {
  HandedIn answer{.program = {}, .script = {}, .flags = student.flags};
  const auto take = [&](const fs::path& file) {
    const Choice choice = choose(student, file.filename());
    answer.flags.insert(answer.flags.end(), choice.flags.begin(), choice.flags.end());
    return keep(choice.text, folder / file.filename());
  };
  answer.program = take(task.program.exercise);
  if (task.script) answer.script = take(task.script->exercise);
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

}  // namespace

Intake take_in(const fs::path& submissions, const fs::path& submitted, const fs::path& scratch,
               const std::set<std::string>& known) {
  Scan scan = scan_submissions(submissions, scratch);
  refuse_one_students_folder(submissions, scan);
  if (scan.students.empty())
    throw Refusal(scan.problems.empty() ? Finding{"submissions_empty", {{"folder", submissions.string()}}}
                                        : scan.problems.front());
  Intake intake{.students = {}, .problems = std::move(scan.problems)};
  const std::vector<std::string> names = names_of(scan, known);
  auto name = names.begin();
  for (auto& [original, student] : scan.students) {
    if (const auto first = copied_name(original); first && scan.students.contains(*first))
      student.flags.push_back({"flag_again", {{"student", *first}}});
    Student& added = intake.students.emplace_back(Student{.name = *name++, .tasks = {}});
    for (const Task& task : all_tasks()) added.tasks[task.name] = answer_of(student, task, submitted / added.name);
  }
  std::ranges::sort(intake.students, {}, &Student::name);
  return intake;
}

std::vector<std::string> students_in(const fs::path& submissions, const std::set<std::string>& known) {
  std::vector<std::string> names = names_of(scan_submissions(submissions, {}), known);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace odori::grader
