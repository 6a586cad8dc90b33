// SPDX-License-Identifier: Apache-2.0
#include "report/costs.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "errors/error.h"
#include "report/html.h"
#include "report/pages.h"  // made by CMake
#include "report/table.h"

namespace odori {
namespace {

TableRow to_row(const ExchangeCosts& costs, const MeasuredExchange& of) {
  if (!of.refused.empty()) return {costs.shown(of), "-", "-", "-", "-", "-", "-", "-", "-", "-"};
  TableRow row{costs.shown(of),
               fmt::format("{:.1f}", of.milliseconds),
               fmt::format("{:.1f} .. {:.1f}", of.least, of.most),
               of.predicted ? fmt::format("{:.1f}", *of.predicted) : "-",
               fmt::format("{:.0f} %", 100 * costs.share(of)),
               fmt::format("{:.0f}", costs.images_per_second(of))};
  for (const MeasuredExchange::Sent& sent : {of.within_node, of.to_other_nodes}) {
    row.push_back(of.counted ? fmt::format("{}", sent.messages) : "-");
    row.push_back(of.counted ? fmt::format("{:.1f}", static_cast<double>(sent.bytes) / costs.unit().bytes) : "-");
  }
  return row;
}

nlohmann::json to_json(const MeasuredExchange::Sent& sent) {
  return {{"messages", sent.messages}, {"bytes", sent.bytes}};
}

nlohmann::json to_json(const MeasuredLink& link) {
  return {{"latency_microseconds", link.microseconds}, {"megabytes_per_second", link.megabytes_per_second}};
}

std::string in_words(const Text& where, const std::optional<MeasuredLink>& link) {
  if (!link) return {};
  return in_language({" {} {:.0f} us and {:.0f} MB/s", "{} {:.0f} us、{:.0f} MB/s"}, in_language(where),
                     link->microseconds, link->megabytes_per_second);
}

}  // namespace

Text ExchangeCosts::place() const {
  return {fmt::format("{} {} on {} {}{}", ranks, ranks == 1 ? "rank" : "ranks", nodes, nodes == 1 ? "node" : "nodes",
                      link.empty() ? "" : ", over a simulated link of " + link),
          fmt::format("{} ノード、{} ランク{}", nodes, ranks,
                      link.empty() ? "" : "、シミュレートした回線（" + link + "）")};
}

std::string ExchangeCosts::shown(const MeasuredExchange& of) const {
  return of.devices == 0 || of.devices == ranks ? of.name : fmt::format("{} x {}", of.name, of.devices);
}

ExchangeCosts::Unit ExchangeCosts::unit() const {
  std::int64_t most = gradient_bytes;
  for (const MeasuredExchange& of : exchanges) most = std::max({most, of.within_node.bytes, of.to_other_nodes.bytes});
  return most >= 1'000'000 ? Unit{1e6, "MB"} : Unit{1e3, "kB"};
}

std::string to_text(const ExchangeCosts& costs) {
  const ExchangeCosts::Unit unit = costs.unit();
  std::vector<TableRow> rows;
  std::string notes;
  for (const MeasuredExchange& of : costs.exchanges) {
    rows.push_back(to_row(costs, of));
    if (!of.refused.empty())
      notes += in_language({"Not measured: {}: {}\n", "計測なし: {}: {}\n"}, of.name,
                           in_language({of.refused, of.refused_ja}));
  }
  const TableRow english{"gradients by",     "ms",      "least .. most",  "predicted", "of the iteration", "images/s",
                         "sent in the node", unit.name, "to other nodes", unit.name},
      japanese{"平均の方法",     "ms",      "最小 .. 最大",     "予測",   "反復に占める割合", "枚/秒",
               "ノード内の送信", unit.name, "他ノードへの送信", unit.name};
  const Text no_two_ranks{" no two ranks were there", "2 ランクの組がなかったため不明"};
  return text_table(language() == "ja" ? japanese : english, rows) + notes +
         in_language(
             {"{}: {:.1f} {} of gradients a rank, {} images a device and iteration, which computes {:.1f} ms; {}.\n",
              "{}: ランクあたりの勾配 {:.1f} {}。デバイスごと・反復ごとに {} 枚、計算 {:.1f} ms。{}。\n"},
             costs.model, static_cast<double>(costs.gradient_bytes) / unit.bytes, unit.name, costs.batchsize,
             costs.compute_milliseconds,
             costs.rounds == 1 ? in_language(Text{"one round", "計測は 1 回"})
                               : in_language({"medians of {} rounds", "{} 回の計測の中央値"}, costs.rounds)) +
         in_language(
             {"Predicted is latency + bytes / bandwidth of each message (lib/comm/cost.h), with what two ranks "
              "were seen to take:{}{}{}{}.\n",
              "予測は各メッセージの遅延 + バイト数 / 帯域幅（lib/comm/cost.h）。2 ランク間の実測値: {}{}{}{}。\n"},
             in_words({"in a node", "ノード内"}, costs.within),
             costs.within && costs.between ? in_language(Text{";", "、"}) : "",
             in_words({"between nodes", "ノード間"}, costs.between),
             costs.within || costs.between ? "" : in_language(no_two_ranks)) +
         in_language({"Sent: messages and {} of the busiest rank, in the node and to other nodes counted separately. "
                      "Where MPI picks its steps, they are those of lib/comm/README.md.\n",
                      "送信: 最も多く送るランクのメッセージ数と "
                      "{}（ノード内の送信と他ノードへの送信は別々に数える）。手順を MPI "
                      "が選ぶものは "
                      "lib/comm/README.md の手順による。\n"},
                     unit.name) +
         in_language({"{}, devices: {}.\n{}, {}.\n", "{}、デバイス: {}。\n{}、{}。\n"}, in_language(costs.place()),
                     costs.device, describe(costs.machine), costs.date);
}

void to_json(nlohmann::json& json, const ExchangeCosts& costs) {
  nlohmann::json exchanges = nlohmann::json::array();
  for (const MeasuredExchange& of : costs.exchanges) {
    nlohmann::json entry = {{"name", of.name}};
    if (of.devices > 0) entry["devices"] = of.devices;
    if (of.refused.empty()) {
      entry["milliseconds"] = {{"median", of.milliseconds}, {"least", of.least}, {"most", of.most}};
      if (of.predicted) entry["predicted_milliseconds"] = *of.predicted;
      entry["share"] = costs.share(of);
      entry["images_per_second"] = costs.images_per_second(of);
      if (of.counted) entry["sent_within_node"] = to_json(of.within_node);
      if (of.counted) entry["sent_to_other_nodes"] = to_json(of.to_other_nodes);
    } else {
      entry["refused"] = of.refused;
      entry["refused_ja"] = of.refused_ja;
    }
    exchanges.push_back(std::move(entry));
  }
  json = {{"date", costs.date},
          {"machine", costs.machine},
          {"model", costs.model},
          {"device", costs.device},
          {"ranks", costs.ranks},
          {"nodes", costs.nodes},
          {"batchsize", costs.batchsize},
          {"rounds", costs.rounds},
          {"gradient_bytes", costs.gradient_bytes},
          {"compute_milliseconds", costs.compute_milliseconds},
          {"exchanges", std::move(exchanges)}};
  if (!costs.link.empty()) json["simulated_link"] = costs.link;
  if (costs.within) json["within_node"] = to_json(*costs.within);
  if (costs.between) json["between_nodes"] = to_json(*costs.between);
}

namespace {

using Json = nlohmann::json;

std::string sent_text(const ExchangeCosts& costs, const MeasuredExchange& of, const MeasuredExchange::Sent& sent) {
  if (!of.counted) return "–";
  return fmt::format("{} · {:.1f} {}", sent.messages, static_cast<double>(sent.bytes) / costs.unit().bytes,
                     costs.unit().name);
}

Json exchange_row(const ExchangeCosts& costs, const MeasuredExchange& of) {
  return {{"name", costs.shown(of)},
          {"refused", of.refused.empty() ? Json(false) : html::both(of.refused, of.refused_ja)},
          {"time", fmt::format("{:.1f} ({:.1f} – {:.1f})", of.milliseconds, of.least, of.most)},
          {"predicted", of.predicted ? fmt::format("{:.1f}", *of.predicted) : "–"},
          {"share", fmt::format("{:.0f}", 100 * costs.share(of))},
          {"rate", fmt::format("{:.0f}", costs.images_per_second(of))},
          {"within", sent_text(costs, of, of.within_node)},
          {"between", sent_text(costs, of, of.to_other_nodes)}};
}

/// Those that were measured, for the chart.
Json bars_of(const ExchangeCosts& costs) {
  Json bars = Json::array();
  for (const MeasuredExchange& of : costs.exchanges)
    if (of.refused.empty())
      bars.push_back({{"name", costs.shown(of)},
                      {"median", of.milliseconds},
                      {"least", of.least},
                      {"most", of.most},
                      {"predicted", of.predicted ? Json(*of.predicted) : Json()}});
  return bars;
}

}  // namespace

std::string to_page(const ExchangeCosts& costs, const std::string& chart_js) {
  Json rows = Json::array();
  for (const MeasuredExchange& of : costs.exchanges) rows.push_back(exchange_row(costs, of));
  return html::render(
      pages::costs_html,
      {{"place", html::both(costs.place().english, costs.place().japanese)},
       {"machine", describe(costs.machine)},
       {"date", costs.date},
       {"model", costs.model},
       {"batchsize", costs.batchsize},
       {"rounds", costs.rounds},
       {"gradients",
        fmt::format("{:.1f} {}", static_cast<double>(costs.gradient_bytes) / costs.unit().bytes, costs.unit().name)},
       {"compute", fmt::format("{:.1f}", costs.compute_milliseconds)},
       {"exchanges", std::move(rows)},
       {"data", html::json_in_script({{"bars", bars_of(costs)}})},
       {"chart_js", html::code_in_script(chart_js)}});
}

}  // namespace odori
