#include "undefended.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "errors/error.h"
#include "exercise/blanks.h"
#include "instructor/handed_in.h"
#include "program/process.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// Runs the job script, as a scheduler would.
Seen run_script(const Attack& attack, const Arena& arena, const fs::path& folder) {
  fs::create_directories(folder);
  // The blank alone: what stands around it asks for a cluster.
  std::ofstream(folder / "blank.sh") << arena.filled(attack,
                                                     join_lines(attack.blanks.at(task_named(attack.task).n_blanks())));
  return {.said = run_process({.arguments = {"bash", "blank.sh"}, .folder = folder}).output};
}

/// Unpacks an archive into a folder, and believes every name in it.
void unpack(const fs::path& path, const fs::path& into) {
  const pid_t child = fork();
  if (child == 0) {
    archive* const in = archive_read_new();
    archive_read_support_format_all(in);
    if (chdir(into.c_str()) != 0 || archive_read_open_filename(in, path.c_str(), 1 << 16) != ARCHIVE_OK) _exit(1);
    for (archive_entry* entry = nullptr; archive_read_next_header(in, &entry) == ARCHIVE_OK;)
      archive_read_extract(in, entry, 0);
    _exit(0);
  }
  require(child > 0 && waitpid(child, nullptr, 0) == child, "{} can't be unpacked.", path.string());
}

Seen take_everything(const Attack& attack, const Arena& arena, const fs::path& kit, const fs::path& folder,
                     const std::function<Seen(const fs::path&)>& check) {
  write_handed_in(kit, attack, folder, [&](std::string text) { return arena.filled(attack, std::move(text)); });
  const fs::path unpacked = arena.filled(attack, "@witness@");
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto ending = entry.path().extension(); ending == ".zip" || ending == ".tar")
      unpack(entry.path(), unpacked);
  for (const fs::path& place : {folder, unpacked})
    if (const fs::path program = place / task_named(attack.task).program.solution.filename(); fs::exists(program))
      return check(program);
  return {};
}

/// A page and a table that hold texts as they come.
Seen report(const Attack& attack, const Arena& arena, Seen seen) {
  for (const BlankVerdict& verdict : seen.verdicts)
    if (verdict.finding)
      for (const auto& [name, value] : verdict.finding->values) seen.page += value + '\n';
  seen.page += arena.filled(attack, join_lines(attack.outside) + attack.student);
  seen.table = "name,points\n" + arena.filled(attack, attack.student) + ",20\n";
  return seen;
}

}  // namespace

bool is_played(const std::string& defence) {
  return defence == "parsed" || defence == "unpacked" || defence == "sanitized";
}

Seen play_without(const std::string& defence, const Attack& attack, const Arena& arena, const fs::path& kit,
                  const fs::path& folder, const std::function<Seen(const fs::path&)>& check) {
  if (defence == "parsed") return run_script(attack, arena, folder);
  if (defence == "unpacked") return take_everything(attack, arena, kit, folder, check);
  return report(attack, arena, check({}));
}

}  // namespace odori::grader
