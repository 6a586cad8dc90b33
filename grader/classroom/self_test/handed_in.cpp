// SPDX-License-Identifier: Apache-2.0
#include "classroom/self_test/handed_in.h"

#include <fstream>
#include <sstream>

#include "blanks/cutter.h"
#include "blanks/task.h"
#include "classroom/marking/archive_writer.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

void write_archive(const fs::path& path, const std::map<std::string, std::string>& texts) {
  using Format = ArchiveWriter::Format;
  ArchiveWriter archive(path, path.extension() == ".zip" ? Format::zip : Format::tar);
  for (const auto& [name, text] : texts) archive.add(name, text);
  archive.close();
}

std::string program_of(const fs::path& kit, const AnswerEntry& entry) {
  std::string program = filled_exercise(kit / task_named(entry.task).program.solution, entry.blanks);
  const auto outside = entry.texts.find("outside");
  if (outside == entry.texts.end()) return program;
  return program.insert(program.find("int main("), join_lines(outside->second) + '\n');
}

}  // namespace

void write_handed_in(const fs::path& kit, const AnswerEntry& entry, const fs::path& folder) {
  const Task& task = task_named(entry.task);
  std::vector<std::string> list{"program " + task.program.exercise.filename().string()};
  if (task.script) list.push_back("script " + task.script->exercise.filename().string());
  if (const auto own = entry.texts.find("handed in"); own != entry.texts.end()) list = own->second;
  fs::create_directories(folder);
  std::string archive;
  std::map<std::string, std::string> texts;
  for (const std::string& each : list) {
    std::istringstream line(each);
    std::string what, path, rest;
    line >> what >> path;
    std::getline(line >> std::ws, rest);
    if (what == "archive")
      archive = path;
    else if (what == "program")
      texts[path] = program_of(kit, entry);
    else if (what == "script")
      texts[path] = filled_exercise(kit / task.script->solution, entry.blanks);
    else if (what == "text")
      texts[path] = rest + '\n';
    else if (what == "link")
      fs::create_symlink(kit / rest, folder / path);
    else
      fail("{}: nothing is called \"{}\".", entry.title(), what);
  }
  if (!archive.empty()) return write_archive(folder / archive, texts);
  for (const auto& [path, text] : texts) {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path, std::ios::binary) << text;
  }
}

}  // namespace odori::grader
