// SPDX-License-Identifier: Apache-2.0
// What is decided for a class, and what depends on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "classroom/course/overrides.h"
#include "classroom/course/roster.h"
#include "classroom/course/settings.h"
#include "classroom/grade.h"
#include "classroom/marking/intake.h"
#include "classroom/reports/marks.h"

namespace odori::grader {

struct Decided {
  Settings settings;
  Overrides overrides;
};

/// course.json as it is, with the defaults of this class where it says nothing. Without the file, a class keeps what
/// it was marked by. Throws Refusal.
Settings settings_of(const GradeFlags& flags);

/// The lists of students that the settings name, as one. Throws Refusal if one is missing or is no list.
std::vector<RosterEntry> roster_of(const GradeFlags& flags, const Settings& settings);

/// By task and blank, as the reports have them.
std::map<std::string, std::map<int, double>> points_of_class(const GradeFlags& flags, const Terms& terms);

/// Their folders, whatever --students calls them; all of them without it. Throws Refusal for one who isn't there.
std::set<std::string> chosen_students(const GradeFlags& flags, const Intake& intake);

Course course_of(const GradeFlags& flags, const Decided& decided, const Terms& terms);

}  // namespace odori::grader
