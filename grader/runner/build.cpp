#include "runner/build.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <fstream>

#include "blanks/blanks.h"
#include "blanks/finding.h"
#include "blanks/lexer.h"
#include "blanks/utf8.h"
#include "program/process.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

// How much it may compute, whatever else this machine does, and how long it may wait for its turn.
constexpr std::chrono::seconds longest_computation{40}, longest_wait{300};
constexpr std::size_t kept_builds = 24;
// Of a build, in a folder of its own: what was built and how, and what came of it.
constexpr const char *kept_content = "content", *kept_program = "program", *kept_errors = "errors";
constexpr std::string_view kit_file = "kit";  // to the compiler, in a file of source_of()
// The C++ library's own assertions would end the program before the check, which knows the type.
constexpr std::array pointer_checks{"-fsanitize=null,bounds", "-fno-sanitize-recover=all", "-U_GLIBCXX_ASSERTIONS"};
constexpr std::size_t longest_message = 600;  // bytes: more of a compiler's words wouldn't say more
constexpr std::size_t most_notes = 2000;      // likewise

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

/// Why a compiler or a linker failed, if that isn't for an error that it found in the source. Its words decide nothing
/// here: a source can make a compiler say whatever it likes, at a line's begin too (a static_assert's text).
std::optional<Finding> trouble_of(const EndedInside& ended, bool error_found) {
  if (ended.broke) return ended.broke;
  if (ended.stopped) return Finding{"compiler_gave_up", {}};
  if (ended.code == 128 + SIGKILL) return Finding{"no_memory", {}};
  if (ended.code != 0 && !error_found)
    return Finding{"compiler_failed", {{"detail", bounded(end_of(ended.output), longest_message)}}};
  return {};
}

