// SPDX-License-Identifier: Apache-2.0
// The demo: trains the solutions on one device, on two, and on two nodes, and shows what that buys.
//
//   ./odori demo
//
// prints each training as a learner would see it, then one table of all; the same lies in OUT/result.json and, as a
// page with charts, in OUT/report.html.
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "backend/device_pool.h"
#include "data/cifar.h"
#include "demo/cpu_use.h"
#include "demo/plan.h"
#include "files/file.h"
#include "files/json.h"
#include "flags/command_line.h"
#include "program/process.h"
#include "program/program.h"
#include "report/comparison.h"
#include "report/html.h"

using namespace odori;
using namespace odori::demo;
namespace fs = std::filesystem;

namespace {

struct Flags {
  std::string device = "auto";   // auto, cpu or cuda
  std::string dataset = "auto";  // cifar10 if it is there, else the synthetic set, which is made if it isn't
  int epoch = 2;
  double fraction = 0;  // of the data set; 0: what one device trains on in about 10 seconds
  std::string out = "out/demo";
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(Text{"Trains the solutions on one device, on two, and on two nodes, and compares them.",
                        "模範解答を 1 デバイス、2 デバイス、2 ノードで学習させて比べる"},
                   "./odori demo", argc, argv);
  line.add_choice("--device", flags.device, {"auto", "cpu", "cuda"},
                  line.say({"auto (GPUs if there are any), cpu or cuda",
                            "auto（GPU があれば GPU、なければ CPU デバイス）、cpu、cuda のどれか"}));
  line.add_option("--dataset", flags.dataset,
                  line.say({"cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is there",
                            "cifar10、cifar100、synthetic、またはフォルダ。auto は cifar10（なければ synthetic）"}))
      .capture_default_str();
  line.add_number("--epoch", flags.epoch, 1, 1000, line.say({"Epochs of each run", "それぞれの学習のエポック数"}));
  line.add_option("--fraction", flags.fraction,
                  line.say({"Part of the data set; without it, the part that one device trains on in about 10 seconds",
                            "データセットのうち使う割合。なければ、1 デバイスで約 10 秒かかる分"}))
      .check(line.number<double>({"a number from 0.0001 to 1", "0.0001 から 1 までの数"},
                                 [](double part) { return part >= 1e-4 && part <= 1; }));
  line.add_option("--out", flags.out, line.say({"Folder for the results", "結果を書くフォルダ"})).capture_default_str();
  line.parse();
  return flags;
}

constexpr int batchsize = 64;          // images a device and iteration
constexpr double seconds_wanted = 10;  // of the baseline: long enough that its start and other noise matter little
constexpr std::size_t warm_up_images = 512;  // in each of its two epochs

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
  require(code == 0,
          {"This command ended with exit code {}; its last words are above.\n  {}",
           "次のコマンドが終了コード {} で終わりました。原因は上に表示されています。\n  {}"},
          code, line);
}

/// The training set's size. Makes the synthetic set if that is meant and isn't there.
std::size_t prepare_dataset(const std::string& name) {
  try {
    return load_cifar(name).train->size();
  } catch (const Error&) {
    if (name != "synthetic") throw;
  }
  print_now(in_language(Text{"There is no data set yet: making the synthetic one.\n",
                             "データセットがまだないため、合成データセットを作ります。\n"}));
  run_or_fail({driver(), "data", "synthetic"}, driver() + " data synthetic");
  return load_cifar(name).train->size();
}

/// What a training wrote about itself.
void read_result(const Training& training, Run& run) {
  const std::string path = training.out + "/result.json";
  const std::string text = read_file(path);
  require(!text.empty(), {"{} was not written.", "{} が書かれませんでした。"}, path);
  const nlohmann::json result = parse_json(text);
  run.images_per_second = result.at("images_per_second");
  run.accuracy.clear();
  for (const auto& epoch : result.at("log")) run.accuracy.push_back(epoch.at("validation/main/accuracy"));
}

/// "5 s", "2 minutes"
std::string duration(double seconds) {
  return seconds < 90 ? in_language({"{:.0f} s", "{:.0f} 秒"}, seconds)
                      : in_language({"{:.0f} minutes", "{:.0f} 分"}, seconds / 60);
}

/// Trains on a few images for two epochs: the first also pays for what is set up once. Prints what it finds.
Speed warm_up(const Setting& setting, std::size_t all_images) {
  const double fraction = std::min(1.0, static_cast<double>(warm_up_images) / static_cast<double>(all_images));
  Training training = plan(setting).front();
  training.command.insert(training.command.end(), {"--fraction", fmt::format("{}", fraction), "--epoch", "2"});
  print_now(in_language(Text{"\nA short warm-up, to choose how many images the runs train on:\n",
                             "\n短い準備運転（学習に使う画像の数を決めるため）:\n"}));
  const double began = cpu_use().wall;
  run_or_fail(training.command, fmt::format("{}", fmt::join(training.command, " ")));
  const double wall = cpu_use().wall - began;
  const nlohmann::json result = parse_json(read_file(training.out + "/result.json"));
  const auto& log = result.at("log");
  const double second_epoch = log.at(1).at("elapsed_time").get<double>() - log.at(0).at("elapsed_time").get<double>();
  return {.images_per_second = std::round(fraction * static_cast<double>(all_images)) / second_epoch,
          .start = wall - result.at("seconds").get<double>()};
}

/// The trainings of a demo, in the order in which they are timed.
class Timings {
 public:
  Timings(const std::vector<Training>& trainings, Comparison& comparison, Speed speed, bool on_cores)
      : trainings_(trainings), comparison_(comparison), speed_(speed), on_cores_(on_cores) {}

