// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "report/costs.h"
#include "report/html.h"
#include "report/pages.h"  // made by CMake

namespace odori {
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
      {{"place", costs.place()},
       {"ranks", costs.ranks},
       {"nodes", costs.nodes},
       {"link", costs.link},
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
