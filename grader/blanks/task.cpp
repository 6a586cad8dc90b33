// SPDX-License-Identifier: Apache-2.0
#include "blanks/task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "blanks/blanks.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// An exercise.json, and what is to be said of it where it can't be used.
class Description {
 public:
  explicit Description(const fs::path& solution)
      : path_((solution / "exercise.json").string()), json_(parsed(read_file(path_))) {
    check(json_.is_object(), "be a JSON object");
    check(json_.contains("launch") && (json_["launch"] == "process" || json_["launch"] == "mpi"),
          "have a \"launch\", \"process\" or \"mpi\"");
    check(json_.contains("blanks") && json_["blanks"].is_array(), "have an array \"blanks\"");
    check_fields(json_, {"blanks", "judged_alone", "launch", "optional", "siblings", "speedup", "title"});
    for (const Json& blank : json_["blanks"])
      if (blank.is_object()) check_fields(blank, {"points", "title"});
  }

  bool measures_speedup() const { return json_.contains("speedup"); }
  bool under_mpi() const { return json_["launch"] == "mpi"; }
  bool optional() const {
    const Json optional = json_.value("optional", Json(false));
    check(optional.is_boolean(), "have true or false as \"optional\", or leave it out");
    return optional;
  }
  Text title() const { return title_of(json_); }
  std::vector<Text> blanks() const {
    std::vector<Text> titles;
    for (const Json& blank : json_["blanks"]) titles.push_back(title_of(blank));
    return titles;
  }

  std::set<int> judged_alone() const {
    const Json alone = json_.value("judged_alone", Json::array());
    const auto is_blank = [this](const Json& blank) {
      return blank.is_number_integer() && blank >= 1 && blank <= json_["blanks"].size();
    };
    check(alone.is_array() && std::ranges::all_of(alone, is_blank), "have numbers of blanks in \"judged_alone\"");
    return alone;
  }

  std::vector<std::set<std::string>> siblings() const {
    const Json groups = json_.value("siblings", Json::array());
    const auto is_word = [](const Json& word) { return word.is_string(); };
    const auto is_group = [&](const Json& group) { return group.is_array() && std::ranges::all_of(group, is_word); };
    check(groups.is_array() && std::ranges::all_of(groups, is_group), "have lists of words in \"siblings\"");
    return groups;
  }

  std::map<int, double> points() const {
    std::map<int, double> points;
    double sum = 0;
    for (const Json& blank : json_["blanks"]) sum += points[static_cast<int>(points.size()) + 1] = points_of(blank);
    if (measures_speedup()) sum += points[0] = points_of(json_["speedup"]);
    check(sum > 99.99 && sum < 100.01, fmt::format("give 100 points in all, and gives {}", sum));
    return points;
  }

 private:
  Json parsed(const std::string& text) const {
    try {
      return Json::parse(text);
    } catch (const Json::parse_error& error) {
      // "[json.exception.parse_error.101] parse error at line 3, column 1: syntax error while ..."
      const std::string_view what = error.what();
      const auto where = what.find("line ");
      fail("{} should be JSON. In {}.", path_, what.substr(where == std::string_view::npos ? 0 : where));
    }
  }
  void check(bool good, const std::string& what) const { require(good, "{} should {}.", path_, what); }
  /// A field that nobody reads is a slip, and what it was to say would be missing without a word.
  void check_fields(const Json& object, const std::vector<std::string>& known) const {
    for (const auto& [name, value] : object.items())
      check(std::find(known.begin(), known.end(), name) != known.end(),
            fmt::format("have no \"{}\": what is read there is {}", name, fmt::join(known, ", ")));
  }

  Text title_of(const Json& object) const {
    const auto has = [](const Json& title, const char* language) {
      return title.contains(language) && title[language].is_string();
    };
    const bool good = object.is_object() && object.contains("title") && object["title"].is_object() &&
                      has(object["title"], "en") && has(object["title"], "ja");
    check(good, "have titles in both languages: {\"en\": ..., \"ja\": ...}");
    return {object["title"]["en"], object["title"]["ja"]};
  }
  double points_of(const Json& object) const {
    const bool good = object.is_object() && object.contains("points") && object["points"].is_number();
    check(good && object["points"] >= 0, "give the \"points\" of each blank and of the speedup, numbers from 0");
    return object["points"];
  }

  std::string path_;
  Json json_;
};

/// The one file of this kind in a folder; none if it isn't there.
std::optional<fs::path> file_in(const fs::path& folder, const std::string& prefix, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == extension && entry.path().filename().string().starts_with(prefix))
      found.push_back(entry.path().filename());
  require(found.size() < 2, "{} should hold one file {}*{}, and holds {}.", folder.string(), prefix, extension,
          found.size());
  return found.empty() ? std::nullopt : std::optional(found.front());
}

Task read_task(const fs::path& solution) {
  const Description description(solution);
  const fs::path folder = solution.filename();
  const auto program = file_in(solution, "", ".cpp"), script = file_in(solution, "run_", ".sh");
  require(program.has_value(), "{} holds no program: one file .cpp.", solution.string());
  Task task{.name = folder.string().substr(folder.string().find('_') + 1),
            .folder = folder,
            .program = {"exercises" / folder / *program, "solutions" / folder / *program},
            .script = {},
            .title = description.title(),
            .blanks = description.blanks(),
            .judged_alone = description.judged_alone(),
            .siblings = description.siblings(),
            .under_mpi = description.under_mpi(),
            .measures_speedup = description.measures_speedup(),
            .optional = description.optional()};
  if (script) task.script = {"jobscripts" / *script, "solutions" / folder / *script};
  return task;
}

std::vector<Task> read_tasks() {
  std::vector<Task> tasks;
  for (const auto& entry : fs::directory_iterator(ODORI_SOLUTIONS_FOLDER))
    if (fs::exists(entry.path() / "exercise.json")) tasks.push_back(read_task(entry.path()));
  std::erase_if(tasks, [](const Task& task) { return task.blanks.empty(); });
  std::sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.folder < b.folder; });
  return tasks;
}

}  // namespace

std::vector<ExerciseFile> Task::files() const {
  std::vector<ExerciseFile> files{program};
  if (script) files.push_back(*script);
  return files;
}

std::vector<int> Task::judged() const {
  std::vector<int> numbers(blanks.size());
  std::iota(numbers.begin(), numbers.end(), 1);
  if (measures_speedup) numbers.push_back(0);
  return numbers;
}

const std::vector<Task>& all_tasks() {
  static const std::vector<Task> tasks = read_tasks();
  return tasks;
}

std::vector<std::string> names_of_tasks() {
  std::vector<std::string> names;
  for (const Task& task : all_tasks()) names.push_back(task.name);
  return names;
}

const Task& task_named(std::string_view name) {
  for (const Task& task : all_tasks())
    if (task.name == name) return task;
  throw UsageError(fmt::format("There is no task \"{}\". The tasks are {}.", name, fmt::join(names_of_tasks(), ", ")));
}

std::map<int, double> points_of(const Task& task, const fs::path& kit) {
  return Description(kit / "solutions" / task.folder).points();
}

}  // namespace odori::grader
