// SPDX-License-Identifier: Apache-2.0
#include "train/throughput.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "distributed/exchange/strategy.h"
#include "files/file.h"
#include "files/json.h"
#include "report/machine.h"
#include "train/log_report.h"

namespace odori {
namespace {

std::string result_in(const std::string& out) { return out + "/result.json"; }

std::int64_t peak_memory_bytes() {
  struct rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;  // Linux counts in KiB
}

}  // namespace

void report_throughput(Trainer& trainer, std::size_t n_images) {
  const double seconds = trainer.elapsed_time();
  const double throughput = static_cast<double>(n_images) / seconds;
  Updater& updater = trainer.updater();
  if (trainer.updates() > 0)
    fmt::print("Throughput: {} [images/sec.] ({} / {})\n", throughput, n_images, seconds);
  else
    fmt::print("Nothing was left to train: the snapshot has {} epoch{} behind it. A larger --epoch trains on.\n",
               updater.epoch(), updater.epoch() == 1 ? "" : "s");
  ExchangeStrategy* const exchange = updater.optimizer().exchange();
  const ExchangeReport report_of_exchange = exchange ? exchange->report() : ExchangeReport();
  const std::string& link = report_of_exchange.simulated_link;
  const std::int64_t overflows = report_of_exchange.overflows;
  if (!link.empty()) fmt::print("Measured over a simulated link between the nodes: {}\n", link);
  if (overflows > 0)
    fmt::print("{} of {} updates were left out: a gradient was infinite or nan in 16 bits.\n", overflows,
               updater.iteration());
  std::fflush(stdout);

  const Classifier& model = updater.model();
  const NetworkSpec& network = model.network();
  const LogReport& report = find_log_report(trainer);
  nlohmann::ordered_json result = {{"images", n_images},
                                   {"seconds", seconds},
                                   {"images_per_second", throughput},
                                   {"network", network.name},
                                   {"n_classes", network.n_classes},
                                   {"image_size", network.image_size},
                                   {"parameters", model.parameter_count()},
                                   {"batch_size", model.batch_size()},
                                   {"epochs", updater.epoch()},
                                   {"iterations", updater.iteration()},
                                   {"overflows", overflows},
                                   {"device", model.device().description()},
                                   {"precision", to_string(model.device().precision())},
                                   {"shares_devices", updater.shares_devices()},
                                   {"gradients", updater.description()}};
  if (!link.empty()) result["simulated_link"] = link;
  for (const char* of : {"loss", "accuracy"}) {
    const std::string key = std::string("validation/main/") + of;
    if (!report.log().empty() && report.log().back().contains(key))
      result[std::string("validation_") + of] = report.log().back().at(key);
  }
  result["log"] = parse_ordered_json(report.state());
  result["machine"] = nlohmann::json(this_machine());
  result["peak_memory_bytes"] = peak_memory_bytes();
  result["date"] = now();
  replace_file(result_in(trainer.out()), json_text(result, 2) + "\n");
}

void remove_result(const std::string& out) {
  std::error_code ignored;
  std::filesystem::remove(result_in(out), ignored);
  remove_unfinished(result_in(out));
}

}  // namespace odori