/// 3 of "blank_3"; nothing if it is no such name.
std::optional<int> blank_named(std::string_view name) {
  constexpr std::string_view begin = "blank_";
  if (!name.starts_with(begin)) return {};
  int number = 0;
  const auto [end, error] = std::from_chars(name.data() + begin.size(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number > 0 ? std::optional(number) : std::nullopt;
}

/// Takes ":76" off a text's begin; nothing if there is no number, or none that a line or a column can have.
std::optional<int> take_number(std::string_view& text) {
  if (text.size() < 2 || text[0] != ':' || !is_digit(text[1])) return {};
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes a word and the blanks before it off a text's begin, if it begins so.
bool take_word(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (!rest.starts_with(word)) return false;
  text = rest.substr(word.size());
  return true;
}

bool is_in_program(const std::vector<CompileError>& errors) {
  return std::ranges::any_of(errors, &CompileError::in_program);
}

/// GCC that speaks ASCII has other characters of a name by their numbers: "'\U0000901a' was not declared".
std::string with_characters(std::string text) {
  constexpr std::size_t digits = 8;
  for (auto at = text.find("\\U"); at != std::string::npos; at = text.find("\\U", at + 1)) {
    const char *const begin = text.data() + at + 2, *const end = begin + std::min(digits, text.size() - at - 2);
    std::uint32_t character = 0;
    if (const auto read = std::from_chars(begin, end, character, 16);
        read.ptr != begin + digits || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000))
      continue;
    text.replace(at, 2 + digits, utf8(character));
  }
  return text;
}

/// The files and folders that a recorded command names.
std::vector<fs::path> named_in(const std::vector<std::string>& arguments, const fs::path& folder) {
  std::vector<fs::path> paths;
  for (std::string_view argument : arguments) {
    for (const std::string_view flag : {"-I", "-L", "-isystem", "-B"})
      if (argument.starts_with(flag)) argument.remove_prefix(flag.size());
    const fs::path path = folder / argument;
    std::error_code missing;
    if (argument.empty() || argument.starts_with('-') || !fs::exists(path, missing)) continue;
    // A precompiled header lies beside the header that is named.
    paths.push_back(path.extension() == ".hxx" ? path.parent_path() : path);
  }
  return paths;
}

}  // namespace

std::vector<CompileError> read_errors(const std::string& output) {
  // "blank_3:1:20: error: ...", "kit:76:60: error: ...", "/usr/include/...:1065:30: error: ..."
  std::vector<CompileError> errors;
  bool is_of_error = false;           // what comes now: not of a warning
  std::optional<CompileError> asked;  // where a header's template was asked for: "blank_3:2:60:   required from here"
  for (const std::string& line : split_lines(with_characters(output))) {
    std::string_view rest = line, name = rest.substr(0, rest.find_first_of(": \t"));
    rest.remove_prefix(name.size());
    const auto row = take_number(rest);
    if (name.empty() || !row) continue;
    const auto blank = blank_named(name);
    CompileError here{.blank = blank.value_or(0), .line = *row, .column = take_number(rest).value_or(0)};
    here.in_program = blank || name == kit_file;
    if (!take_word(rest, ":")) continue;
    take_word(rest, "fatal ");
    if (take_word(rest, "error: ")) {
      CompileError found = !here.in_program && asked ? *asked : here;
      found.message = bounded(std::string(rest), longest_message);
      errors.push_back(std::move(found));
      asked.reset();
      is_of_error = true;
    } else if (take_word(rest, "warning: ")) {
      is_of_error = false;
    } else if (take_word(rest, "note: ")) {
      if (is_of_error && errors.back().notes.size() < most_notes)
        errors.back().notes.append(std::string(rest.substr(0, most_notes)) + '\n');
    } else if (here.in_program && rest.find("required from") != std::string_view::npos) {
      asked = here;
    }
  }
  return errors;
}

std::vector<CompileError> read_link_errors(const std::string& output) {
  // "...: undefined reference to `nowhere(int)'"; LLVM's "error: undefined symbol: nowhere(int)"
  std::vector<CompileError> errors;
  for (const std::string& line : split_lines(output))
    for (const std::string_view words : {"undefined reference to `", "undefined symbol: "}) {
      const auto at = line.find(words);
      if (at == std::string::npos) continue;
      std::string what = line.substr(at + words.size());
      if (what.ends_with('\'')) what.pop_back();
      what = replaced(std::move(what), "odori::", "");
      errors.push_back({.message = bounded(fmt::format("undefined reference to '{}'", what), longest_message)});
    }
  return errors;
}

Compiler::Compiler(fs::path build, fs::path outputs, const Sandbox* sandbox)
    : build_(std::move(build)), outputs_(std::move(outputs)), sandbox_(sandbox) {
  compile_ = recorded("compile.command");
  link_ = recorded("link.command");
  key_ = read_file(build_ / "grader" / "compile.command") + read_file(build_ / "grader" / "link.command");
  for (const std::string& argument : link_.arguments) {  // the library, and whatever else is linked
    std::error_code missing;
    const fs::path path = link_.folder / argument;
    if (!argument.ends_with(".o") && fs::is_regular_file(path, missing))
      key_ += fmt::format("{} {}\n", argument, fs::last_write_time(path).time_since_epoch().count());
  }
}

Compiler::Recorded Compiler::recorded(const char* name) const {
  std::vector<std::string> lines = split_lines(read_file(build_ / "grader" / name));
  if (lines.size() < 2) throw EnvironmentFault({"not_built", {{"folder", build_.string()}}});
  Recorded command{lines[0], {lines.begin() + 1, lines.end()}};
  if (const auto launcher = fs::path(command.arguments[0]).filename(); launcher == "ccache" || launcher == "sccache")
    command.arguments.erase(command.arguments.begin());
  return command;
}

EndedInside Compiler::translate(Command command, const fs::path& input, const fs::path& output,
                                const BuildOptions& options) const {
  if (options.pointer_checks)
    command.arguments.insert(command.arguments.end(), pointer_checks.begin(), pointer_checks.end());
  if (options.low_priority) command.before = [] { std::ignore = ::nice(10); };
  write_file(output, "");
  std::error_code ignored;
  fs::permissions(output, fs::perms(0666), ignored);
  SandboxPolicy policy{.readable = named_in(command.arguments, command.folder), .writable = {output}};
  std::erase(policy.readable, output);
  policy.readable.push_back(input);
  policy.memory = std::size_t{3} << 30;
  policy.processes = 64;
  const EndedInside ended = run_inside(sandbox_, command, policy,
                                       {.time = longest_wait, .processor_time = longest_computation, .give_up = [&] {
                                          return options.cancelled && *options.cancelled;
                                        }});
  if (ended.code == 127) throw EnvironmentFault({"no_compiler", {}});
  return ended;
}

fs::path Compiler::folder_of(const std::string& source, const BuildOptions& options) const {
  static std::atomic<int> counter = 0;
  const std::string content = fmt::format("{}{}{}", key_, options.pointer_checks, source);
  fs::path folder = outputs_ / fmt::format("{:016x}", std::hash<std::string>()(content));
  if (read_file(folder / kept_content) == content) return folder;
  std::error_code ignored;
  if (fs::exists(folder / kept_content, ignored)) fs::remove_all(folder, ignored);  // the same hash by chance
  fs::create_directories(folder, ignored);
  const fs::path unfinished = folder / fmt::format("content_{}_{}", getpid(), ++counter);
  write_file(unfinished, content);
  fs::rename(unfinished, folder / kept_content, ignored);
  return folder;
}

Built Compiler::build(const std::string& source, const BuildOptions& options) const {
  const fs::path folder = folder_of(source, options);
  std::error_code ignored;
  if (fs::exists(folder / kept_program)) {
    fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);
    return {.program = folder / kept_program};
  }
  if (const std::string said = read_file(folder / kept_errors); !said.empty()) return {.errors = read_errors(said)};
  return build_anew(source, options);
}

