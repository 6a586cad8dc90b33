#include "classroom/self_test/corpus.h"

#include "blanks/task.h"
#include "errors/error.h"

namespace odori::grader {

std::string CorpusEntry::title() const { return fmt::format("{}/{}:{}: {}", task, file, line, name); }

std::vector<CorpusEntry> read_corpus(const std::filesystem::path& kit) {
  std::vector<CorpusEntry> all;
  for (const Task& task : all_tasks())
    for (AnswerEntry& entry : read_answer_files(kit / "grader" / "exercises" / task.folder / "corpus")) {
      CorpusEntry& answer = all.emplace_back(
          CorpusEntry{task.name, entry.file, entry.name, entry.line, entry.expected, std::move(entry.blanks), {}});
      require(entry.texts.empty(), "{}: the corpus holds texts of blanks alone.", answer.title());
      for (const auto& [name, value] : entry.facts) {
        require(name == "en" || name == "ja", "{}: the corpus has no lines \"- {}: ...\".", answer.title(), name);
        answer.words[name].push_back(value);
      }
    }
  return all;
}

}  // namespace odori::grader
