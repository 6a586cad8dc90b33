// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "errors/error.h"
#include "files/file.h"
#include "perceptron.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/table.h"
#include "virtual_run.h"

namespace odori {
namespace {

void write_page(const Figure& figure, const std::string& path) {
  replace_file(path, to_page(figure, language(), read_chart_js()));
  fmt::print("{}\n", in_language({"As a picture: {}", "図: {}"}, path));
}

// ---- The quadratic: curvature 1

constexpr double quadratic_rate = 0.8;
constexpr int quadratic_updates = 30;

struct Way {
  Text name;
  int staleness;  // constant, after the first updates: that many workers compute in addition to one
  bool rate_by_staleness;
};
const Way quadratic_ways[] = {{{"staleness 0", "古さ 0"}, 0, false},
                              {{"staleness 1", "古さ 1"}, 1, false},
                              {{"staleness 2", "古さ 2"}, 2, false},
                              {{"staleness 2, rate divided by it", "古さ 2、学習率を古さで割る"}, 2, true}};

/// |parameter| after each update.
std::vector<double> distances(const Way& way, const Functions& functions) {
  std::vector<double> all;
  VirtualRun one{.parameters = {1},
                 .seconds = std::vector(static_cast<std::size_t>(way.staleness) + 1, std::vector{1.0}),
                 .gradients = quadratic_updates,
                 .settings = {quadratic_rate, way.rate_by_staleness}};
  one.gradient_at = [](int, std::span<const float> parameters) {
    return std::vector<float>(parameters.begin(), parameters.end());
  };
  one.applied = [&](const Update&, const Server& server, const Gradient&) {
    all.push_back(std::abs(server.parameters[0]));
  };
  if (!run(one, functions)) fail_because_all_wait();
  return all;
}

/// The axis is logarithmic: what is nearly 0 is not drawn.
std::optional<double> on_axis(double value) {
  return value >= 1e-6 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// ---- The perceptron

struct Trained {
  std::string name;
  std::vector<LogEntry> log;
  double images_per_second = 0;

  double best() const { return log.empty() ? 0 : std::ranges::max_element(log, {}, &LogEntry::accuracy)->accuracy; }
  /// The last entry until that time.
  std::optional<double> accuracy_at(double seconds) const {
    if (log.empty() || seconds > log.back().seconds) return {};
    std::optional<double> accuracy;
    for (const auto& entry : log)
      if (entry.seconds <= seconds) accuracy = entry.accuracy;
    return accuracy;
  }
};

constexpr double seconds_of_image = 1e-3;                                // virtual, of a worker at full speed
const cost::Link link_to_server{.latency = 50e-6, .bandwidth = 1.25e9};  // 10 Gbit/s

/// Of five workers, three have the full speed, one half of it, and one a fifth.
double slowdown_of(int worker) { return worker % 5 == 1 ? 2 : worker % 5 == 2 ? 5 : 1; }

Trained train(const std::string& name, int n_workers, const Settings& settings, const Arguments& args, int batch,
              const Functions& functions) {
  PerceptronOfWorkers perceptron(args, batch, n_workers);
  const int gradients = perceptron.n_gradients(), interval = std::max(1, gradients / 40);
  Trained trained{.name = name};
  VirtualRun one{.parameters = perceptron.initial_parameters(), .gradients = gradients, .settings = settings};
  for (int worker = 0; worker < n_workers; ++worker)
    one.seconds.push_back({batch * seconds_of_image * slowdown_of(worker)});
  one.link = link_to_server;
  one.gradient_at = [&](int worker, std::span<const float> parameters) {
    return perceptron.gradient_at(worker, parameters);
  };
  int n_applied = 0;
  one.applied = [&](const Update& update, const Server& server, const Gradient&) {
    ++n_applied;
    trained.images_per_second = n_applied * batch / update.arrived;
    if (n_applied % interval == 0)
      trained.log.push_back({n_applied * batch, update.arrived,
                             perceptron.accuracy({server.parameters.begin(), server.parameters.end()})});
  };
  if (!run(one, functions)) fail_because_all_wait();
  return trained;
}

std::string seconds_text(double seconds) { return std::isfinite(seconds) ? fmt::format("{:.2f}", seconds) : "-"; }

void print(const std::vector<Trained>& all, const Functions& functions) {
  double best = 0;
  for (const Trained& one : all) best = std::max(best, one.best());
  const double target = 0.7 * best;  // more than one of them may get there
  std::vector<TableRow> rows;
  for (const Trained& one : all) {
    const auto reached = std::ranges::find_if(one.log, [&](const LogEntry& entry) { return entry.accuracy >= target; });
    rows.push_back({one.name, fmt::format("{:.0f}", one.images_per_second), fmt::format("{:.1f} %", 100 * one.best()),
                    reached == one.log.end() ? "-" : std::to_string(reached->images),
                    seconds_text(functions.seconds_to(target, one.log))});
  }
  const TableRow english{"perceptron", "images/s", "best accuracy", fmt::format("images to {:.1f} %", 100 * target),
                         "your seconds to it"},
      japanese{"パーセプトロン", "枚/秒", "最高の正解率", fmt::format("{:.1f} % までの枚数", 100 * target),
               "そこまでの秒数（あなたの関数）"};
  fmt::print("\n{}", text_table(language() == "ja" ? japanese : english, rows));
}

std::vector<double> hundredths(double last) {
  std::vector<double> all;
  for (int i = 1; i <= 100; ++i) all.push_back(last * i / 100);
  return all;
}

Curve accuracy_by(const std::vector<double>& x, const Trained& trained, bool by_seconds) {
  Curve curve{.name = trained.name};
  for (const double at : x) {
    std::optional<double> accuracy;
    if (by_seconds) accuracy = trained.accuracy_at(at);
    for (const auto& entry : trained.log)
      if (!by_seconds && entry.images == static_cast<int>(at)) accuracy = entry.accuracy;
    curve.values.push_back(accuracy && *accuracy > 0 ? std::optional(100 * *accuracy) : std::nullopt);
  }
  return curve;
}

void write_pages(const std::vector<Trained>& all, const std::string& out) {
  const std::string text = in_language(Text{
      "Your parameter server in virtual time. Workers have different speeds: of five, three compute a batch in the "
      "same time, one needs twice that time, and one five times.",
      "仮想時間でのあなたのパラメータサーバ。ワーカーの速さは異なります。5 つのうち 3 つは同じ時間でバッチを計算し、1 "
      "つは 2 倍、"
      "1 つは 5 倍かかります。"});
  std::set<double> images;
  double last = 0;
  for (const Trained& one : all)
    for (const auto& entry : one.log) images.insert(entry.images), last = std::max(last, entry.seconds);
  if (images.empty()) return;
  const std::string accuracy = in_language(Text{"accuracy, %", "正解率（%）"});
  Figure by_images{in_language(Text{"Accuracy over images", "枚数と正解率"}),
                   text,
                   in_language(Text{"images", "枚数"}),
                   accuracy,
                   {images.begin(), images.end()},
                   {}},
      by_seconds{in_language(Text{"Accuracy over seconds", "秒数と正解率"}),
                 text,
                 in_language(Text{"seconds", "秒"}),
                 accuracy,
                 hundredths(last),
                 {}};
  for (const Trained& one : all) {
    by_images.curves.push_back(accuracy_by(by_images.x, one, false));
    by_seconds.curves.push_back(accuracy_by(by_seconds.x, one, true));
  }
  by_images.linear = by_seconds.linear = true;
  write_page(by_images, out + "/images.html");
  write_page(by_seconds, out + "/seconds.html");
}

}  // namespace

void show_quadratic(const Functions& functions, const std::string& out) {
  Figure figure{
      .title = in_language(Text{"Stale gradients on a quadratic of curvature 1", "曲率 1 の 2 次関数での古い勾配"}),
      .text = in_language({"Distance from the minimum after each update of your server, at rate {}. With a constant "
                           "staleness of tau, a rate is stable if it is below 2 sin(pi / (4 tau + 2)): 2, 1 and 0.62 "
                           "for 0, 1 and 2.",
                           "学習率 {} での、サーバの各更新後の最小値からの距離。古さが一定の tau なら、学習率が 2 "
                           "sin(pi / (4 tau + 2)) "
                           "未満のとき安定です（古さ 0、1、2 でそれぞれ 2、1、0.62）。"},
                          quadratic_rate),
      .x_name = in_language(Text{"updates", "更新の数"}),
      .y_name = in_language(Text{"distance from the minimum", "最小値からの距離"})};
  std::vector<TableRow> rows;
  for (int update = 1; update <= quadratic_updates; ++update) figure.x.push_back(update);
  for (const Way& way : quadratic_ways) {
    Curve curve{.name = in_language(way.name)};
    TableRow row{curve.name};
    double largest = 0;
    const std::vector<double> all = distances(way, functions);
    for (std::size_t i = 0; i < all.size(); ++i) {
      curve.values.push_back(on_axis(all[i]));
      largest = std::max(largest, all[i]);
      if (i % 10 == 9) row.push_back(fmt::format("{:.3g}", std::exchange(largest, 0)));
    }
    figure.curves.push_back(curve);
    rows.push_back(row);
  }
  fmt::print("{}", text_table({in_language({"largest distance, rate {}", "最大の距離、学習率 {}"}, quadratic_rate),
                               in_language(Text{"updates 1-10", "更新 1-10"}), "11-20", "21-30"},
                              rows));
  write_page(figure, out + "/quadratic.html");
}

void compare_runs(const Functions& functions, const Arguments& args, const RunOptions& options) {
  const double rate = args.learnrate;
  const std::string n = in_language({"{} workers", "{} ワーカー"}, options.workers);
  std::vector<Trained> all;
  const auto add = [&](const std::string& name, int workers, const Settings& settings) {
    fmt::print("{}\n", in_language({"Training {} of 4 in virtual time: {} ...", "仮想時間での学習 {} / 4: {} …"},
                                   all.size() + 1, name));
    std::fflush(stdout);
    all.push_back(train(name, workers, settings, args, options.batchsize, functions));
  };
  add(in_language(Text{"1 worker", "1 ワーカー"}), 1, {rate});
  add(n, options.workers, {rate});
  add(n + in_language(Text{", rate divided by the staleness", "、学習率を古さで割る"}), options.workers, {rate, true});
  add(in_language({"the same, bound {}", "同上、上限 {}"}, options.bound), options.workers,
      {rate, true, options.bound});
  print(all, functions);
  write_pages(all, options.out);
}

}  // namespace odori
