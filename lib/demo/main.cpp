// The demo: trains the solutions on one device, on two, and on two nodes, and shows what that buys.
//
//   ./odori demo
//
// prints each training as a learner would see it, then one table of all; the same lies in OUT/result.json and, as a
// page with charts, in OUT/report.html.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "backend/device_pool.h"
#include "data/cifar.h"
#include "demo/flags.h"
#include "demo/plan.h"
#include "files/file.h"
#include "program/process.h"
#include "program/program.h"
#include "report/page.h"

using namespace odori;
using namespace odori::demo;
namespace fs = std::filesystem;

namespace {

constexpr int batchsize = 64;               // images a device and iteration
constexpr double n_images_wanted = 10'000;  // so many that accuracies say something

void print_now(const std::string& text) {
  fmt::print("{}", text);
  std::fflush(stdout);  // before a child prints
}

/// The driver by the name under which it was called, or where it lies.
std::string driver() {
  const char* called = std::getenv("ODORI_DRIVER");
  return called ? called : ODORI_FOLDER "/odori";
}

void run_or_fail(const std::vector<std::string>& command, const std::string& line) {
  const int code = run_in_foreground(command);
  require(code == 0, "This command ended with exit code {}; its last words are above.\n  {}", code, line);
}

/// The training set's size. Makes the synthetic set if that is meant and isn't there.
std::size_t prepare_dataset(const std::string& name) {
  try {
    return load_cifar(name).train->size();
  } catch (const Error&) {
    if (name != "synthetic") throw;
  }
  print_now("There is no data set yet: making the synthetic one.\n");
  run_or_fail({driver(), "data", "synthetic"}, driver() + " data synthetic");
  return load_cifar(name).train->size();
}

/// After the first training: minutes that the others will take, if each device is as fast as this one was.
double minutes_left(const Comparison& comparison, std::span<const std::size_t> places, double images_per_second) {
  double minutes = 0;
  for (const std::size_t place : places)
    if (const Run& run = comparison.runs[place]; run.not_timed.empty())
      minutes += static_cast<double>(comparison.n_images) * comparison.epoch / images_per_second / run.devices / 60;
  return minutes;
}

/// What a training wrote about itself.
void read_result(const Training& training, Run& run) {
  const std::string path = training.out + "/result.json";
  const std::string text = read_file(path);
  require(!text.empty(), "{} was not written.", path);
  const nlohmann::json result = nlohmann::json::parse(text);
  run.images_per_second = result.at("images_per_second");
  run.accuracy.clear();
  for (const auto& epoch : result.at("log")) run.accuracy.push_back(epoch.at("validation/main/accuracy"));
}

/// Its images/s, unless it isn't timed. The accuracy is the same each time.
std::optional<double> run_training(const Training& training, Run& run, std::size_t number, std::size_t total) {
  print_now(fmt::format("\n[{}/{}] {}{}{}{}\n", number, total, run.name, run.communicator.empty() ? "" : ", ",
                        run.communicator, run.accuracy.empty() ? "" : ", once more"));
  if (!run.not_timed.empty()) {
    print_now(fmt::format("Not timed: {}.\n", run.not_timed));
    return std::nullopt;
  }
  print_now(fmt::format("$ {}\n", run.command));
  fs::remove(training.out + "/result.json");  // so that an old one is never taken for this one's
  run_or_fail(training.command, run.command);
  read_result(training, run);
  return run.images_per_second;
}

void write_results(const Comparison& comparison, const fs::path& out) {
  write_file(out / "result.json", nlohmann::json(comparison).dump(2) + "\n");
  write_file(out / "report.html", to_page(comparison, read_chart_js()));
  print_now(fmt::format("\n{}\nWritten: {} and, as a page with charts, {}\n", to_text(comparison),
                        (out / "result.json").string(), (out / "report.html").string()));
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  catch_interrupts();
  setenv("ODORI_READY", "1", 1);  // the driver that this calls has nothing to set up
  setenv("ODORI_BUILD", ODORI_BUILD_FOLDER, 1);

  const bool gpus = flags.device != "cpu" && gpu_count() > 0;
  require(gpus || flags.device != "cuda", "--device cuda, but there is no GPU here that this build can use.");
  const std::string dataset = resolve_dataset(flags.dataset, "");
  const auto whole = static_cast<double>(prepare_dataset(dataset));
  const double fraction = flags.fraction > 0 ? flags.fraction : std::min(1.0, n_images_wanted / whole);

  Comparison comparison{.machine = this_machine(),
                        .date = now(),
                        .dataset = dataset,
                        .model = gpus ? "vgg" : "mid",
                        .n_images = static_cast<std::size_t>(std::llround(fraction * whole)),
                        .epoch = flags.epoch,
                        .batchsize = batchsize,
                        .runs = {}};
  const std::vector<Training> trainings =
      plan({.driver = driver(),
            .out = flags.out,
            .flags = {"--device", gpus ? "cuda" : "cpu", "--model", comparison.model, "--dataset", dataset,
                      "--fraction", fmt::format("{}", fraction), "--epoch", std::to_string(flags.epoch), "--batchsize",
                      std::to_string(batchsize), "--no_snapshot"},
            .n_devices = gpus ? gpu_count() : comparison.machine.cores,
            .gpus = gpus});

  print_now(fmt::format("Odori's demo: {}\n", describe(comparison.machine)));
  for (const Training& training : trainings) comparison.runs.push_back(training.run);
  const std::vector<std::size_t> places = order(trainings.size());
  std::vector<std::pair<std::size_t, double>> timings;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto rate = run_training(trainings[places[i]], comparison.runs[places[i]], i + 1, places.size());
    if (rate) timings.emplace_back(places[i], *rate);
    if (rate && i == 0)
      print_now(fmt::format("The others take about {:.1f} minutes, all together.\n",
                            minutes_left(comparison, std::span(places).subspan(1), *rate)));
  }
  comparison.take(timings);
  write_results(comparison, flags.out);
  return 0;
} catch (...) {
  return report_failure();
}
