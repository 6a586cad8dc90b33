#include "worker/build.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "exercise/blanks.h"
#include "exercise/finding.h"
#include "worker/process.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr auto compile_limit = std::chrono::seconds(40);
constexpr std::size_t kept_builds = 24;

/// FNV-1a, 64 bits: a name for a text, not a secret.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw EnvironmentFault({"disk_full", {{"file", path.string()}}});
}

/// The oldest builds go; not those that a check may be using.
void forget_old_builds(const fs::path& outputs) {
  std::vector<std::pair<fs::file_time_type, fs::path>> builds;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(outputs, gone))
    builds.emplace_back(entry.last_write_time(gone), entry.path());
  std::sort(builds.rbegin(), builds.rend());
  for (std::size_t i = kept_builds; i < builds.size(); ++i)
    if (builds[i].first < fs::file_time_type::clock::now() - std::chrono::hours(1))
      fs::remove_all(builds[i].second, gone);
}

/// Why a compiler came to no end, if it didn't.
std::optional<Finding> trouble_of(const Ended& ended) {
  if (ended.broke) return ended.broke;
  if (ended.stopped) return Finding{"compiler_gave_up", {}};
  if (ended.count("No space left on device") > 0 || ended.count("File size limit exceeded") > 0)
    return Finding{"disk_full", {{"file", "/tmp"}}};
  if (ended.code == 137 || ended.count("Killed signal terminated program") > 0 ||
      ended.count("virtual memory exhausted") > 0 || ended.count("out of memory") > 0)
    return Finding{"no_memory", {}};
  return {};
}

/// The files and folders that a recorded command names.
std::vector<fs::path> named_in(const std::vector<std::string>& words, const fs::path& folder) {
  std::vector<fs::path> paths;
  for (std::string_view word : words) {
    for (const std::string_view flag : {"-I", "-L", "-isystem", "-B"})
      if (word.starts_with(flag)) word.remove_prefix(flag.size());
    const fs::path path = folder / word;
    std::error_code missing;
    if (word.empty() || word.starts_with('-') || !fs::exists(path, missing)) continue;
    // A precompiled header lies beside the header that is named.
    paths.push_back(path.extension() == ".hxx" ? path.parent_path() : path);
  }
  return paths;
}

}  // namespace

std::vector<CompileError> read_errors(const std::string& output) {
  // "blank_3:76:60: error: ...", "blank_3.kit:1:20: error: ...", "/usr/include/...:1065:30: error: ..."
  static const std::regex location(R"(^([^\s:]+):(\d+)(?::(\d+))?:(.*))");
  static const std::regex ours(R"((whole|blank_\d+)(\.kit)?)"), error(R"(\s*(?:fatal )?error: (.*))");
  std::vector<CompileError> errors;
  std::optional<CompileError> asked;  // where a header's template was asked for: "blank_3:76:60:   required from here"
  for (const std::string& line : split_lines(output)) {
    std::smatch place, file, what;
    if (!std::regex_match(line, place, location)) continue;
    const std::string name = place[1], rest = place[4];
    CompileError here{.line = std::stoi(place[2]), .column = place[3].matched ? std::stoi(place[3]) : 0};
    const bool in_variant = std::regex_match(name, file, ours);
    if (in_variant) here.variant = file[1], here.in_kit = file[2].matched;
    if (std::regex_match(rest, what, error)) {
      CompileError found = !in_variant && asked ? *asked : here;
      found.message = what[1];
      errors.push_back(std::move(found));
      asked.reset();
    } else if (in_variant && rest.find("required from") != std::string::npos) {
      asked = here;
    }
  }
  return errors;
}

Compiler::Compiler(fs::path build, fs::path outputs, const Sandbox* sandbox)
    : build_(std::move(build)), outputs_(std::move(outputs)), sandbox_(sandbox) {
  compile_ = recorded("compile.command");
  link_ = recorded("link.command");
  key_ = read_file(build_ / "grader" / "compile.command") + read_file(build_ / "grader" / "link.command");
  for (const std::string& word : link_.words) {  // the library, and whatever else is linked
    std::error_code missing;
    const fs::path path = link_.folder / word;
    if (!word.ends_with(".o") && fs::is_regular_file(path, missing))
      key_ += fmt::format("{} {}\n", word, fs::last_write_time(path).time_since_epoch().count());
  }
}

