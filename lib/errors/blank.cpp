// SPDX-License-Identifier: Apache-2.0
#include "errors/blank.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "errors/error.h"

namespace odori {
namespace {

struct Question {
  int number = 0;
  std::string text;
};

/// The comment above a blank, read from the source: "// BLANK 3: question", going on in the comment lines
/// below it.
Question read_question(const std::string& path, int line) {
  std::ifstream source(path);
  std::vector<std::string> lines;
  for (std::string text; static_cast<int>(lines.size()) < line && std::getline(source, text);) lines.push_back(text);

  static const std::string marker = "// BLANK ";
  for (std::size_t i = lines.size(); i-- > 0;) {
    const auto at = lines[i].find(marker);
    if (at == std::string::npos) continue;
    Question question;
    const auto colon = lines[i].find(':', at);
    if (colon == std::string::npos) break;
    question.number = std::atoi(lines[i].c_str() + at + marker.size());
    question.text = lines[i].substr(colon + 2 <= lines[i].size() ? colon + 2 : lines[i].size());
    for (std::size_t next = i + 1; next < lines.size(); ++next) {
      const auto comment = lines[next].find("//");
      if (comment == std::string::npos || lines[next].find_first_not_of(' ') != comment) break;
      const auto word = lines[next].find_first_not_of("/ ", comment);
      if (word != std::string::npos) question.text += ' ' + lines[next].substr(word);
    }
    return question;
  }
  return {};
}

/// "ring" of "exercises/03_ring/all_reduce.cpp", the name that the driver and the grader use; of a copy elsewhere what
/// its file is called, "multi_gpu" of "train_cifar_multi_gpu.cpp".
std::string task_name(const std::filesystem::path& path) {
  const std::string folder = path.parent_path().filename().string(), prefix = "train_cifar_";
  const auto digits = folder.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string::npos && folder[digits] == '_') return folder.substr(digits + 1);
  const std::string name = path.stem().string();
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace

void stop_at_blank(const char* file, int line) {
  const Question question = read_question(file, line);
  const std::string number = question.number ? fmt::format(" {}", question.number) : "";
  const std::string blank = (question.number ? "blank" : "a blank") + number;
  const Text see_above{"see the comment above it", "空欄の上のコメントを見てください"};
  throw Error(in_language({"The program reached {0}, which isn't filled in yet.\n"
                           "  question: {2}\n"
                           "  where:    {3}:{4}\n"
                           "  a hint:   ./odori hint {5}{1}\n"
                           "Replace PUT_YOUR_CODE there by your own code, and run again.",
                           "プログラムが、まだ埋められていない{6}に達しました。\n"
                           "  問い:   {2}\n"
                           "  場所:   {3}:{4}\n"
                           "  ヒント: ./odori hint {5}{1}\n"
                           "そこにある PUT_YOUR_CODE を自分のコードに書き換えて、もう一度実行してください。"},
                          blank, number, question.text.empty() ? in_language(see_above) : question.text, file, line,
                          task_name(file), question.number ? fmt::format("空欄 {} ", question.number) : "空欄"),
              exit_code::unfilled);
}

}  // namespace odori
