// SPDX-License-Identifier: Apache-2.0
// Who the students are: lists that the platforms export, and Gradescope's description of an export.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace odori::grader {

/// A student as the platforms know them. What is unknown is empty.
struct Person {
  std::string name, email;
  std::string id;                           // student number
  std::string moodle;                       // the number of "Participant 4009"
  std::string github;                       // user name
  std::string canvas, sis, login, section;  // Canvas: ID, SIS User ID, SIS Login ID, Section
  bool operator==(const Person&) const = default;
};

/// By their names in JSON.
inline constexpr std::array<std::pair<const char*, std::string Person::*>, 9> fields_of_person{
    {{"name", &Person::name},
     {"email", &Person::email},
     {"id", &Person::id},
     {"moodle", &Person::moodle},
     {"github", &Person::github},
     {"canvas", &Person::canvas},
     {"sis", &Person::sis},
     {"login", &Person::login},
     {"section", &Person::section}}};

struct RosterEntry {
  Person person;
  std::int64_t submitted = 0;  // seconds since 1970; 0: unknown
};

/// Reads a list of students in CSV, by its headings: Moodle's grading worksheet and participants, GitHub Classroom's
/// classroom_roster.csv and grades.csv, a Canvas gradebook, a Gradescope roster, or name, email and id. `file` is for
/// messages. Throws Refusal if no heading is known.
std::vector<RosterEntry> read_roster(std::string_view text, const std::string& file);

/// Adds a list to another one. An entry with the same e-mail address, number or user name completes the one that is
/// there; one with the same name too, unless any of these differ.
void merge_roster(std::vector<RosterEntry>& roster, const std::vector<RosterEntry>& more);

/// A person with what is empty taken from `more`.
Person completed(Person person, const Person& more);

/// What Gradescope says about one submission: who submitted, and when.
struct Submitters {
  std::vector<Person> people;
  std::int64_t submitted = 0;
};

/// Reads an export's submission_metadata.yml, by the names of the submissions' folders. Reads the fields :submitters:
/// (:name:, :email:, :sid:) and :created_at: alone; empty if there are none.
std::map<std::string, Submitters> read_submission_metadata(std::string_view yaml);

}  // namespace odori::grader