Compiler::Recorded Compiler::recorded(const char* name) const {
  std::vector<std::string> lines = split_lines(read_file(build_ / "grader" / name));
  if (lines.size() < 2) throw EnvironmentFault({"not_built", {{"folder", build_.string()}}});
  Recorded command{lines[0], {lines.begin() + 1, lines.end()}};
  if (const auto launcher = fs::path(command.words[0]).filename(); launcher == "ccache" || launcher == "sccache")
    command.words.erase(command.words.begin());
  return command;
}

Ended Compiler::translate(const Command& command, const fs::path& input, const fs::path& output) const {
  write_file(output, "");
  std::error_code ignored;
  fs::permissions(output, fs::perms(0666), ignored);
  Walls walls{.readable = named_in(command.words, command.folder), .writable = {output}};
  std::erase(walls.readable, output);
  walls.readable.push_back(input);
  walls.memory = std::size_t{3} << 30;
  walls.processes = 64;
  const Ended ended = run_inside(sandbox_, command, walls, {.time = compile_limit});
  if (ended.code == 127) throw EnvironmentFault({"no_compiler", {}});
  return ended;
}

Built Compiler::build(const std::string& source) const {
  const fs::path folder = outputs_ / hash_of(key_ + source), program = folder / "program", said = folder / "errors";
  std::error_code ignored;
  if (fs::exists(program)) {
    fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
    return {.program = program};
  }
  if (const std::string errors = read_file(said); !errors.empty()) return {.errors = read_errors(errors)};
  forget_old_builds(outputs_);
  fs::create_directories(folder, ignored);
  const fs::path unfinished = folder / fmt::format("{}", getpid()), text = unfinished.string() + ".cpp",
                 object = unfinished.string() + ".o";
  write_file(text, source);

  Command compile{.environment = {{"LC_ALL", "C"}, {"CCACHE_DISABLE", "1"}}, .folder = compile_.folder};
  for (std::size_t i = 0; i < compile_.words.size(); ++i) {
    const std::string& word = compile_.words[i];
    if (word == "-o" || word == "-c" || word == "-MT" || word == "-MF" || word == "-MQ")
      ++i;
    else if (word != "-MD" && word != "-MMD" && !word.starts_with("-W"))
      compile.words.push_back(word);
  }
  for (const char* word :
       {"-w", "-fmax-errors=0", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-ftabstop=1", "-c"})
    compile.words.push_back(word);
  compile.words.insert(compile.words.end(), {text.string(), "-o", object.string()});
  const Ended compiled = translate(compile, text, object);
  fs::remove(text, ignored);
  if (auto trouble = trouble_of(compiled)) {
    fs::remove(object, ignored);
    return {.gave_up = trouble};
  }
  if (compiled.code != 0) {
    fs::remove(object, ignored);
    write_file(unfinished, compiled.output);
    fs::rename(unfinished, said, ignored);
    return {.errors = read_errors(compiled.output)};
  }

  Command link{.environment = {{"LC_ALL", "C"}}, .folder = link_.folder};
  bool object_is_named = false;
  for (std::size_t i = 0; i < link_.words.size(); ++i) {
    const std::string& word = link_.words[i];
    if (word == "-o") {
      link.words.insert(link.words.end(), {"-o", unfinished.string()});
      ++i;
    } else if (!word.ends_with(".o")) {
      link.words.push_back(word);
    } else if (!object_is_named) {
      link.words.push_back(object.string());
      object_is_named = true;
    }
  }
  const Ended linked = translate(link, object, unfinished);
  fs::remove(object, ignored);
  if (auto trouble = trouble_of(linked); trouble || linked.code != 0) {
    fs::remove(unfinished, ignored);
    return trouble ? Built{.gave_up = trouble} : Built{.errors = {{.message = linked.output.substr(0, 2000)}}};
  }
  fs::permissions(unfinished, fs::perms(0755), ignored);
  fs::rename(unfinished, program, ignored);
  return {.program = program};
}

}  // namespace odori::grader
