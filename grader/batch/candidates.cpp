#include "batch/candidates.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "batch/content.h"
#include "errors/text.h"
#include "exercise/lexer.h"
#include "exercise/utf8.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_bytes_of_candidate = 1 << 16;  // ten times an exercise's
constexpr std::size_t most_files = 100;                   // of one name

const std::vector<Wanted>& all_wanted() {
  static const std::vector<Wanted> wanted = [] {
    std::vector<Wanted> all;
    for (const Task& task : all_tasks())
      for (const ExerciseFile& file : task.files()) all.push_back({task.name, file.exercise.filename(), file.exercise});
    return all;
  }();
  return wanted;
}

/// "", " (1)", "(1)", "-2", "_1", " 3", and " - Copy", " copy 2", " - コピー (2)", "のコピー", as desktops call copies.
bool is_of_a_copy(std::string_view text) {
  // macOS stores ピ as two characters.
  for (const std::string_view japanese : {"コピー", "コヒ\u309Aー"})
    for (const std::string_view before : {" - ", "の", " の"})
      if (text.starts_with(before) && text.substr(before.size()).starts_with(japanese))
        return is_of_a_copy(text.substr(before.size() + japanese.size()));
  for (const std::string_view english : {" - Copy", " copy"})
    if (text.starts_with(english)) return is_of_a_copy(text.substr(english.size()));
  if (text.empty()) return true;
  const std::size_t first = text.find_first_not_of(" _-(");
  const std::size_t end = text.ends_with(')') ? text.size() - 1 : text.size();
  return first > 0 && first < end && end - first <= 3 && text.find_first_not_of("0123456789", first) >= end;
}

bool is_prefix(std::string_view text) {
  return text.empty() ||
         (!text.starts_with('.') && std::string_view("_- ").find(text.back()) != std::string_view::npos);
}

/// Nothing if it can't be read, or is too large.
std::optional<std::string> read_text(const Entry& entry) {
  std::string text;
  const bool well = entry.read([&](std::string_view piece) {
    text += piece;
    return text.size() <= most_bytes_of_candidate;
  });
  if (!well || text.size() > most_bytes_of_candidate) return {};
  // As some editors on Windows save it.
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    if (auto converted = to_utf8(text, "UTF-16")) return converted;
  return text;
}

}  // namespace

Named wanted_named(const std::string& name) {
  for (const Wanted& wanted : all_wanted()) {
    const auto dot = wanted.name.rfind('.');
    const std::string stem = wanted.name.substr(0, dot), suffix = wanted.name.substr(dot);
    const auto at = name.rfind(stem);
    if (at == std::string::npos || !name.ends_with(suffix)) continue;
    const std::string prefix = name.substr(0, at);
    const auto after = at + stem.size();
    if (is_prefix(prefix) && is_of_a_copy(name.substr(after, name.size() - suffix.size() - after)))
      return {&wanted, name == wanted.name ? Named::How::exactly : Named::How::as_a_copy, prefix};
  }
  return {};
}

Named nearly_named(const std::string& name) {
  static const std::vector<const char*> programs{".cpp", ".cc", ".cxx", ".cu"}, scripts{".sh", ".bash"};
  std::string plain = lower(name);
  std::ranges::replace(plain, '-', '_');
  std::ranges::replace(plain, ' ', '_');
  if (plain.ends_with(".txt")) plain.resize(plain.size() - 4);
  for (const Wanted& wanted : all_wanted()) {
    const auto dot = wanted.name.rfind('.');
    const std::string stem = wanted.name.substr(0, dot);
    const auto& suffixes = wanted.name.ends_with(".sh") ? scripts : programs;
    const auto at = plain.rfind(stem), behind = at + stem.size();
    const auto is_suffix = [&](const char* suffix) { return plain.ends_with(suffix); };
    if (at == std::string::npos || std::ranges::none_of(suffixes, is_suffix)) continue;
    const bool is_word = !is_letter(plain[behind]) || plain[behind] == '_';
    if (is_word && is_prefix(name.substr(0, at))) return {&wanted, Named::How::nearly, name.substr(0, at)};
  }
  return {};
}

std::optional<std::string> copied_name(const std::string& name) {
  for (std::size_t at = 1; at < name.size(); ++at)
    if (is_of_a_copy(std::string_view(name).substr(at))) return name.substr(0, at);
  return {};
}

bool is_kits_folder_of_answers(const std::string& name) {
  const auto& tasks = all_tasks();
  return name == "exercises" || name == "jobscripts" ||
         std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) { return name == task.folder; });
}

bool is_kits_folder_without_answers(const std::string& name) {
  return name == "solutions" || name == "out" || name.starts_with("build") || name == "__MACOSX";
}

std::optional<std::string> owner_of_loose(const std::string& name) {
  std::string owner = name.substr(0, name.find("_assignsubmission_file_"));
  if (owner == name) owner = wanted_named(name).prefix;
  owner.resize(owner.find_last_not_of("_- ") + 1);
  return owner.empty() ? std::nullopt : std::optional(owner);
}

bool Candidates::Rank::is_better_than(const Rank& other) const {
  if (named != other.named) return named > other.named;
  if (as_in_the_kit != other.as_in_the_kit) return as_in_the_kit;
  if (n_folders != other.n_folders) return n_folders < other.n_folders;
  return modified >= other.modified;  // of the same time, the later in an archive, as unpacking would leave it
}

bool Candidates::consider(const Named& named, const std::vector<std::string>& parts, const Entry& entry) {
  if (std::any_of(parts.begin(), parts.end() - 1, is_kits_folder_without_answers)) return false;
  if (n_files_ >= most_files) return true;
  name_ = named.wanted->name;
  std::string folders;
  for (const std::string& part : std::span(parts).first(parts.size() - 1)) folders += part + '/';
  const std::string path = folders + parts.back();
  const auto leave_out = [&](const char* key) { left_out_.push_back({key, {{"file", path}}}); };
  if (entry.kind == Entry::Kind::file) {
    ++n_files_;
    if (const auto text = read_text(entry)) {
      texts_.insert(sha256(*text));
      const Rank rank{named.how, ("/" + folders + name_).ends_with("/" + named.wanted->kits_path), parts.size(),
                      entry.modified};
      if (!taken_ || rank.is_better_than(taken_->rank)) taken_ = {rank, path, *text};
    } else {
      leave_out(entry.bytes > most_bytes_of_candidate ? "flag_too_large" : "flag_unreadable");
    }
  } else {
    leave_out(entry.kind == Entry::Kind::link ? "flag_link" : "flag_no_file");
  }
  return true;
}

std::optional<std::string> Candidates::text() const { return taken_ ? std::optional(taken_->text) : std::nullopt; }

std::vector<Finding> Candidates::flags() const {
  std::vector<Finding> flags = left_out_;
  if (flags.size() > 3) flags.resize(3);
  if (taken_ && taken_->rank.named == Named::How::nearly)
    flags.push_back({"flag_renamed", {{"file", name_}, {"taken", taken_->path}}});
  if (texts_.size() > 1)
    flags.push_back(
        {"flag_several_files", {{"file", name_}, {"n", std::to_string(texts_.size())}, {"taken", taken_->path}}});
  return flags;
}

}  // namespace odori::grader
