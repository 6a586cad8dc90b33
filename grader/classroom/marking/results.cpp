// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/results.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "blanks/task.h"
#include "classroom/refusal.h"
#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr const char* people_file = "student.json";

/// None if the file is damaged: it is written again by the next batch.
std::vector<Person> read_people(const fs::path& file) try {
  return fs::exists(file) ? people_from_json(read_file(file)) : std::vector<Person>{};
} catch (const Error&) {
  return {};
}

/// Unknown to those who hand in, so that nobody can prepare for the data of their check.
std::string fresh_salt() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Makes it for this user alone, as it holds marks and the salt.
void make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return;
  const bool is_file = error == std::errc::not_a_directory || error == std::errc::file_exists;  // a slip of the pen
  throw Refusal(
      {"batch_cannot_write", {{"reason", fmt::format("{} can't be made: {}.", folder.string(), error.message())}}},
      is_file ? exit_code::usage : 20);
}

/// A folder that an instructor has prepared, or an empty one.
bool holds_settings_alone(const fs::path& folder) {
  return std::ranges::all_of(fs::directory_iterator(folder), [](const fs::directory_entry& entry) {
    return entry.path().filename() == "course.json" || entry.path().extension() == ".csv";
  });
}

void remove_unfinished_below(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().string().ends_with(unfinished_suffix)) unfinished.push_back(at->path());
  for (const fs::path& path : unfinished) fs::remove(path, error);
}

}  // namespace

BatchState read_batch_state(const fs::path& file) try {
  const auto json = parse_ordered_json(read_file(file));
  return {json.at("salt"), json.at("kit"), terms_of(json.at("terms"), file)};
} catch (const nlohmann::json::exception&) {
  throw Refusal({"results_damaged", {{"file", file.string()}}});
}

void write_batch_state(const fs::path& file, const BatchState& state) {
  const nlohmann::ordered_json json{
      {"form", record_form}, {"salt", state.salt}, {"kit", state.kit}, {"terms", json_of(state.terms)}};
  replace_file(file, json_text(json, 2) + '\n');
}

Results::Results(fs::path folder, const std::string& kit_version, Terms terms) : folder_(std::move(folder)) {
  make_folder(folder_);
  if (!fs::exists(folder_ / "lock") && !holds_settings_alone(folder_))
    throw Refusal({"results_not_empty", {{"folder", folder_.string()}}});
  lock_ = try_lock(folder_ / "lock", Lock::Kind::exclusive);
  if (!lock_)
    throw Refusal({"results_in_use", {{"folder", folder_.string()}, {"who", read_file(folder_ / "lock")}}}, 20);
  remove_unfinished_below(folder_);
  if (const fs::path file = folder_ / "batch.json"; fs::exists(file))
    state_ = read_batch_state(file);
  else
    set({fresh_salt(), kit_version, std::move(terms)});
}

void Results::set(BatchState state) {
  state_ = std::move(state);
  write_batch_state(folder_ / "batch.json", state_);
}

std::optional<TaskRecord> Records::read(const std::string& student, const std::string& task) const {
  const fs::path file = of(student) / (task + ".json");
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  try {
    TaskRecord record = record_from_json(read_file(file));
    if (record.student == student && record.task == task) return record;
  } catch (const Error&) {
    // It is marked again.
  }
  return {};
}

void Records::write(const TaskRecord& record) const {
  const fs::path file = of(record.student) / (record.task + ".json");
  if (const auto old = read(record.student, record.task); old && old->content != record.content) {
    const std::string text = read_file(file);
    const auto earlier = [&](int n) { return history_ / record.student / fmt::format("{}.{}.json", record.task, n); };
    int n = 1;
    while (fs::exists(earlier(n))) ++n;
    // Cut short here before, it is there already.
    if (n == 1 || read_file(earlier(n - 1)) != text) replace_file(earlier(n), text);
  }
  replace_file(file, to_json(record));
}

void Records::write_people(const std::string& student, const std::vector<Person>& people) const {
  const std::string text = people_to_json(people);
  if (const fs::path file = of(student) / people_file; read_file(file) != text) replace_file(file, text);
}

void Records::forget(const std::string& student) const {
  for (const Task& task : all_tasks())
    if (auto record = read(student, task.name)) {
      record->content.clear();  // so that the one on the disk becomes history
      write(*record);
    }
  std::error_code error;
  fs::remove_all(of(student), error);
}

std::vector<StudentRecord> Records::all() const {
  std::vector<StudentRecord> students;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    StudentRecord student{.name = entry.path().filename(), .tasks = {}, .people = {}};
    for (const Task& task : all_tasks())
      if (auto record = read(student.name, task.name)) student.tasks[task.name] = std::move(*record);
    if (student.tasks.empty()) continue;
    student.people = read_people(entry.path() / people_file);
    students.push_back(std::move(student));
  }
  std::ranges::sort(students, {}, &StudentRecord::name);
  return students;
}

}  // namespace odori::grader