  void run() {
    const std::vector<std::size_t> places = order(trainings_.size());
    std::vector<std::pair<std::size_t, double>> rates;
    for (std::size_t i = 0; i < places.size(); ++i) {
      Run& run = comparison_.runs[places[i]];
      const Text once_more{", once more", "、もう一度"};
      print_now(fmt::format("\n[{}/{}] {}{}{}{}{}\n", i + 1, places.size(), run.shown(),
                            run.communicator.empty() ? "" : ", ", run.communicator,
                            run.accuracy.empty() ? "" : in_language(once_more), left(std::span(places).subspan(i))));
      if (!run.not_timed.empty()) {
        print_now(in_language({"Not timed: {}.\n", "計測なし: {}。\n"}, run.why_not_timed()));
        continue;
      }
      time(trainings_[places[i]], run);
      rates.emplace_back(places[i], run.images_per_second);
    }
    comparison_.take(rates);
  }

 private:
  std::string left(std::span<const std::size_t> places) const {
    if (speed_.images_per_second == 0) return "";
    const double n_images = static_cast<double>(comparison_.n_images) * comparison_.epoch;
    return in_language({" (about {} left)", "（残り約 {}）"},
                       duration(seconds_of(comparison_.runs, places, n_images, speed_)));
  }

  /// The accuracy is the same each time.
  void time(const Training& training, Run& run) {
    print_now(fmt::format("$ {}\n", run.command));
    fs::remove(training.out + "/result.json");  // so that an old one is never taken for this one's
    const CpuUse before = cpu_use();
    run_or_fail(training.command, run.command);
    const CpuUse after = cpu_use();
    read_result(training, run);
    if (run.devices == 1) {
      const double training_seconds =
          static_cast<double>(comparison_.n_images) * comparison_.epoch / run.images_per_second;
      speed_ = {run.images_per_second, std::max(0.0, after.wall - before.wall - training_seconds)};
    }
    const double others = cores_of_others(before, after);
    const int n_cores = cores_of_machine();
    if (!on_cores_ || !are_too_many(others, n_cores, run.devices)) return;
    ++comparison_.n_disturbed;
    print_now(in_language({"Other programs used {:.1f} of this machine's {} cores during this run, which needs {}: its "
                           "time is too long.\n",
                           "この学習の間、ほかのプログラムが {:.1f} コアを使っていました（このマシンは {} "
                           "コア、学習に必要なのは {}）。このため、計測した時間は実際より長く"
                           "なっています。\n"},
                          others, n_cores, run.devices));
  }

  const std::vector<Training>& trainings_;
  Comparison& comparison_;
  Speed speed_;  // 0 images/s: not known yet
  bool on_cores_;
};

void write_results(const Comparison& comparison, const fs::path& out) {
  write_file(out / "result.json", json_text(nlohmann::json(comparison), 2) + "\n");
  write_file(out / "report.html", to_page(comparison, read_chart_js()));
  print_now(in_language({"\n{}\nWritten: {} and, as a page with charts, {}\n", "\n{}\n結果: {}、グラフのページ: {}\n"},
                        to_text(comparison), (out / "result.json").string(), (out / "report.html").string()));
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  catch_interrupts();
  setenv("ODORI_READY", "1", 1);  // the driver that this calls has nothing to set up
  setenv("ODORI_BUILD", ODORI_BUILD_FOLDER, 1);

  const bool gpus = flags.device != "cpu" && gpu_count() > 0;
  require(gpus || flags.device != "cuda",
          Text{"--device cuda, but there is no GPU here that this build can use.",
               "--device cuda が指定されましたが、このビルドで使える GPU がありません。"});
  const std::string dataset = resolve_dataset(flags.dataset, "");
  const std::size_t all_images = prepare_dataset(dataset);
  Comparison comparison{.machine = this_machine(),
                        .date = now(),
                        .dataset = dataset,
                        .model = gpus ? "vgg" : "mid",
                        .epoch = flags.epoch,
                        .batchsize = batchsize,
                        .runs = {}};
  print_now(in_language({"Odori's demo: {}\n", "Odori のデモ: {}\n"}, describe(comparison.machine)));
  Setting setting{.driver = driver(),
                  .out = flags.out,
                  .flags = {"--device", gpus ? "cuda" : "cpu", "--model", comparison.model, "--dataset", dataset,
                            "--batchsize", std::to_string(batchsize), "--no-snapshot"},
                  .n_devices = gpus ? gpu_count() : comparison.machine.cores,
                  .gpus = gpus};
  Speed speed;
  double fraction = flags.fraction;
  if (fraction == 0) {
    speed = warm_up(setting, all_images);
    fraction = static_cast<double>(images_for(seconds_wanted, speed.images_per_second, flags.epoch, all_images)) /
               static_cast<double>(all_images);
  }
  comparison.n_images = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(all_images)));
  print_now(in_language(
      {"Each run trains on {} images for {} epoch{}.\n", "それぞれ {} 枚の画像で {} エポック学習します。\n"},
      comparison.n_images, flags.epoch, flags.epoch == 1 ? "" : "s"));
  setting.flags.insert(setting.flags.end(),
                       {"--fraction", fmt::format("{}", fraction), "--epoch", std::to_string(flags.epoch)});
  const std::vector<Training> trainings = plan(setting);
  for (const Training& training : trainings) comparison.runs.push_back(training.run);
  Timings(trainings, comparison, speed, !gpus).run();
  write_results(comparison, flags.out);
  return 0;
} catch (...) {
  return report_failure();
}
