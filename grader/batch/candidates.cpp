#include "batch/candidates.h"

#include <algorithm>

#include "batch/content.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_bytes = 1 << 16;  // ten times an exercise's
constexpr std::size_t most_files = 100;      // of one name

std::vector<Wanted> all_wanted() {
  std::vector<Wanted> all;
  for (const Task& task : all_tasks()) {
    all.push_back({task.name, task.program.filename(), "exercises/" + task.program.string(), false});
    all.push_back({task.name, task.script.filename(), "jobscripts/" + task.script.string(), true});
  }
  return all;
}

/// Below a folder of the kit that holds no answers of a learner's: the kit's own, what was built, what is kept.
bool is_of_the_kit(const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end() - 1, [](const std::string& folder) {
    return folder == "solutions" || folder == "out" || folder.starts_with("build") || folder == "__MACOSX";
  });
}

/// Nothing if it can't be read, or is too large.
std::optional<std::string> read_text(const Entry& entry) {
  std::string text;
  const bool well = entry.read([&](std::string_view piece) {
    text += piece;
    return text.size() <= most_bytes;
  });
  return well && text.size() <= most_bytes ? std::optional(text) : std::nullopt;
}

}  // namespace

const Wanted* wanted_named(const std::string& name) {
  static const std::vector<Wanted> all = all_wanted();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Wanted& wanted) { return wanted.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool Candidates::Rank::is_better_than(const Rank& other) const {
  if (as_in_the_kit != other.as_in_the_kit) return as_in_the_kit;
  if (n_folders != other.n_folders) return n_folders < other.n_folders;
  return modified >= other.modified;  // of the same time, the later in an archive, as unpacking would leave it
}

void Candidates::consider(const Wanted& wanted, const std::vector<std::string>& parts, const Entry& entry) {
  if (is_of_the_kit(parts) || n_files_ >= most_files) return;
  name_ = wanted.name;
  std::string path;
  for (const std::string& part : parts) path.append(path.empty() ? "" : "/").append(part);
  const auto leave_out = [&](const char* key) { left_out_.push_back({key, {{"file", path}}}); };
  if (entry.kind == Entry::Kind::link) return leave_out("flag_link");
  if (entry.kind != Entry::Kind::file) return leave_out("flag_no_file");
  ++n_files_;
  const auto text = read_text(entry);
  if (!text) return leave_out(entry.bytes > most_bytes ? "flag_too_large" : "flag_unreadable");
  texts_.insert(sha256(*text));
  const Rank rank{("/" + path).ends_with("/" + wanted.kits_path), parts.size(), entry.modified};
  if (!taken_ || rank.is_better_than(taken_->rank)) taken_ = {rank, path, *text};
}

std::optional<std::string> Candidates::text() const { return taken_ ? std::optional(taken_->text) : std::nullopt; }

std::vector<Finding> Candidates::flags() const {
  std::vector<Finding> flags = left_out_;
  if (flags.size() > 3) flags.resize(3);
  if (texts_.size() > 1)
    flags.push_back(
        {"flag_several_files", {{"file", name_}, {"n", std::to_string(texts_.size())}, {"taken", taken_->path}}});
  return flags;
}

}  // namespace odori::grader
