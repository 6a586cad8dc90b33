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

std::string milliseconds(const std::optional<cost::Iteration>& iteration) {
  return iteration ? fmt::format("{:.2f}", 1e3 * iteration->seconds()) : "–";
}

Json row_of(const CommunicatorForecast& of) {
  return {{"name", of.name},
          {"exchange", of.plain ? fmt::format("{:.2f}", 1e3 * of.plain->exchange) : "–"},
          {"plain", milliseconds(of.plain)},
          {"half", milliseconds(of.half)},
          {"overlap", milliseconds(of.overlap)},
          {"double_buffering", milliseconds(of.double_buffering)}};
}

Json row_of(const NodesForecast& of) {
  return {{"nodes", of.nodes},
          {"devices", of.devices},
          {"weak", milliseconds(of.weak)},
          {"rate", of.weak ? fmt::format("{:.0f}", of.images_per_second) : "–"},
          {"efficiency", of.weak ? fmt::format("{:.0f} %", 100 * of.efficiency) : "–"},
          {"epoch", of.weak ? fmt::format("{:.2f}", of.epoch) : "–"},
          {"strong", milliseconds(of.strong)},
          {"speedup", of.strong ? fmt::format("{:.1f}", of.speedup) : "–"}};
}

Json row_of(const SplitForecast& of) {
  const auto megabytes = [&](double bytes) { return of.cost ? fmt::format("{:.2f}", bytes / 1e6) : "–"; };
  return {{"name", of.name},
          {"memory", megabytes(of.cost ? of.cost->memory.bytes() : 0)},
          {"sent", megabytes(of.cost ? of.cost->sent : 0)},
          {"iteration", milliseconds(of.cost ? std::optional(of.cost->iteration) : std::nullopt)}};
}

template <typename Row>
Json rows_of(const std::vector<Row>& all) {
  Json rows = Json::array();
  for (const Row& row : all) rows.push_back(row_of(row));
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
  data["per_device"] = {{"weak", asked.batch / one}, {"strong", 1}};  // what the charts call ideal
  return html::render(pages::forecast_html, {{"machine", describe(this_machine())},
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
                                             {"communicators", rows_of(all.communicators)},
                                             {"scaling", rows_of(all.scaling)},
                                             {"splits", rows_of(all.splits)},
                                             {"data", html::json_in_script(data)},
                                             {"chart_js", html::code_in_script(chart_js)}});
}

}  // namespace odori
