// SPDX-License-Identifier: Apache-2.0
#include "classroom/course/overrides.h"

#include <algorithm>

#include "blanks/listed.h"
#include "classroom/course/csv.h"
#include "classroom/course/settings.h"
#include "classroom/refusal.h"
#include "errors/nearest.h"
#include "errors/text.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_offered = 5;  // names

using Values = std::map<std::string, std::string>;
using PointsOf = std::map<std::string, std::map<int, double>>;

bool is_named(const KnownStudent& student, const std::string& text) {
  const std::string wanted = lower(text);
  if (lower(student.folder) == wanted) return true;
  return std::ranges::any_of(student.people, [&](const Person& person) {
    return std::ranges::any_of(
        std::initializer_list<std::string>{person.name, person.email, person.id, person.moodle, person.github},
        [&](const std::string& field) { return !field.empty() && lower(field) == wanted; });
  });
}

class Line {
 public:
  Line(const CsvTable& table, std::size_t row, const fs::path& file, const PointsOf& points_of)
      : table_(table), row_(row), points_of_(points_of), task_(text("task")) {
    values_ = {{"file", file.string()},
               {"row", std::to_string(row + 2)},
               {"task", task_},
               {"blank", text("blank")},
               {"points", text("points")}};
  }

  std::string text(const char* heading) const { return table_.at(row_, heading); }
  const Values& values() const { return values_; }

  void add_to(StudentOverrides& student) {
    if (const std::string file = text("file"); !file.empty()) student.files.push_back(file);
    if (text("points").empty()) {
      if (text("file").empty()) refuse("override_without_points");
      return;
    }
    if (text("blank") == "late" && task_.empty()) {
      for (const auto& [task, points] : points_of_) student.late[task] = override_up_to(all_points);
      return;
    }
    const auto points = points_of_.find(task_);
    if (points == points_of_.end()) refuse("override_no_task");
    if (text("blank") == "late") {
      student.late[task_] = override_up_to(all_points);
    } else if (text("blank").empty()) {
      student.points[{task_, whole_task}] = override_up_to(all_points);
    } else {
      const auto blank =
          points->second.find(text("blank") == "speedup" ? 0 : number_of<int>(text("blank")).value_or(-1));
      if (blank == points->second.end()) refuse("override_no_blank");
      student.points[{task_, blank->first}] = override_up_to(blank->second);
    }
  }

 private:
  Override override_up_to(double most) {
    const auto points = number_of<double>(text("points"));
    values_["most"] = fmt::format("{:g}", most);
    if (!points || !(*points >= 0 && *points <= most)) refuse("override_points");
    return {*points, text("comment")};
  }
  [[noreturn]] void refuse(const char* key) {
    values_["tasks"] = listed(points_of_ | std::views::keys);
    throw Refusal({key, values_});
  }

  const CsvTable& table_;
  std::size_t row_;
  const PointsOf& points_of_;
  std::string task_;
  Values values_;
};

}  // namespace

const KnownStudent& student_meant(const std::string& text, const std::vector<KnownStudent>& students,
                                  const std::string& key, const Values& values) {
  std::vector<const KnownStudent*> meant;
  for (const KnownStudent& student : students) {
    if (student.folder == text) return student;
    if (is_named(student, text)) meant.push_back(&student);
  }
  if (meant.size() == 1) return *meant.front();
  std::vector<std::string> names;
  for (const KnownStudent& student : students) {
    names.push_back(student.folder);
    for (const Person& person : student.people)
      if (!person.name.empty()) names.push_back(person.name);
  }
  std::vector<std::string> offered = nearest(text, names);
  if (offered.empty()) offered = std::move(names);
  if (!meant.empty()) offered.clear();
  for (const KnownStudent* student : meant) offered.push_back(student->folder);
  Values all = values;
  all["student"] = text;
  all["n"] = std::to_string(students.size());
  all["names"] = listed(offered, meant.empty() ? most_offered : meant.size());
  throw Refusal({meant.empty() ? key : "student_ambiguous", std::move(all)});
}

Overrides read_overrides(const fs::path& file, const std::vector<KnownStudent>& students, const PointsOf& points_of) {
  Overrides overrides;
  if (!fs::exists(file)) return overrides;
  const CsvTable table(read_file(file));
  for (const char* heading : {"student", "task", "blank", "points"})
    if (!table.has(heading)) throw Refusal({"override_headings", {{"file", file.string()}, {"heading", heading}}});
  for (std::size_t row = 0; row < table.n_rows(); ++row) {
    Line line(table, row, file, points_of);
    const KnownStudent& student = student_meant(line.text("student"), students, "override_no_student", line.values());
    line.add_to(overrides[student.folder]);
  }
  return overrides;
}

}  // namespace odori::grader
