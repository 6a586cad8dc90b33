// SPDX-License-Identifier: Apache-2.0
#include "runner/build.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <fstream>
#include <regex>

#include "blanks/blanks.h"
#include "blanks/lexer.h"
#include "blanks/utf8.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

// How much it may compute, whatever else this machine does, and how long it may wait for its turn.
constexpr std::chrono::seconds longest_computation{40}, longest_wait{300};
constexpr std::size_t kept_builds = 24;
// Of a build, in a folder of its own: what was built and how, and what came of it.
constexpr const char *kept_content = "content", *kept_program = "program", *kept_errors = "errors";
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
  static const std::regex place(
      "(?:(kit)|blank_([1-9][0-9]{0,3})|[^: \t]+):([0-9]{1,9})(?::([0-9]{1,9}))?: *"
      "(?:(?:fatal )?(error|warning|note): )?");
  constexpr std::size_t longest_place = 1000;
  std::vector<CompileError> errors;
  bool is_of_error = false;           // what comes now: not of a warning
  std::optional<CompileError> asked;  // where a header's template was asked for: "blank_3:2:60:   required from here"
  for (const std::string& line : split_lines(with_characters(output))) {
    std::cmatch match;
    const char* const begin = line.data();
    if (!std::regex_search(begin, begin + std::min(line.size(), longest_place), match, place,
                           std::regex_constants::match_continuous))
      continue;
    const auto number = [&](std::size_t group) { return match[group].matched ? std::stoi(match[group]) : 0; };
    const CompileError here{
        .blank = number(2), .line = number(3), .column = number(4), .in_program = match[1].matched || match[2].matched};
    const std::string kind = match[5], rest = line.substr(static_cast<std::size_t>(match.length()));
    if (kind == "error") {
      errors.push_back(!here.in_program && asked ? *asked : here);
      errors.back().message = bounded(rest, longest_message);
      asked.reset();
      is_of_error = true;
    } else if (kind == "warning") {
      is_of_error = false;
    } else if (kind == "note") {
      if (is_of_error && errors.back().notes.size() < most_notes)
        errors.back().notes.append(rest.substr(0, most_notes) + '\n');
    } else if (here.in_program && rest.find("required from") != std::string::npos) {
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

Compiler::Compiler(fs::path build, fs::path outputs, const Sandbox* sandbox, const fs::path& support)
    : build_(std::move(build)), outputs_(std::move(outputs)), sandbox_(sandbox) {
  compile_ = recorded("compile.command");
  if (std::error_code missing; fs::exists(support, missing))
    compile_.arguments.push_back("-I" + fs::absolute(support).string());
  link_ = recorded("link.command");
  key_ = read_file(build_ / "grader" / "compile.command") + read_file(build_ / "grader" / "link.command") +
         support.string() + '\n';
  for (const std::string& argument : link_.arguments) {  // the library, and whatever else is linked
    std::error_code missing;
    const fs::path path = link_.folder / argument;
    if (!argument.ends_with(".o") && fs::is_regular_file(path, missing))
      key_ += fmt::format("{} {}\n", argument, fs::last_write_time(path).time_since_epoch().count());
  }
}

Command Compiler::recorded(const char* name) const {
  constexpr std::array with_value{"-o", "-c", "-MT", "-MF", "-MQ"};
  std::vector<std::string> lines = split_lines(read_file(build_ / "grader" / name));
  if (lines.size() < 2) throw EnvironmentFault({"not_built", {{"folder", build_.string()}}});
  Command command{.environment = {{"LC_ALL", "C"}, {"CCACHE_DISABLE", "1"}}, .folder = lines[0]};
  const auto launcher = fs::path(lines[1]).filename();
  for (std::size_t i = launcher == "ccache" || launcher == "sccache" ? 2 : 1; i < lines.size(); ++i) {
    const std::string& argument = lines[i];
    const bool warns = argument.starts_with("-W") && !argument.starts_with("-Wl,");
    if (std::ranges::find(with_value, argument) != with_value.end())
      ++i;
    else if (argument != "-MD" && argument != "-MMD" && !warns && !argument.ends_with(".o"))
      command.arguments.push_back(argument);
  }
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
  static std::atomic<int> counter = 0;
  const fs::path folder = folder_of(source, options);
  std::error_code ignored;
  fs::last_write_time(folder, fs::file_time_type::clock::now(), ignored);  // forget_old_builds() of others keeps it
  if (!options.rebuild) {
    if (fs::exists(folder / kept_program)) return {.program = folder / kept_program};
    if (const std::string said = read_file(folder / kept_errors); !said.empty()) return {.errors = read_errors(said)};
  }
  forget_old_builds(outputs_);
  const fs::path unfinished = folder / fmt::format("{}_{}", getpid(), ++counter), text = unfinished.string() + ".cpp",
                 object = unfinished.string() + ".o";
  write_file(text, source);
  Command compile = compile_, link = link_;
  for (const char* argument : {"-Werror=return-type", "-fmax-errors=0", "-fno-diagnostics-show-caret",
                               "-fdiagnostics-color=never", "-ftabstop=1", "-c", text.c_str(), "-o", object.c_str()})
    compile.arguments.push_back(argument);
  link.arguments.insert(link.arguments.begin() + 1, {object.string(), "-o", unfinished.string()});
  const auto succeeded = [](const EndedInside& ended) { return ended.code == 0 && !ended.stopped; };
  EndedInside ended = translate(std::move(compile), text, object, options);
  fs::remove(text, ignored);
  const bool compiled = succeeded(ended);
  if (compiled) ended = translate(std::move(link), object, unfinished, options);
  fs::remove(object, ignored);
  if (succeeded(ended)) {
    fs::permissions(unfinished, fs::perms(0755), ignored);
    fs::rename(unfinished, folder / kept_program, ignored);
    return {.program = folder / kept_program};
  }
  fs::remove(unfinished, ignored);
  Built built{.errors = compiled ? read_link_errors(ended.output) : read_errors(ended.output)};
  // Its words decide nothing else: a source can make a compiler print anything (a static_assert's text).
  if (ended.broke)
    built.gave_up = ended.broke;
  else if (ended.stopped)
    built.gave_up = Finding{"compiler_gave_up", {}};
  else if (ended.code == 128 + SIGKILL)
    built.gave_up = Finding{"no_memory", {}};
  else if (std::ranges::none_of(built.errors, &CompileError::in_program))
    built.gave_up = Finding{"compiler_failed", {{"detail", bounded(end_of(ended.output), longest_message)}}};
  if (compiled && built.errors.empty()) built.errors.push_back({.message = bounded(ended.output, longest_message)});
  if (!compiled && !built.gave_up) {
    write_file(unfinished, ended.output);
    fs::rename(unfinished, folder / kept_errors, ignored);
  }
  return built;
}

}  // namespace odori::grader
