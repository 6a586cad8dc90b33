#include "distributed/planned_training.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "core/text.h"
#include "report/table.h"
#include "trace/evidence.h"

namespace odori {
namespace {

constexpr std::int64_t most_images = 1'000'000'000, most_updates = 10'000;

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError(
      fmt::format("Planned trainings are seven numbers each, BATCHSIZE:ACCUMULATE:RANKS:BASE_BATCH:BASE_RATE:"
                  "UPDATES_OF_EPOCH:WARMUP_EPOCHS, with at most {} images an update and {} updates of warm-up, "
                  "\"32:4:2:16:0.05:390:5,...\", not \"{}\".",
                  most_images, most_updates, text));
}

}  // namespace

std::vector<PlannedTraining> planned_trainings(const std::string& text) {
  std::vector<PlannedTraining> planned;
  for (const std::string& one : split(text, ',')) {
    const std::vector<std::string> fields = split(one, ':');
    if (fields.size() != 7) refuse(text);
    const auto whole = [&](std::size_t i, int least) {
      const auto number = number_of<int>(fields[i]);
      if (!number || *number < least) refuse(text);
      return *number;
    };
    const double rate = number_of<double>(fields[4]).value_or(0);
    if (!(rate > 0) || !std::isfinite(rate)) refuse(text);
    const PlannedTraining& p = planned.emplace_back(PlannedTraining{.batchsize = whole(0, 1),
                                                                    .accumulate = whole(1, 1),
                                                                    .ranks = whole(2, 1),
                                                                    .base_batch = whole(3, 1),
                                                                    .base_rate = rate,
                                                                    .updates_of_epoch = whole(5, 1),
                                                                    .warmup_epochs = whole(6, 0)});
    if (p.batchsize > most_images / p.accumulate / p.ranks || p.warmup_epochs > most_updates / p.updates_of_epoch)
      refuse(text);
  }
  return planned;
}

void show_rates(const std::vector<PlannedTraining>& planned, const RateRules& rules, const Communicator& comm) {
  std::vector<TableRow> rows;
  for (const PlannedTraining& p : planned) {
    const double k = rules.batch_factor(p.batchsize, p.accumulate, p.ranks, p.base_batch);
    const double scaled = rules.scaled_rate(p.base_rate, k);
    const int n = p.accumulate * p.ranks, end = p.end_of_warm_up();
    std::vector<double> rates;
    for (int update = 0; update < end + 2; ++update)
      rates.push_back(rules.warmed_up(p.base_rate, scaled, update, p.updates_of_epoch, p.warmup_epochs));
    const double of_sum = rules.rate_for_sum(rates.back(), n);
    std::vector<float> numbers{static_cast<float>(of_sum)};
    for (const double rate : rates) numbers.push_back(static_cast<float>(rate));
    evidence::write(facts::Values{static_cast<std::int64_t>(numbers.size())}, numbers);
    const auto of = [&](int update) { return fmt::format("{:.6g}", rates[static_cast<std::size_t>(update)]); };
    rows.push_back({std::to_string(p.batchsize * n), fmt::format("{:.6g}", k), of(0), of(end / 2), of(end),
                    fmt::format("{:.6g}", of_sum)});
  }
  if (comm.rank() != 0) return;
  fmt::print("{}", text_table({"images of an update", "times the base batch", "first rate", "half-way", "after warm-up",
                               "for a sum"},
                              rows));
}

}  // namespace odori
