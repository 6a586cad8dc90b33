// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "predict/forecast.h"
#include "predict/pages.h"  // made by CMake
#include "report/html.h"
#include "report/machine.h"

namespace odori {
namespace {

using Json = nlohmann::json;

/// `names`: the template's, of the cells.
template <typename Row>
Json rows_of(const std::vector<Row>& all, const std::vector<const char*>& names) {
  Json rows = Json::array();
  for (const Row& of : all) {
    const TableRow cells = cells_of(of);
    Json& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i] == "-" ? "–" : cells[i];
  }
  return rows;
}

/// Of the whole cluster; false if the communicator refuses it.
Json whole_cluster(const Forecast& all) {
  const NodesForecast& last = all.scaling.back();
  if (!last.weak) return false;
  return {{"devices", last.devices},
          {"speedup", fmt::format("{:.{}f}", last.devices * last.efficiency, last.devices < 100 ? 1 : 0)},
          {"efficiency", fmt::format("{:.0f}", 100 * last.efficiency)},
          {"epoch", fmt::format("{:.2f}", last.epoch)},
          {"one_epoch", fmt::format("{:.1f}", all.epoch)},
          {"best_nodes", all.best_nodes}};
}

}  // namespace

std::string to_page(const Forecast& all, const std::string& chart_js) {
  const Question& asked = all.question;
  const cost::Training& training = asked.training;
  const double one = training.compute.seconds(asked.batch);
  Json data = all;
  Json splits = rows_of(all.splits, {"name", "parameters", "gradients", "optimizer", "gathered", "activations",
                                     "memory", "sent", "exchange", "iteration"});
  for (std::size_t i = 0; i < splits.size(); ++i)
    splits[i]["name"] = html::both(all.splits[i].name.english, all.splits[i].name.japanese);
  data["per_device"] = {{"weak", asked.batch / one}, {"strong", 1}};  // what the charts call ideal
  return html::render(
      pages::forecast_html,
      {{"machine", describe(this_machine())},
       {"date", now()},
       {"model", asked.model},
       {"nodes", training.cluster.nodes},
       {"devices_per_node", training.cluster.ranks_per_node},
       {"between", in_words(training.cluster.between)},
       {"within", in_words(training.cluster.within)},
       {"gradients", in_bytes(training.gradients.bytes)},
       {"communicator", training.communicator},
       {"batch", fmt::format("{}", asked.batch)},
       {"shared_batch", fmt::format("{}", asked.shared_batch)},
       {"images", fmt::format("{}", asked.images)},
       {"one_ms", fmt::format("{:.1f}", 1e3 * one)},
       {"fixed", fmt::format("{:.2f}", 1e3 * training.compute.fixed)},
       {"per_image", fmt::format("{:.3f}", 1e3 * training.compute.per_image)},
       {"all", whole_cluster(all)},
       {"communicators",
        rows_of(all.communicators, {"name", "exchange", "plain", "half", "overlap", "double_buffering"})},
       {"scaling",
        rows_of(all.scaling, {"nodes", "devices", "weak", "rate", "efficiency", "epoch", "strong", "speedup"})},
       {"splits", std::move(splits)},
       {"data", html::json_in_script(data)},
       {"chart_js", html::code_in_script(chart_js)}});
}

}  // namespace odori
