// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/intake.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "blanks/listed.h"
#include "blanks/task.h"
#include "classroom/course/times.h"
#include "classroom/marking/choice.h"
#include "classroom/marking/scan.h"
#include "classroom/marking/student_name.h"
#include "classroom/refusal.h"
#include "errors/text.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_flags_of_answer = 10;

/// The other files of a student without an answer. Beside answers to other tasks, only code may be a renamed one; those
/// of a clone are the kit's.
std::optional<Finding> find_other_names(const ScannedStudent& student, const Task& task) {
  std::vector<std::string> names;
  for (const auto& [is_no_code, name] : student.others)
    if (!is_no_code || student.candidates.empty()) names.push_back(name);
  if (names.empty() || !student.kits.empty()) return {};
  return Finding{"flag_other_names", {{"files", listed(names)}, {"file", task.program.exercise.filename().string()}}};
}

HandedIn answer_of(const ScannedStudent& student, const Task& task, const fs::path& kit, const Preference& preference,
                   std::int64_t submitted) {
  HandedIn answer{.program = {}, .script = {}, .flags = student.flags, .submitted = submitted, .files = {}};
  const auto take = [&](const ExerciseFile& file) {
    Choice choice =
        choose(student, file.exercise.filename(), kit.empty() ? "" : read_file(kit / file.exercise), preference);
    answer.flags.insert(answer.flags.end(), choice.flags.begin(), choice.flags.end());
    if (submitted == 0) answer.submitted = std::max(answer.submitted, choice.arrived);
    if (choice.file) answer.files.push_back(*std::move(choice.file));
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

/// Students by whatever a list may name them.
class Names {
 public:
  explicit Names(const std::map<std::string, ScannedStudent>& students) {
    if (students.empty()) return;
    // The names are in order: what the first and the last have in common, all have.
    const std::string &first = students.begin()->first, &last = students.rbegin()->first;
    n_common_ = static_cast<std::size_t>(std::ranges::mismatch(first, last).in1 - first.begin());
  }

  /// `moodle`: as in a folder of Moodle's; else empty.
  void add(std::size_t student, const std::string& folder, const Person& moodle) {
    const std::string small = lower(folder);
    add("f" + small, student);
    add("n" + folded(moodle.name.empty() ? folder : moodle.name), student);
    if (!moodle.moodle.empty()) return add("m" + moodle.moodle, student);
    // GitHub Classroom: ASSIGNMENT-USER, where all have the same assignment. Others: NAME_NUMBER.
    for (std::size_t at = 0; at < std::min(n_common_, small.size()); ++at)
      if (small[at] == '-') add("g" + small.substr(at + 1), student);
    for (const std::string& part : split(small, '_')) add("i" + part, student);
  }

  /// Of several students with the same name, none is meant.
  std::optional<std::size_t> find(const Person& person) const {
    const std::string email = lower(person.email), name = folded(person.name);
    const auto comma = name.find(", ");  // "Last, First"
    for (const std::string& key :
         {"m" + person.moodle, "f" + lower(person.github), "g" + lower(person.github), "f" + email,
          "f" + email.substr(0, email.find('@')), "f" + lower(person.id), "i" + lower(person.id), "n" + name,
          comma == std::string::npos ? std::string() : "n" + name.substr(comma + 2) + ' ' + name.substr(0, comma)}) {
      const auto found = key.size() > 1 ? students_.find(key) : students_.end();
      if (found != students_.end() && found->second) return found->second;
    }
    return {};
  }

 private:
  void add(const std::string& key, std::size_t student) {
    const auto [place, is_new] = students_.try_emplace(key, student);
    if (!is_new && place->second != student) place->second.reset();
  }

  std::size_t n_common_ = 0;  // letters at the beginning of all folders' names
  std::map<std::string, std::optional<std::size_t>> students_;
};

/// A student of the class, before files are chosen.
struct Enrolled {
  std::string original;           // name of the folder; of a student who submitted nothing, the name in the list
  const ScannedStudent* scanned;  // null: nothing was submitted
  std::vector<Person> people;
  std::int64_t submitted = 0;
  bool is_listed = true;  // false: there is a list of students, without this one
};

/// As a list has it; with more of what is known if another student is called so.
std::string name_of(const Person& person, const std::vector<Enrolled>& students) {
  std::string name;
  for (const std::string& more : {person.name, person.email, person.id, person.github, std::string("?")}) {
    if (!more.empty()) name += name.empty() ? more : " (" + more + ')';
    if (!name.empty() && std::ranges::find(students, name, &Enrolled::original) == students.end()) break;
  }
  return name;
}

/// All who submitted, with what the platform says about them, and the others in the list of students.
std::vector<Enrolled> enrol(const Scan& scan, std::vector<RosterEntry> roster) {
  merge_roster(roster, scan.roster);
  std::vector<Enrolled> students;
  Names names(scan.students);
  for (const auto& [folder, scanned] : scan.students) {
    const auto platform = scan.submitters.find(folder);
    Enrolled& student = students.emplace_back(Enrolled{folder, &scanned, {}, 0, roster.empty()});
    if (platform != scan.submitters.end()) {
      student.people = platform->second.people;
      student.submitted = platform->second.submitted;
    } else if (!scanned.moodle.name.empty()) {
      student.people = {scanned.moodle};
    }
    names.add(students.size() - 1, folder, scanned.moodle);
  }
  std::map<std::string, std::size_t> by_email;
  for (std::size_t i = 0; i < students.size(); ++i)
    for (const Person& person : students[i].people)
      if (!person.email.empty()) by_email[lower(person.email)] = i;
  for (const RosterEntry& entry : roster) {
    const auto email = by_email.find(lower(entry.person.email));
    const auto found = email != by_email.end() ? std::optional(email->second) : names.find(entry.person);
    if (!found) {
      students.push_back({name_of(entry.person, students), nullptr, {entry.person}, 0});
      continue;
    }
    Enrolled& student = students[*found];
    student.is_listed = true;
    if (entry.submitted != 0) student.submitted = entry.submitted;
    const auto known = std::ranges::find_if(student.people, [&](const Person& person) {
      return student.people.size() == 1 || lower(person.email) == lower(entry.person.email);
    });
    if (known == student.people.end())
      student.people.push_back(entry.person);
    else
      *known = completed(*known, entry.person);
  }
  return students;
}

}  // namespace

Intake take_in(const fs::path& submissions, const fs::path& scratch, const Choosing& choosing) {
  Scan scan = scan_submissions(submissions, scratch);
  require_class(submissions, scan);
  for (auto& [folder, student] : scan.students)
    if (const auto first = copied_name(folder); first && scan.students.contains(*first))
      student.flags.push_back({"flag_again", {{"student", *first}}});
  const std::vector<Enrolled> enrolled = enrol(scan, choosing.roster);
  std::vector<std::string> originals;
  for (const Enrolled& student : enrolled) originals.push_back(student.original);
  const std::vector<std::string> names = student_names(originals);
  std::vector<KnownStudent> known;
  for (std::size_t i = 0; i < names.size(); ++i) known.push_back({names[i], enrolled[i].people});
  Intake intake{.students = {},
                .problems = std::move(scan.problems),
                .overrides = read_overrides(choosing.overrides, known, choosing.points_of)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ScannedStudent nothing, &scanned = enrolled[i].scanned != nullptr ? *enrolled[i].scanned : nothing;
    const auto overrides = intake.overrides.find(names[i]);
    const Preference preference{
        .student = names[i],
        .files = overrides != intake.overrides.end() ? overrides->second.files : std::vector<std::string>{},
        .not_after = choosing.terms.late == "refuse" && enrolled[i].submitted == 0
                         ? seconds_of_time(choosing.terms.deadline).value_or(0)
                         : 0};
    require_preferred(scanned, preference, choosing.overrides);
    Student& added = intake.students.emplace_back();
    added.name = names[i];
    added.people = enrolled[i].people;
    for (const Task& task : all_tasks()) {
      HandedIn& answer = added.tasks[task.name] =
          answer_of(scanned, task, choosing.kit, preference, enrolled[i].submitted);
      if (!enrolled[i].is_listed) answer.flags.push_back({"flag_not_listed", {}});
    }
  }
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
