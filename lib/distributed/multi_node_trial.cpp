#include "distributed/multi_node_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "report/figure.h"
#include "report/machine.h"
#include "report/page.h"
#include "report/table.h"
#include "trace/evidence.h"
#include "train/trainer.h"

namespace odori {
namespace {

constexpr const char* schedules[] = {"fixed", "scaled", "warm_up"};
const std::map<std::string, std::string> in_words{
    {"fixed", "fixed rate"}, {"scaled", "scaled rate"}, {"warm_up", "scaled rate, with warm-up"}};

double number_or_nan(const std::string& text) { return number_of<double>(text).value_or(std::nan("")); }

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

/// What the sweep of solutions/ has stored: the medians of its seeds, by schedule, and what was trained how.
struct Stored {
  std::map<std::string, ByBatch> accuracies;
  std::string about;
};
Stored read_stored(const std::string& path) {
  try {
    Stored stored;
    const auto json = nlohmann::json::parse(read_file(std::filesystem::path(ODORI_SOLUTIONS_FOLDER) / path));
    stored.about = json.at("about").get<std::string>();
    for (const auto& point : json.at("points"))
      stored.accuracies[point.at("schedule").get<std::string>()][point.at("batch").get<int>()] =
          100 * point.at("accuracy").at("median").get<double>();
    return stored;
  } catch (const nlohmann::json::exception&) {
    return {};  // the diagram has this training's curves alone
  }
}

/// Lines are the stored trainings, marks are these.
Figure figure_of(const std::vector<Trial>& trials, const Stored& stored) {
  std::map<std::string, ByBatch> now;
  std::set<double> batches;
  for (const Trial& trial : trials) now[trial.schedule][trial.batch] = 100 * trial.held_out_accuracy;
  const auto add_batches = [&batches](const std::map<std::string, ByBatch>& accuracies) {
    for (const auto& [schedule, by_batch] : accuracies)
      for (const auto& [batch, accuracy] : by_batch) batches.insert(batch);
  };
  add_batches(now), add_batches(stored.accuracies);
  Figure figure{.title = "Accuracy by batch, after the same number of epochs",
                .text = "Marks: your training runs. " + (stored.about.empty() ? "" : "Lines: " + stored.about),
                .x_name = "images of an update",
                .y_name = "held-out accuracy, %",
                .x = {batches.begin(), batches.end()},
                .curves = {}};
  for (const char* schedule : schedules)
    if (stored.accuracies.contains(schedule))
      figure.curves.push_back(curve_of(in_words.at(schedule), figure.x, stored.accuracies.at(schedule), false));
  for (const char* schedule : schedules)
    if (now.contains(schedule))
      figure.curves.push_back(curve_of("yours: " + in_words.at(schedule), figure.x, now.at(schedule), true));
  return figure;
}

/// With the machine, for whoever gathers them.
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
    rows.push_back({std::to_string(trial.batch), in_words.at(trial.schedule),
                    fmt::format("{:.0f}", trial.images_per_second), fmt::format("{:.3f}", trial.training_loss),
                    fmt::format("{:.1f} %", 100 * trial.held_out_accuracy), seconds(trial.seconds_to(target)),
                    is_chosen ? "chosen" : ""});
  }
  fmt::print("{}", text_table({"batch", "learning rate", "images/s", "training loss", "held-out accuracy",
                               fmt::format("seconds to {:.1f} %", 100 * target), ""},
                              rows));
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

std::vector<std::vector<Trial>> recorded_trials(const std::string& text) {
  std::vector<std::vector<Trial>> of_batches;
  for (const std::string& of_batch : split(text, '+')) {
    std::vector<Trial>& trials = of_batches.emplace_back();
    for (const std::string& part : split(of_batch, ',')) {
      const std::vector<std::string> fields = split(part, ':');
      Trial& trial = trials.emplace_back();
      if (fields.size() == 4)
        trial = {.schedule = fields[0],
                 .images_per_second = number_or_nan(fields[1]),
                 .training_loss = number_or_nan(fields[2]),
                 .held_out_accuracy = number_or_nan(fields[3])};
      if (!in_words.contains(trial.schedule) || !std::isfinite(trial.images_per_second) ||
          !std::isfinite(trial.training_loss) || !std::isfinite(trial.held_out_accuracy))
        throw UsageError(fmt::format(
            "Recorded trainings are schedules (fixed, scaled or warm_up) with images a second, training loss and "
            "held-out accuracy, \"fixed:900:0.5:0.61,scaled:910:0.4:0.6\", with a + before those of the next batch, "
            "not \"{}\".",
            text));
    }
  }
  return of_batches;
}

void show_choices(const std::vector<std::vector<Trial>>& of_batches, const Choice& choose, const Communicator& comm) {
  for (const std::vector<Trial>& trials : of_batches) {
    const Trial chosen = choose(trials);
    const float numbers[] = {static_cast<float>(chosen.images_per_second), static_cast<float>(chosen.training_loss),
                             static_cast<float>(chosen.held_out_accuracy)};
    evidence::write(facts::Values{std::size(numbers)}, numbers);
    if (comm.rank() == 0) print(trials, {chosen});
  }
}

void tell_of_warm_up(int warmup_epochs, int epochs, const std::string& only, const Communicator& comm) {
  const bool warms_up = only.empty() || only == "warm_up";
  if (comm.rank() != 0 || !warms_up || warmup_epochs <= epochs) return;
  fmt::print(
      "--warmup_epochs {} is more than --epoch {}: with warm-up, no update has the scaled rate. Train for longer, or "
      "warm up in fewer epochs.\n",
      warmup_epochs, epochs);
}

void compare_trials(const std::function<Trial(const std::string& schedule, int m)>& train, const Choice& choose,
                    int largest, const std::string& only, const Communicator& comm, const std::string& out,
                    const std::string& stored) {
  std::size_t n_trials = only.empty() ? 0 : 1;
  for (int m = 1; m <= largest && only.empty(); m *= 4) n_trials += std::size(schedules);
  std::vector<Trial> trials, chosen;
  for (int m = only.empty() ? 1 : largest; m <= largest; m *= 4) {
    std::vector<Trial> of_batch;
    for (const char* schedule : schedules) {
      if (!only.empty() && only != schedule) continue;
      if (comm.rank() == 0) {
        fmt::print("Training {} of {}: {}, {} batch{} of each rank an update ...\n",
                   trials.size() + of_batch.size() + 1, n_trials, in_words.at(schedule), m, m == 1 ? "" : "es");
        std::fflush(stdout);
      }
      of_batch.push_back(train(schedule, m));
    }
    if (of_batch.empty()) throw UsageError(fmt::format("--only takes fixed, scaled or warm_up, not \"{}\".", only));
    if (only.empty()) chosen.push_back(choose(of_batch));
    trials.insert(trials.end(), of_batch.begin(), of_batch.end());
  }
  if (comm.rank() != 0) return;
  print(trials, chosen);
  replace_file(out + "/trials.json", to_json(trials).dump(1) + "\n");
  const std::string page = out + "/figure.html";
  replace_file(page, to_page(figure_of(trials, read_stored(stored)), "en", read_chart_js()));
  fmt::print("\nAs a picture: {}\n", page);
}

}  // namespace odori
