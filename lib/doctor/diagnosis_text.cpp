// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "doctor/diagnosis.h"

namespace odori::doctor {
namespace {

/// In the order of Level.
constexpr std::array names{"good", "note", "slow", "broken"};
constexpr std::array marks{"[ good ]", "[ note ]", "[ slow ]", "[BROKEN]"};
constexpr std::array marks_in_japanese{"[ 良好 ]", "[ 参考 ]", "[ 低速 ]", "[要対処]"};

std::size_t place_of(Level level) { return static_cast<std::size_t>(level); }

/// What a finding that is broken keeps from working, and in a word why.
struct Missing {
  bool task_1 = false, task_2 = false;  // else only the GPUs
  Text what;
};

Missing missing_of(const Diagnosis& finding) {
  if (finding.check == "disk") return {true, true, {"free disk space", "ディスクの空き容量"}};
  if (finding.check == "mpi") return {false, true, {"an mpirun that works", "使える mpirun"}};
  if (finding.check == "gpu_copies") return {false, false, {"copies between GPUs", "GPU 間のコピー"}};
  if (finding.check == "nccl") return {false, false, {"NCCL between two ranks", "2 ランク間の NCCL 通信"}};
  if (finding.check == "driver")
    return {false, false, {"a GPU driver that is new enough", "十分に新しい GPU ドライバ"}};
  return {false, false, {"GPUs that the kit can use", "キットから使える GPU"}};
}

}  // namespace

Readiness readiness_of(const std::vector<Diagnosis>& findings) {
  Readiness ready;
  Text missing;
  bool slow = false;
  for (const Diagnosis& finding : findings) {
    slow = slow || finding.level == Level::slow;
    if (finding.level != Level::broken) continue;
    const Missing one = missing_of(finding);
    ready.task_1 = ready.task_1 && !one.task_1;
    ready.task_2 = ready.task_2 && !one.task_2;
    missing.english += (missing.english.empty() ? "" : ", ") + one.what.english;
    missing.japanese += (missing.japanese.empty() ? "" : "、") + one.what.japanese;
  }
  const auto sentence = [&](const char* english, const char* japanese) {
    ready.sentence = {fmt::format(fmt::runtime(english), missing.english),
                      fmt::format(fmt::runtime(japanese), missing.japanese)};
  };
  if (!ready.task_1 && !ready.task_2)
    sentence("This machine is not ready for the tasks. Missing: {}.",
             "このマシンではまだタスクを始められません。足りないもの: {}");
  else if (!ready.task_2)
    sentence("This machine is ready for task 1, but not for task 2. Missing: {}.",
             "このマシンはタスク 1 の準備ができていますが、タスク 2 の準備はできていません。足りないもの: {}");
  else if (!missing.english.empty())
    sentence("This machine is ready for all tasks on CPU devices, but not on its GPUs. Missing: {}.",
             "このマシンは CPU デバイスならすべてのタスクの準備ができていますが、GPU "
             "では準備ができていません。足りないもの: {}");
  else if (slow)
    sentence("This machine is ready for all tasks; what is marked [ slow ] keeps it from being as fast as it could.",
             "このマシンはすべてのタスクの準備ができています。ただし [ 低速 ] の項目のぶん遅くなります。");
  else
    sentence("This machine is ready for all tasks.", "このマシンはすべてのタスクの準備ができています。");
  return ready;
}

std::string to_text(const std::vector<Diagnosis>& findings, const std::string& language) {
  std::string text;
  for (const Diagnosis& finding : findings) {
    text += fmt::format("{} {}\n", (language == "ja" ? marks_in_japanese : marks)[place_of(finding.level)],
                        finding.what.in(language));
    if (!finding.remedy.english.empty()) text += fmt::format("         -> {}\n", finding.remedy.in(language));
  }
  return text + '\n' + readiness_of(findings).sentence.in(language) + '\n';
}

nlohmann::json to_json(const std::vector<Diagnosis>& findings, const std::string& language) {
  nlohmann::json list = nlohmann::json::array();
  for (const Diagnosis& finding : findings)
    list.push_back({{"check", finding.check},
                    {"level", names[place_of(finding.level)]},
                    {"text", finding.what.in(language)},
                    {"remedy", finding.remedy.in(language)}});
  const Readiness ready = readiness_of(findings);
  return {{"works", works(findings)},
          {"ready", {{"task_1", ready.task_1}, {"task_2", ready.task_2}, {"text", ready.sentence.in(language)}}},
          {"findings", list}};
}

bool works(const std::vector<Diagnosis>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Diagnosis& f) { return f.level == Level::broken; });
}

}  // namespace odori::doctor
