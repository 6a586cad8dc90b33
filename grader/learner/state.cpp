// SPDX-License-Identifier: Apache-2.0
#include "learner/state.h"

#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "errors/error.h"
#include "files/file.h"

namespace odori::grader {
namespace {

constexpr const char* head = "# What ./odori remembers: verdicts and hints. Delete this file to begin anew.\n";

bool is_blank_of(const std::string& task, int blank) {
  for (const Task& known : all_tasks())
    if (known.name == task) return blank >= 0 && blank <= known.n_blanks();
  return false;
}

}  // namespace

std::string fingerprint(const std::vector<std::string>& lines) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : join_lines(lines)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

State::State(std::filesystem::path file) : file_(std::move(file)) {
  for (const std::string& line : split_lines(read_file(file_)))
    if (!line.empty() && line.front() != '#' && !read_line(line)) damaged_ = true;
  if (!damaged_) return;
  verdicts_.clear();
  hints_.clear();
  std::error_code no_matter;
  std::filesystem::rename(file_, file_.string() + ".damaged", no_matter);
}

bool State::read_line(const std::string& line) {
  std::istringstream fields(line);
  std::string kind, task;
  int blank = -1;
  if (!(fields >> kind >> task >> blank) || !is_blank_of(task, blank)) return false;
  if (kind == "hint") return bool(fields >> hints_[{task, blank}]);
  Remembered& seen = verdicts_[{task, blank}];
  return kind == "verdict" && fields >> seen.verdict >> seen.points >> seen.of >> seen.text;
}

std::optional<Remembered> State::verdict(const std::string& task, int blank) const {
  const auto found = verdicts_.find({task, blank});
  return found == verdicts_.end() ? std::nullopt : std::optional(found->second);
}

int State::hints(const std::string& task, int blank) const {
  const auto found = hints_.find({task, blank});
  return found == hints_.end() ? 0 : found->second;
}

void State::remember(const std::string& task, const BlankVerdict& verdict, const std::vector<std::string>& lines) {
  const bool not_asked = verdict.finding && verdict.finding->key == "speedup_not_asked";
  if (verdict.verdict == Verdict::environment || not_asked) return;
  if (verdict.verdict == Verdict::not_checked) {
    verdicts_.erase({task, verdict.blank});
    return;
  }
  verdicts_[{task, verdict.blank}] = {name_of(verdict.verdict), verdict.points, verdict.of, fingerprint(lines)};
}

void State::forget(const std::string& task, std::optional<int> blank) {
  std::erase_if(verdicts_, [&](const auto& entry) {
    return entry.first.first == task && (!blank || entry.first.second == *blank);
  });
}

void State::save() const {
  std::string text = head;
  for (const auto& [place, seen] : verdicts_)
    text += fmt::format("verdict {} {} {} {:g} {:g} {}\n", place.first, place.second, seen.verdict, seen.points,
                        seen.of, seen.text);
  for (const auto& [place, count] : hints_) text += fmt::format("hint {} {} {}\n", place.first, place.second, count);
  replace_file(file_, text);
}

std::filesystem::path state_file(const std::filesystem::path& kit) {
  const char* named = std::getenv("ODORI_STATE");
  return named != nullptr && *named != '\0' ? std::filesystem::path(named) : kit / ".odori_state";
}

}  // namespace odori::grader
