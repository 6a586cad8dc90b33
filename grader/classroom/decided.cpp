// SPDX-License-Identifier: Apache-2.0
#include "classroom/decided.h"

#include "classroom/marking/results.h"
#include "classroom/refusal.h"
#include "files/file.h"
#include "report/machine.h"

namespace odori::grader {

namespace fs = std::filesystem;

std::map<std::string, std::map<int, double>> points_of_class(const GradeFlags& flags, const Terms& terms) {
  std::map<std::string, std::map<int, double>> points;
  for (const std::string& task : terms.tasks())
    points[task] = points_of_class(points_of(task_named(task), flags.kit), terms);
  return points;
}

Course course_of(const GradeFlags& flags, const Decided& decided, const Terms& terms) {
  Course course{.title = decided.settings.title,
                .date = odori::now(),
                .tasks = {},
                .points_of = points_of_class(flags, terms),
                .english = Messages(flags.kit, "en"),
                .japanese = Messages(flags.kit, "ja"),
                .timings = terms.timings(),
                .terms = terms,
                .overrides = decided.overrides,
                .language = decided.settings.language};
  for (const std::string& task : terms.tasks()) course.tasks.push_back(task_named(task));
  return course;
}

Settings settings_of(const GradeFlags& flags) {
  const fs::path file = flags.out / course_file, batch = flags.out / "batch.json";
  Settings settings = read_settings(file);
  if (!fs::exists(file) && fs::exists(batch)) settings.terms = read_batch_state(batch).terms;
  fs::path name = flags.submissions.empty() ? flags.out : flags.submissions;
  if (name.filename().empty()) name = name.parent_path();  // "class/"
  if (settings.title.empty()) settings.title = name.filename();
  if (settings.language.empty()) settings.language = language();
  return settings;
}

std::vector<RosterEntry> roster_of(const GradeFlags& flags, const Settings& settings) {
  std::vector<RosterEntry> roster;
  for (const std::string& name : settings.roster) {
    const fs::path file = flags.out / name;
    if (!fs::is_regular_file(file)) throw Refusal({"roster_missing", {{"file", file.string()}}});
    merge_roster(roster, read_roster(read_file(file), file.string()));
  }
  return roster;
}

std::set<std::string> chosen_students(const GradeFlags& flags, const Intake& intake) {
  std::vector<KnownStudent> known;
  for (const Student& student : intake.students) known.push_back({student.name, student.people});
  std::set<std::string> chosen;
  for (const std::string& name : flags.students)
    chosen.insert(student_meant(name, known, "no_such_student", {}).folder);
  if (flags.students.empty())
    for (const KnownStudent& student : known) chosen.insert(student.folder);
  return chosen;
}

}  // namespace odori::grader
