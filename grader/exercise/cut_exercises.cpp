// Writes exercises/ and jobscripts/ from solutions/, the only hand-written copy of each exercise.
//
//   ./odori cut            writes what has changed
//   ./odori cut --check    writes nothing; exit code 1 if an exercise isn't what cutting makes
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/error.h"
#include "core/program.h"
#include "exercise/blanks.h"
#include "exercise/cutter.h"

using namespace odori;
using grader::read_file;
namespace fs = std::filesystem;

namespace {

struct Flags {
  fs::path kit = ODORI_FOLDER;
  bool check = false;
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Cuts the exercises out of the solutions: solutions/ -> exercises/ and jobscripts/. Overwrites exercises that "
      "you "
      "have filled in.");
  app.add_option("--kit", flags.kit, "The kit's folder")->capture_default_str();
  app.add_flag("--check", flags.check, "Write nothing; fail if a file isn't what cutting makes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}.\n{} --help lists all flags.", error.what(), argv[0]));
  }
  return flags;
}

bool is_exercise_file(const fs::path& path) { return path.extension() == ".cpp" || path.extension() == ".sh"; }

/// The programs and job scripts below a folder of the kit, in order, relative to the kit.
std::vector<fs::path> files_below(const fs::path& kit, const char* folder) {
  std::vector<fs::path> files;
  std::error_code missing;  // an exercises/ that isn't there yet has no files
  for (const auto& entry : fs::recursive_directory_iterator(kit / folder, missing))
    if (entry.is_regular_file() && is_exercise_file(entry.path())) files.push_back(fs::relative(entry.path(), kit));
  std::sort(files.begin(), files.end());
  return files;
}

/// solutions/jobscripts/x.sh -> jobscripts/x.sh, solutions/01_multi_gpu/x.cpp -> exercises/01_multi_gpu/x.cpp
fs::path exercise_of(const fs::path& solution) {
  const fs::path inner = solution.lexically_relative("solutions");
  return *inner.begin() == "jobscripts" ? inner : "exercises" / inner;
}

/// Each exercise's path and text.
std::map<fs::path, std::string> cut_all(const fs::path& kit) {
  std::map<fs::path, std::string> exercises;
  for (const fs::path& solution : files_below(kit, "solutions"))
    exercises[exercise_of(solution)] = grader::cut(read_file(kit / solution), solution.string());
  require(!exercises.empty(), "There is no solution under {}. --kit names the kit's folder.",
          (kit / "solutions").string());
  return exercises;
}

/// jobscripts/ also holds what isn't an exercise: site files, submit, explain.
bool looks_like_an_exercise(const fs::path& path) {
  return *path.begin() == "exercises" || path.filename().string().starts_with("run_");
}

/// One sentence for each file that isn't what cutting makes.
std::vector<std::string> differences(const fs::path& kit, const std::map<fs::path, std::string>& exercises) {
  std::vector<std::string> found;
  for (const auto& [path, text] : exercises) {
    const std::string difference = grader::first_difference(text, read_file(kit / path));
    if (!difference.empty()) found.push_back(fmt::format("{}: {}.", path.string(), difference));
  }
  for (const char* folder : {"exercises", "jobscripts"})
    for (const fs::path& path : files_below(kit, folder))
      if (!exercises.contains(path) && looks_like_an_exercise(path))
        found.push_back(fmt::format("{}: no solution makes it. Delete it.", path.string()));
  return found;
}

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  require(bool(file.flush()), "{} can't be written.", path.string());
}

/// Writes what differs, so that nothing is built again for nothing. A script stays executable.
void write_all(const fs::path& kit, const std::map<fs::path, std::string>& exercises) {
  for (const auto& [path, text] : exercises) {
    if (fs::exists(kit / path) && read_file(kit / path) == text) continue;
    write_file(kit / path, text);
    if (path.extension() == ".sh") fs::permissions(kit / path, fs::perms::owner_exec, fs::perm_options::add);
    fmt::print("{} is written.\n", path.string());
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  const auto exercises = cut_all(flags.kit);
  if (!flags.check) write_all(flags.kit, exercises);
  const auto found = differences(flags.kit, exercises);
  for (const std::string& sentence : found) fmt::print(stderr, "{}\n", sentence);
  require(found.empty(),
          "{} of the exercises {} not what cutting the solutions makes. Edit solutions/, then run "
          "`./odori cut`.",
          found.size(), found.size() == 1 ? "is" : "are");
  return 0;
} catch (...) {
  return report_failure();
}
