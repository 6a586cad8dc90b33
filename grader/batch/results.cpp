#include "batch/results.h"

#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "batch/content.h"
#include "batch/durable_file.h"
#include "batch/refusal.h"
#include "exercise/blanks.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int in_use = 20;

std::string now() {
  const std::time_t time = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", *std::localtime(&time));
}

std::string this_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Unknown to those who hand in, so that nobody can prepare for the data of their check.
std::string fresh_salt() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// /tmp/odori_USER_HASH: of RESULTS' path, so that the next batch there finds and empties it.
fs::path scratch_of(const fs::path& results) {
  std::error_code error;
  const fs::path scratch = fs::temp_directory_path(error) /
                           fmt::format("odori_{}_{}", geteuid(), sha256(fs::canonical(results).string()).substr(0, 8));
  mkdir(scratch.c_str(), 0700);
  struct stat status {};
  if (lstat(scratch.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid())
    throw Refusal({"no_scratch", {{"folder", scratch.string()}, {"reason", "?"}}}, in_use);
  return scratch;
}

}  // namespace

Results::Results(fs::path folder, const std::string& kit_version) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  const bool is_file = error == std::errc::not_a_directory || error == std::errc::file_exists;  // a slip of the pen
  if (error)
    throw Refusal({"batch_cannot_write", {{"file", folder_.string()}, {"reason", error.message()}}},
                  is_file ? exit_code::usage : in_use);
  if (!fs::exists(folder_ / "lock") && !fs::is_empty(folder_, error))
    throw Refusal({"results_not_empty", {{"folder", folder_.string()}}});
  lock_ = Lock::try_for(folder_ / "lock", Lock::Kind::exclusive);
  if (!lock_)
    throw Refusal({"results_in_use", {{"folder", folder_.string()}, {"who", read_file(folder_ / "lock")}}}, in_use);
  lock_.write(fmt::format("{}, process {}, {}", this_host(), getpid(), now()));
  scratch_ = scratch_of(folder_);
  clean();
  read_or_begin(kit_version);
}

Results::~Results() {
  std::error_code error;
  fs::remove_all(scratch_, error);
}

void Results::read_or_begin(const std::string& kit_version) {
  const fs::path file = folder_ / "batch.json";
  if (!fs::exists(file)) {
    salt_ = fresh_salt();
    began_ = now();
    return set_kit(kit_version);
  }
  const Json json = Json::parse(read_file(file), nullptr, false);
  const auto text = [&](const char* key) -> std::string {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string())
      throw Refusal({"results_damaged", {{"file", file.string()}}});
    return json[key];
  };
  salt_ = text("salt");
  kit_ = text("kit");
  began_ = text("began");
}

void Results::set_kit(const std::string& kit_version) {
  kit_ = kit_version;
  const Json json{{"form", record_form}, {"salt", salt_}, {"kit", kit_}, {"began", began_}};
  write_durably(folder_ / "batch.json", json.dump(2) + '\n');
}

void Results::clean() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(scratch_, error)) fs::remove_all(entry.path(), error);
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
