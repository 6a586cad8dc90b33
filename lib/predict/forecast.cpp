// SPDX-License-Identifier: Apache-2.0
#include "predict/forecast.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "comm/communicator.h"
#include "errors/error.h"

namespace odori {
namespace {

using cost::Iteration;

std::optional<Iteration> by(const Question& question, const std::string& communicator, const cost::Strategy& strategy) {
  cost::Training training = question.training;
  training.communicator = communicator;
  training.strategy = strategy;
  return iteration(training, question.batch);
}

NodesForecast on_nodes(const Question& question, int nodes) {
  cost::Training training = question.training;
  training.cluster.nodes = nodes;
  const cost::Compute& one = training.compute;
  NodesForecast row{.nodes = nodes, .devices = training.cluster.ranks()};
  const double n = row.devices;
  if ((row.weak = iteration(training, question.batch))) {
    row.images_per_second = n * question.batch / row.weak->seconds();
    row.efficiency = one.seconds(question.batch) / row.weak->seconds();
    row.epoch = cost::iterations(question.images, n * question.batch) * row.weak->seconds();
  }
  if (question.shared_batch >= n && (row.strong = iteration(training, question.shared_batch / n)))
    row.speedup = one.seconds(question.shared_batch) / row.strong->seconds();
  return row;
}

std::string milliseconds(const std::optional<Iteration>& iteration) {
  return iteration ? fmt::format("{:.2f}", 1e3 * iteration->seconds()) : "-";
}

template <typename Row>
std::string table(const TableRow& header, const std::vector<Row>& all) {
  std::vector<TableRow> rows;
  for (const Row& row : all) rows.push_back(cells_of(row));
  return text_table(header, rows);
}

nlohmann::json json_of(const std::optional<Iteration>& of) {
  if (!of) return nullptr;
  return {{"compute", of->compute}, {"exchange", of->exchange}, {"waited", of->waited}, {"seconds", of->seconds()}};
}

nlohmann::json json_of(const SplitForecast& of) {
  if (!of.cost) return {{"name", of.name.english}, {"memory", nullptr}, {"sent", nullptr}, {"iteration", nullptr}};
  const cost::Memory& memory = of.cost->memory;
  return {{"name", of.name.english},
          {"memory",
           {{"parameters", memory.parameters},
            {"gradients", memory.gradients},
            {"optimizer", memory.optimizer},
            {"gathered", memory.gathered},
            {"activations", memory.activations},
            {"bytes", memory.bytes()}}},
          {"sent", of.cost->sent},
          {"iteration", json_of(of.cost->iteration)}};
}

const Text images_in_words{"image", " 枚"}, nodes_in_words{"node", " ノード"}, devices_in_words{"device", " デバイス"};

/// "1 node", "8 nodes", "8 ノード".
std::string counted(double n, const Text& noun) {
  return in_language({"{0} {1}{2}", "{0}{1}"}, n, in_language(noun), n == 1 ? "" : "s");
}

/// Why some have no time in half precision.
std::string without_half_precision(const std::vector<CommunicatorForecast>& all) {
  std::vector<std::string> take;
  for (const CommunicatorForecast& of : all)
    if (of.half) take.push_back(of.name);
  return in_language({"Only {} can exchange in half precision (--allreduce-dtype).\n",
                      "半精度（--allreduce-dtype）で通信できるのは {} だけです。\n"},
                     fmt::format("{}", fmt::join(take, ", ")));
}

/// What more nodes do for one batch that all share.
std::string gain_of_nodes(const Forecast& all) {
  const double images = all.question.shared_batch;
  const int nodes = all.question.training.cluster.nodes;
  const bool all_known =
      std::ranges::all_of(all.scaling, [](const NodesForecast& row) { return row.weak.has_value(); });
  const bool gains = std::ranges::any_of(all.scaling, [](const NodesForecast& row) { return row.speedup > 1; });
  if (!all_known)
    return in_language({"-: {} can't be used there.\n", "-: {} はそこでは使えません。\n"},
                       all.question.training.communicator);
  if (!gains)
    return in_language({"For {}, one device alone is faster.\n", "{}では、1 デバイスだけの方が速くなります。\n"},
                       counted(images, images_in_words));
  if (all.best_nodes < nodes)
    return in_language({"A shared batch of {} images gets no faster with more than {}.\n",
                        "全体で {} 枚のバッチは、{}より増やしても速くなりません。\n"},
                       images, counted(all.best_nodes, nodes_in_words));
  if (nodes == 1) return "";
  return in_language({"A shared batch of {} images still gets faster up to all {} nodes.\n",
                      "全体で {} 枚のバッチは、{} ノードまで増やすほど速くなります。\n"},
                     images, nodes);
}

}  // namespace

TableRow cells_of(const CommunicatorForecast& of) {
  return {of.name,
          of.plain ? fmt::format("{:.2f}", 1e3 * of.plain->exchange) : "-",
          milliseconds(of.plain),
          milliseconds(of.half),
          milliseconds(of.overlap),
          milliseconds(of.double_buffering)};
}

TableRow cells_of(const NodesForecast& of) {
  TableRow row{std::to_string(of.nodes), std::to_string(of.devices), milliseconds(of.weak)};
  if (of.weak)
    row.insert(row.end(), {fmt::format("{:.0f}", of.images_per_second), fmt::format("{:.0f} %", 100 * of.efficiency),
                           fmt::format("{:.2f}", of.epoch)});
  else
    row.insert(row.end(), {"-", "-", "-"});
  row.push_back(milliseconds(of.strong));
  row.push_back(of.strong ? fmt::format("{:.1f}", of.speedup) : "-");
  return row;
}

std::string in_bytes(double n) {
  return n < 1e6 ? fmt::format("{:.1f} kB", n / 1e3) : fmt::format("{:.1f} MB", n / 1e6);
}

Forecast forecast(const Question& question) {
  Forecast all{.question = question};
  for (const std::string& name : communicator_names())
    all.communicators.push_back({name, by(question, name, {}), by(question, name, {.half = true}),
                                 by(question, name, {.overlap = true}),
                                 by(question, name, {.double_buffering = true})});
  const int most = question.training.cluster.nodes;
  for (int nodes = 1; nodes < most; nodes *= 2) all.scaling.push_back(on_nodes(question, nodes));
  all.scaling.push_back(on_nodes(question, most));
  all.best_nodes = cost::best_nodes(question.training, question.shared_batch, most);
  all.splits = splits_of(question.training, question.layers, question.state, question.batch);
  const cost::Compute& one = question.training.compute;
  all.epoch = cost::iterations(question.images, question.batch) * one.seconds(question.batch);
  all.batch_within_10_percent = cost::batch_where_gain_ends(one, 0.1);
  return all;
}

std::string to_text(const Forecast& all) {
  const Question& asked = all.question;
  const cost::Training& training = asked.training;
  const cost::Cluster& cluster = training.cluster;
  std::string text = in_language(
      {"One device, {}: an iteration takes {:.2f} ms + {:.3f} ms an image; with {} images {:.2f} ms, {:.0f} images/s.\n"
       "An epoch of {} takes it {:.1f} s. From batch {} on, larger ones save at most 10 % of that.\n"
       "{}{} x {}, {} between nodes, {} within; {} of gradients.\n\n",
       "1 デバイス（{}）: 1 反復は {:.2f} ms + 1 枚あたり {:.3f} ms。{} 枚では {:.2f} ms、{:.0f} 枚/秒。\n"
       "1 エポック（{}）は {:.1f} 秒。バッチ {} からは、大きくしても短縮は 10 % まで。\n"
       "{}{} × {}、ノード間 {}、ノード内 {}、勾配 {}。\n\n"},
      asked.model, 1e3 * training.compute.fixed, 1e3 * training.compute.per_image, asked.batch,
      1e3 * training.compute.seconds(asked.batch), asked.batch / training.compute.seconds(asked.batch),
      counted(asked.images, images_in_words), all.epoch, all.batch_within_10_percent,
      training.compute.fixed < 0
          ? in_language(Text{
                "The larger batch took more than in proportion, so that a small one is predicted too well: "
                "measure again, with batches that differ more.\n",
                "大きいバッチの時間が枚数の比を超えていて、小さいバッチの予測が良すぎます。差のもっと大きいバッチで"
                "測り直してください。\n"})
          : "",
      counted(cluster.nodes, nodes_in_words), counted(cluster.ranks_per_node, devices_in_words),
      in_words(cluster.between), in_words(cluster.within), in_bytes(training.gradients.bytes));
  const bool japanese = language() == "ja";
  text += japanese ? "全デバイスでのコミュニケータごとの時間（ms）:\n" : "All devices, by communicator, ms:\n";
  text +=
      table(japanese
                ? TableRow{"コミュニケータ", "all-reduce", "反復", "半精度", "オーバーラップ", "ダブルバッファリング"}
                : TableRow{"communicator", "all-reduce", "iteration", "half precision", "overlap", "double buffering"},
            all.communicators) +
      without_half_precision(all.communicators);
  text += in_language({"\nWith {}: {} images a device (weak scaling), or {} shared by all devices (strong scaling):\n",
                       "\n{}: デバイスごとに {} 枚（弱スケーリング）、全体で {} 枚（強スケーリング）:\n"},
                      training.communicator, asked.batch, asked.shared_batch);
  text += table(
      japanese
          ? TableRow{"ノード数", "デバイス数", "ms", "枚/秒", "並列化効率", "エポック（秒）", "強: ms", "速度向上率"}
          : TableRow{"nodes", "devices", "ms", "images/s", "efficiency", "s an epoch", "strong: ms", "speedup"},
      all.scaling);
  text += gain_of_nodes(all);
  const cost::State& state = asked.state;
  text += in_language(
      {"\nTraining state and layers split over the devices, with Adam: {} + {} + {} bytes of a parameter, its "
       "gradient, "
       "its state.\nMB of a device with {} images, MB that it sends, and ms. Collectives are rings, none hidden by "
       "compute:\n",
       "\n学習の状態と層をデバイスに分割した場合（Adam）: 1 パラメータあたり、パラメータ・勾配・状態で {} + {} + {} "
       "バイト。\n{} 枚のときの"
       "デバイスのメモリと送信量（MB）、時間（ms）。集団通信はリングで、計算の裏には隠さない:\n"},
      state.parameter, state.gradient, state.optimizer, asked.batch);
  return text + to_text(all.splits);
}

void to_json(nlohmann::json& json, const Forecast& all) {
  const Question& asked = all.question;
  const cost::Training& training = asked.training;
  const auto link = [](const cost::Link& of) {
    return nlohmann::json{{"latency", of.latency}, {"bandwidth", of.bandwidth}};
  };
  json = {{"model", asked.model},
          {"compute", {{"fixed", training.compute.fixed}, {"per_image", training.compute.per_image}}},
          {"batch", asked.batch},
          {"shared_batch", asked.shared_batch},
          {"images", asked.images},
          {"gradients", training.gradients.bytes},
          {"nodes", training.cluster.nodes},
          {"devices_per_node", training.cluster.ranks_per_node},
          {"between", link(training.cluster.between)},
          {"within", link(training.cluster.within)},
          {"communicator", training.communicator},
          {"state",
           {{"parameter", asked.state.parameter},
            {"gradient", asked.state.gradient},
            {"optimizer", asked.state.optimizer}}},
          {"epoch", all.epoch},
          {"best_nodes", all.best_nodes},
          {"batch_within_10_percent", all.batch_within_10_percent}};
  for (const CommunicatorForecast& of : all.communicators)
    json["communicators"].push_back({{"name", of.name},
                                     {"plain", json_of(of.plain)},
                                     {"half", json_of(of.half)},
                                     {"overlap", json_of(of.overlap)},
                                     {"double_buffering", json_of(of.double_buffering)}});
  for (const NodesForecast& of : all.scaling)
    json["scaling"].push_back({{"nodes", of.nodes},
                               {"devices", of.devices},
                               {"weak", json_of(of.weak)},
                               {"images_per_second", of.images_per_second},
                               {"efficiency", of.efficiency},
                               {"epoch", of.epoch},
                               {"strong", json_of(of.strong)},
                               {"speedup", of.speedup}});
  for (const SplitForecast& of : all.splits) json["splits"].push_back(json_of(of));
}

}  // namespace odori
