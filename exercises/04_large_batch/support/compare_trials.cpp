// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "large_batch_support.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/machine.h"
#include "report/table.h"
#include "train/trainer.h"

namespace odori {
namespace {

constexpr const char* schedules[] = {"fixed", "scaled", "warm_up"};
const std::map<std::string, Text> in_words{{"fixed", {"fixed rate", "固定の学習率"}},
                                           {"scaled", {"scaled rate", "スケーリングした学習率"}},
                                           {"warm_up", {"scaled rate, with warm-up", "スケーリングとウォームアップ"}}};

/// Accuracies in percent by batch.
using ByBatch = std::map<int, double>;

Curve curve_of(const std::string& name, const std::vector<double>& batches, const ByBatch& accuracies, bool measured) {
  Curve curve{.name = name, .values = {}, .measured = measured};
  for (const double batch : batches) {
    const auto found = accuracies.find(static_cast<int>(batch));
    // The axis is logarithmic.
    const bool can_be_drawn = found != accuracies.end() && found->second > 0;
    curve.values.push_back(can_be_drawn ? std::optional(found->second) : std::nullopt);
  }
  return curve;
}

/// The stored results of solutions/04_large_batch/sweep.py: medians over its seeds by schedule, and how they were
/// trained.
struct Stored {
  std::map<std::string, ByBatch> accuracies;
  std::string about;
};
Stored read_stored() {
  try {
    Stored stored;
    const std::filesystem::path folder(ODORI_SOLUTIONS_FOLDER);
    const auto json = parse_json(read_file(folder / "04_large_batch" / "measured.json"));
    stored.about = json.at("about").get<std::string>();
    for (const auto& point : json.at("points"))
      stored.accuracies[point.at("schedule").get<std::string>()][point.at("batch").get<int>()] =
          100 * point.at("accuracy").at("median").get<double>();
    return stored;
  } catch (const nlohmann::json::exception&) {
    return {};  // the figure shows these training runs alone
  }
}

/// Lines are stored results, marks are these training runs.
Figure figure_of(const std::vector<Trial>& trials, const Stored& stored) {
  std::map<std::string, ByBatch> now;
  std::set<double> batches;
  for (const Trial& trial : trials) now[trial.schedule][trial.batch] = 100 * trial.held_out_accuracy;
  const auto add_batches = [&batches](const std::map<std::string, ByBatch>& accuracies) {
    for (const auto& [schedule, by_batch] : accuracies)
      for (const auto& [batch, accuracy] : by_batch) batches.insert(batch);
  };
  add_batches(now), add_batches(stored.accuracies);
  const std::string lines =
      stored.about.empty() ? "" : in_language({"Lines: {}", "線: キットに記録された結果。"}, stored.about);
  Figure figure{.title = in_language(Text{"Accuracy by batch, after the same number of epochs",
                                          "同じエポック数の学習後の、バッチごとの正解率"}),
                .text = in_language({"Marks: your training runs. {}", "印: あなたの学習。{}"}, lines),
                .x_name = in_language(Text{"images of an update", "1 更新の枚数"}),
                .y_name = in_language(Text{"held-out accuracy, %", "検証データの正解率（%）"}),
                .x = {batches.begin(), batches.end()},
                .curves = {}};
  for (const char* schedule : schedules)
    if (stored.accuracies.contains(schedule))
      figure.curves.push_back(
          curve_of(in_language(in_words.at(schedule)), figure.x, stored.accuracies.at(schedule), false));
  for (const char* schedule : schedules)
    if (now.contains(schedule))
      figure.curves.push_back(curve_of(in_language({"yours: {}", "あなた: {}"}, in_language(in_words.at(schedule))),
                                       figure.x, now.at(schedule), true));
  return figure;
}

/// Includes the machine: sweep.py collects the results.
nlohmann::json to_json(const std::vector<Trial>& trials) {
  nlohmann::json list = nlohmann::json::array();
  for (const Trial& trial : trials) {
    nlohmann::json epochs = nlohmann::json::array();
    for (const Trial::Epoch& epoch : trial.epochs)
      epochs.push_back({{"seconds", epoch.seconds}, {"held_out_accuracy", epoch.held_out_accuracy}});
    list.push_back({{"schedule", trial.schedule},
                    {"batch", trial.batch},
                    {"images_per_second", trial.images_per_second},
                    {"training_loss", trial.training_loss},
                    {"held_out_accuracy", trial.held_out_accuracy},
                    {"epochs", epochs}});
  }
  return {{"machine", this_machine()}, {"date", now()}, {"trials", list}};
}

std::string seconds(double value) { return value < 0 ? "-" : fmt::format("{:.1f}", value); }

void print(const std::vector<Trial>& trials, const std::vector<Trial>& chosen) {
  double target = 0;
  for (const Trial& trial : trials) target = std::max(target, 0.9 * trial.held_out_accuracy);
  std::vector<TableRow> rows;
  for (const Trial& trial : trials) {
    const bool is_chosen = std::any_of(chosen.begin(), chosen.end(), [&](const Trial& one) {
      return one.batch == trial.batch && one.schedule == trial.schedule;
    });
    rows.push_back({std::to_string(trial.batch), in_language(in_words.at(trial.schedule)),
                    fmt::format("{:.0f}", trial.images_per_second), fmt::format("{:.3f}", trial.training_loss),
                    fmt::format("{:.1f} %", 100 * trial.held_out_accuracy), seconds(trial.seconds_to(target)),
                    is_chosen ? in_language(Text{"chosen", "選択"}) : ""});
  }
  const TableRow english{"batch",
                         "learning rate",
                         "images/s",
                         "training loss",
                         "held-out accuracy",
                         fmt::format("seconds to {:.1f} %", 100 * target),
                         ""},
      japanese{"バッチ",
               "学習率",
               "枚/秒",
               "学習の損失",
               "検証データの正解率",
               fmt::format("{:.1f} % までの秒数", 100 * target),
               ""};
  fmt::print("{}", text_table(language() == "ja" ? japanese : english, rows));
}

/// With warm-up, no update would have the scaled rate.
void warn_of_long_warm_up(const TrialOptions& options) {
  const bool warms_up = options.only.empty() || options.only == "warm_up";
  if (!warms_up || options.warmup_epochs <= options.epochs) return;
  fmt::print(
      "{}\n",
      in_language({"--warmup-epochs {} is more than --epoch {}: with warm-up, no update has the scaled "
                   "rate. Train for longer, or warm up in fewer epochs.",
                   "--warmup-epochs {} が --epoch {} より大きいため、学習率が目標値に達しません。エポックを増やすか、"
                   "--warmup-epochs を減らしてください。"},
                  options.warmup_epochs, options.epochs));
}

}  // namespace

double Trial::seconds_to(double accuracy) const {
  for (const Epoch& epoch : epochs)
    if (epoch.held_out_accuracy >= accuracy) return epoch.seconds;
  return -1;
}

void TrialReport::run(Trainer& trainer) {
  const auto& seen = trainer.observation();
  trial_->training_loss = seen.at("main/loss");
  trial_->held_out_accuracy = seen.at("validation/main/accuracy");
  const double elapsed = trainer.elapsed_time();
  trial_->images_per_second = static_cast<double>(trainer.updater().iteration()) * trial_->batch / elapsed;
  trial_->epochs.push_back({elapsed, trial_->held_out_accuracy});
}

void compare_trials(const std::function<Trial(const std::string& schedule, int m)>& train, const LargeBatchRules& rules,
                    const TrialOptions& options, const Communicator& comm) {
  const auto& [largest, only, warmup_epochs, epochs, out] = options;
  const bool all = only.empty();
  if (comm.rank() == 0) warn_of_long_warm_up(options);
  std::size_t n_trials = all ? 0 : 1;
  for (int m = 1; m <= largest && all; m *= 4) n_trials += std::size(schedules);
  std::vector<Trial> trials, chosen;
  for (int m = all ? 1 : largest; m <= largest; m *= 4) {
    std::vector<Trial> of_batch;
    for (const char* schedule : schedules) {
      if (!all && only != schedule) continue;
      if (comm.rank() == 0) {
        fmt::print("{}\n", in_language({"Training {} of {}: {}, {} batch{} of each rank an update ...",
                                        "学習 {0} / {1}: {2}、1 更新あたり各ランク {3} バッチ …"},
                                       trials.size() + of_batch.size() + 1, n_trials,
                                       in_language(in_words.at(schedule)), m, m == 1 ? "" : "es"));
        std::fflush(stdout);
      }
      of_batch.push_back(train(schedule, m));
    }
    if (of_batch.empty())
      throw UsageError(in_language({"--only takes fixed, scaled or warm_up, not \"{}\".",
                                    "--only に指定できるのは fixed、scaled、warm_up です（\"{}\" は使えません）。"},
                                   only));
    if (all) chosen.push_back(rules.choose(of_batch));
    trials.insert(trials.end(), of_batch.begin(), of_batch.end());
  }
  if (comm.rank() != 0) return;
  print(trials, chosen);
  replace_file(out + "/trials.json", json_text(to_json(trials), 1) + "\n");
  const std::string page = out + "/figure.html";
  replace_file(page, to_page(figure_of(trials, read_stored()), language(), read_chart_js()));
  fmt::print("\n{}\n", in_language({"As a picture: {}", "図: {}"}, page));
}

}  // namespace odori