Built Compiler::build_anew(const std::string& source, const BuildOptions& options) const {
  static std::atomic<int> counter = 0;
  forget_old_builds(outputs_);
  const fs::path folder = folder_of(source, options);
  std::error_code ignored;
  fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);  // forget_old_builds() of others keeps it
  const fs::path unfinished = folder / fmt::format("{}_{}", getpid(), ++counter), text = unfinished.string() + ".cpp",
                 object = unfinished.string() + ".o";
  write_file(text, source);
  const EndedInside compiled = translate(compile_command(text, object), text, object, options);
  fs::remove(text, ignored);
  if (compiled.code != 0 || compiled.stopped) {
    fs::remove(object, ignored);
    Built built{.errors = read_errors(compiled.output)};
    built.gave_up = trouble_of(compiled, is_in_program(built.errors));
    if (built.gave_up) return built;
    write_file(unfinished, compiled.output);
    fs::rename(unfinished, folder / kept_errors, ignored);
    return built;
  }
  const EndedInside linked = translate(link_command(object, unfinished), object, unfinished, options);
  fs::remove(object, ignored);
  if (linked.code != 0 || linked.stopped) {
    fs::remove(unfinished, ignored);
    Built built{.errors = read_link_errors(linked.output)};
    built.gave_up = trouble_of(linked, is_in_program(built.errors));
    if (built.errors.empty()) built.errors.push_back({.message = bounded(linked.output, longest_message)});
    return built;
  }
  fs::permissions(unfinished, fs::perms(0755), ignored);
  fs::rename(unfinished, folder / kept_program, ignored);
  return {.program = folder / kept_program};
}

Command Compiler::compile_command(const fs::path& text, const fs::path& object) const {
  Command compile{.environment = {{"LC_ALL", "C"}, {"CCACHE_DISABLE", "1"}}, .folder = compile_.folder};
  for (std::size_t i = 0; i < compile_.arguments.size(); ++i) {
    const std::string& argument = compile_.arguments[i];
    if (argument == "-o" || argument == "-c" || argument == "-MT" || argument == "-MF" || argument == "-MQ")
      ++i;
    else if (argument != "-MD" && argument != "-MMD" && !argument.starts_with("-W"))
      compile.arguments.push_back(argument);
  }
  for (const char* argument : {"-Werror=return-type", "-fmax-errors=0", "-fno-diagnostics-show-caret",
                               "-fdiagnostics-color=never", "-ftabstop=1", "-c"})
    compile.arguments.push_back(argument);
  compile.arguments.insert(compile.arguments.end(), {text.string(), "-o", object.string()});
  return compile;
}

Command Compiler::link_command(const fs::path& object, const fs::path& program) const {
  Command link{.environment = {{"LC_ALL", "C"}}, .folder = link_.folder};
  bool object_is_named = false;
  for (std::size_t i = 0; i < link_.arguments.size(); ++i) {
    const std::string& argument = link_.arguments[i];
    if (argument == "-o") {
      link.arguments.insert(link.arguments.end(), {"-o", program.string()});
      ++i;
    } else if (!argument.ends_with(".o")) {
      link.arguments.push_back(argument);
    } else if (!object_is_named) {
      link.arguments.push_back(object.string());
      object_is_named = true;
    }
  }
  return link;
}

}  // namespace odori::grader
