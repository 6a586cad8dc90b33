#include "batch/intake.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "batch/content.h"
#include "batch/durable_file.h"
#include "batch/refusal.h"
#include "batch/scan.h"
#include "batch/student_name.h"
#include "exercise/blanks.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_flags_of_answer = 10;  // of an answer

/// What is there already isn't written again: a class is resumed without touching it.
std::optional<fs::path> keep(const std::optional<std::string>& text, const fs::path& path) {
  std::error_code error;
  if (!text) {
    fs::remove(path, error);
    return {};
  }
  if (!fs::exists(path, error) || read_file(path) != *text) write_durably(path, *text);
  return path;
}

/// SUBMISSIONS is one student's folder, or a folder of classes? With two or more who hold answers it is neither. Of one
/// alone: a student keeps a program beside other files, in one folder, or in whole copies of the kit; a class, in a
/// folder for each of several.
void refuse_another_level(const fs::path& submissions, const Scan& scan) {
  bool is_one_students = scan.has_answers_at_top, others_try = false;
  std::vector<const ScannedStudent*> holders;
  for (const auto& [name, found] : scan.students) {
    if (is_kits_folder_without_answers(name)) continue;
    if (found.held.empty())
      others_try |= !found.others.empty();
    else if (is_kits_folder_of_answers(name))
      is_one_students = true;
    else
      holders.push_back(&found);
  }
  if (holders.size() > 1) return;
  if (is_one_students) throw Refusal({"submissions_one_student", {{"folder", submissions.string()}}});
  if (holders.empty() || others_try) return;
  for (const auto& [file, places] : holders[0]->held)
    if (places.size() > 1 && !places.contains("") && !std::ranges::includes(holders[0]->kits, places))
      throw Refusal({"submissions_classes",
                     {{"folder", submissions.string()},
                      {"file", file},
                      {"first", *places.begin()},
                      {"second", *std::next(places.begin())},
                      {"class", (submissions / holders[0]->place).string()}}});
}

/// The names that the students are kept under, in the order of scan.students.
std::vector<std::string> names_of(const Scan& scan, const std::set<std::string>& known) {
  std::vector<std::string> handed_in;
  for (const auto& [name, found] : scan.students) handed_in.push_back(name);
  return student_names(handed_in, known);
}

/// What somebody should know of a student whose answer isn't there: what else is.
std::vector<Finding> flags_of_absent(const ScannedStudent& found, const Task& task) {
  std::vector<Finding> flags;
  for (const std::string& archive : found.unreadable) flags.push_back({"flag_unreadable_archive", {{"file", archive}}});
  std::vector<std::string> there = !found.others.empty() ? found.others : found.rest;
  bool tells = !found.others.empty() || (found.files.empty() && !found.rest.empty());
  if (!tells && !found.files.empty()) {
    // Answers to other tasks are marked, but for those to optional ones a class may have no marks.
    there.clear();
    for (const auto& [file, candidates] : found.files) there.push_back(file);
    tells = std::ranges::all_of(
        there, [](const std::string& file) { return task_named(wanted_named(file).wanted->task).optional; });
  }
  if (tells)
    flags.push_back(
        {"flag_other_names",
         {{"files", fmt::format("{}", fmt::join(there, ", "))}, {"file", task.program.exercise.filename().string()}}});
  return flags;
}

/// `again`: whose this may be another submission of.
Student student_of(const std::string& name, const ScannedStudent& found, const std::optional<std::string>& again,
                   const fs::path& submitted) {
  Student student{.name = name, .tasks = {}};
  for (const Task& task : all_tasks()) {
    HandedIn& answer = student.tasks[task.name];
    answer.flags = found.flags;
    if (again) answer.flags.push_back({"flag_again", {{"student", *again}}});
    if (found.n_closed > 0) answer.flags.push_back({"flag_closed_archives", {{"n", std::to_string(found.n_closed)}}});
    const auto take = [&](const fs::path& path) -> std::optional<fs::path> {
      const fs::path copy = submitted / student.name / path.filename();
      const auto candidates = found.files.find(path.filename());
      if (candidates == found.files.end()) return keep({}, copy);
      const auto flags = candidates->second.flags();
      answer.flags.insert(answer.flags.end(), flags.begin(), flags.end());
      return keep(candidates->second.text(), copy);
    };
    answer.program = take(task.program.exercise);
    if (task.script) answer.script = take(task.script->exercise);
    if (answer.absent()) {
      const auto flags = flags_of_absent(found, task);
      answer.flags.insert(answer.flags.begin(), flags.begin(), flags.end());
    } else {
      for (const ExerciseFile& file : task.files())
        if (const std::string wanted = file.exercise.filename(); !found.files.contains(wanted))
          answer.flags.push_back({"flag_missing_file", {{"file", wanted}}});
    }
    if (answer.flags.size() > most_flags_of_answer) {
      const std::size_t more = answer.flags.size() - most_flags_of_answer;
      answer.flags.resize(most_flags_of_answer);
      answer.flags.push_back({"flag_more", {{"n", std::to_string(more)}}});
    }
  }
  return student;
}

}  // namespace

Intake take_in(const fs::path& submissions, const fs::path& submitted, const fs::path& scratch,
               const std::set<std::string>& known) {
  Scan scan = scan_submissions(submissions, scratch);
  refuse_another_level(submissions, scan);
  Intake intake{.problems = std::move(scan.problems)};
  // Their students' copies of the kit would make a class look like that.
  if (scan.students.size() == 1 && scan.students.begin()->second.kits.size() > 1)
    intake.problems.push_back({"one_student_with_copies", {{"student", scan.students.begin()->first}}});
  const std::vector<std::string> names = names_of(scan, known);
  auto name = names.begin();
  for (const auto& [handed_in, found] : scan.students) {
    const std::optional<std::string> first = copied_name(handed_in);
    intake.students.push_back(
        student_of(*name++, found, first && scan.students.contains(*first) ? first : std::nullopt, submitted));
  }
  if (intake.students.empty())
    throw Refusal(intake.problems.empty() ? Finding{"submissions_empty", {{"folder", submissions.string()}}}
                                          : intake.problems.front());
  std::sort(intake.students.begin(), intake.students.end(),
            [](const Student& a, const Student& b) { return a.name < b.name; });
  return intake;
}

std::vector<std::string> students_in(const fs::path& submissions, const std::set<std::string>& known) {
  std::vector<std::string> names = names_of(scan_submissions(submissions, {}), known);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace odori::grader
