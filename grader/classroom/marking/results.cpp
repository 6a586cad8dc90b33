#include "classroom/marking/results.h"

#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <vector>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "classroom/marking/content.h"
#include "classroom/marking/durable_file.h"
#include "classroom/marking/refusal.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int in_use = 20;
constexpr std::string_view scratch_name = "odori_batch_";

std::string now() {
  const std::time_t time = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", *std::localtime(&time));
}

/// Unknown to those who hand in, so that nobody can prepare for the data of their check.
std::string fresh_salt() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Was it made by fresh_scratch(), for this user?
bool is_own_scratch(const fs::path& folder) {
  struct stat status {};
  return folder.filename().string().starts_with(scratch_name) && lstat(folder.c_str(), &status) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

}  // namespace

Results::Results(fs::path folder, const std::string& kit_version, Terms terms) : folder_(std::move(folder)) {
  std::error_code error;
  made_folder_ = fs::create_directories(folder_, error);
  const bool is_file = error == std::errc::not_a_directory || error == std::errc::file_exists;  // a slip of the pen
  if (error)
    throw Refusal({"batch_cannot_write", {{"file", folder_.string()}, {"reason", error.message()}}},
                  is_file ? exit_code::usage : in_use);
  if (made_folder_) fs::permissions(folder_, fs::perms::owner_all, error);  // marks, and the salt
  if (!fs::exists(folder_ / "lock") && !fs::is_empty(folder_, error))
    throw Refusal({"results_not_empty", {{"folder", folder_.string()}}});
  lock_ = Lock::try_for(folder_ / "lock", Lock::Kind::exclusive);
  if (!lock_)
    throw Refusal({"results_in_use", {{"folder", folder_.string()}, {"who", read_file(folder_ / "lock")}}}, in_use);
  lock_.write(fmt::format("{}, process {}, {}", this_host(), getpid(), now()));
  scratch_ = fresh_scratch();
  remove_unfinished();
  read_or_begin(kit_version, std::move(terms));
}

Results::~Results() {
  std::error_code error;
  fs::remove_all(scratch_, error);
  fs::remove(folder_ / "scratch", error);
}

void Results::forget() const {
  std::error_code error;
  if (!began_now_ || fs::exists(submitted(), error)) return;
  for (const char* file : {"batch.json", "scratch", "lock"}) fs::remove(folder_ / file, error);
  if (made_folder_) fs::remove(folder_, error);
}

void Results::read_or_begin(const std::string& kit_version, Terms terms) {
  const fs::path file = folder_ / "batch.json";
  if (!fs::exists(file)) {
    salt_ = fresh_salt();
    began_ = now();
    began_now_ = true;
    return set(kit_version, terms);
  }
  const Json json = Json::parse(read_file(file), nullptr, false);
  const auto text = [&](const Json& field) -> std::string {
    if (!field.is_string()) throw Refusal({"results_damaged", {{"file", file.string()}}});
    return field;
  };
  const auto field = [&](const char* key) { return json.is_object() && json.contains(key) ? json[key] : Json(); };
  salt_ = text(field("salt"));
  kit_ = text(field("kit"));
  began_ = text(field("began"));
  if (!field("timings").is_boolean() || !field("tasks").is_array()) {
    terms_ = terms_of_records();
    if (terms_.tasks.empty()) terms_ = std::move(terms);
    return;
  }
  terms_.timings = field("timings");
  for (const Json& task : field("tasks")) terms_.tasks.push_back(text(task));
}

Terms Results::terms_of_records() const {
  Terms terms{.timings = false, .tasks = {}};
  const std::vector<StudentRecord> students = records().all();
  for (const Task& task : all_tasks())
    for (const StudentRecord& student : students) {
      const auto record = student.tasks.find(task.name);
      if (record == student.tasks.end()) continue;
      if (terms.tasks.empty() || terms.tasks.back() != task.name) terms.tasks.push_back(task.name);
      if (record->second.check)
        for (const BlankVerdict& verdict : record->second.check->verdicts)
          terms.timings |= verdict.blank == 0 && verdict.verdict != Verdict::not_checked;
    }
  return terms;
}

void Results::set(const std::string& kit_version, const Terms& terms) {
  kit_ = kit_version;
  terms_ = terms;
  const Json json{{"form", record_form},      {"salt", salt_},       {"kit", kit_}, {"began", began_},
                  {"timings", terms.timings}, {"tasks", terms.tasks}};
  write_durably(folder_ / "batch.json", json.dump(2) + '\n');
}

/// Below TMPDIR under a name that nobody can know before, so that nobody can be there first. RESULTS/scratch names it:
/// the next batch removes what a killed one left.
fs::path Results::fresh_scratch() const {
  std::error_code error;
  const fs::path note = folder_ / "scratch";
  if (const fs::path old = read_file(note); is_own_scratch(old)) fs::remove_all(old, error);
  std::string name = (fs::temp_directory_path(error) / (std::string(scratch_name) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr)
    throw Refusal({"no_scratch", {{"folder", name}, {"reason", std::strerror(errno)}}}, in_use);
  std::ofstream(note) << name;
  return name;
}

void Results::remove_unfinished() const {
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end; at.increment(error))
    if (at->path().string().ends_with(unfinished_suffix)) unfinished.push_back(at->path());
  for (const fs::path& path : unfinished) fs::remove(path, error);
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

void Records::write(const TaskRecord& record, Old old_one) const {
  const fs::path file = of(record.student) / (record.task + ".json");
  if (old_one == Old::kept && fs::exists(file)) {
    const std::string old = read_file(file);
    const auto earlier = [&](int n) { return history_ / record.student / fmt::format("{}.{}.json", record.task, n); };
    int n = 1;
    while (fs::exists(earlier(n))) ++n;
    // Cut short here before, it is there already.
    if (n == 1 || read_file(earlier(n - 1)) != old) write_durably(earlier(n), old);
  }
  write_durably(file, to_json(record));
}

std::vector<StudentRecord> Records::all() const {
  std::vector<StudentRecord> students;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    StudentRecord student{.name = entry.path().filename(), .tasks = {}};
    for (const Task& task : all_tasks())
      if (auto record = read(student.name, task.name)) student.tasks[task.name] = std::move(*record);
    if (!student.tasks.empty()) students.push_back(std::move(student));
  }
  std::sort(students.begin(), students.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return students;
}

}  // namespace odori::grader
