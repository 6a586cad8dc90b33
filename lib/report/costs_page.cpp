// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/costs.h"
#include "report/html.h"
#include "report/pages.h"  // made by CMake

namespace odori {
namespace {

using Json = nlohmann::json;

std::string sent_text(const MeasuredExchange& of, const MeasuredExchange::Sent& sent) {
  return of.counted ? fmt::format("{} · {:.1f} MB", sent.messages, static_cast<double>(sent.bytes) / 1e6) : "–";
}

Json exchange_row(const ExchangeCosts& costs, const MeasuredExchange& of, double slowest) {
  return {{"name", costs.shown(of)},
          {"refused", of.refused.empty() ? Json(false) : html::both(of.refused, of.refused_ja)},
          {"time", fmt::format("{:.1f} ({:.1f} – {:.1f})", of.milliseconds, of.least, of.most)},
          {"width", fmt::format("{:.1f}", 100 * of.milliseconds / slowest)},
          {"predicted", of.predicted ? fmt::format("{:.1f}", *of.predicted) : "–"},
          {"share", fmt::format("{:.0f}", 100 * costs.share(of))},
          {"rate", fmt::format("{:.0f}", costs.images_per_second(of))},
          {"within", sent_text(of, of.within_node)},
          {"between", sent_text(of, of.to_other_nodes)}};
}

}  // namespace

std::string to_page(const ExchangeCosts& costs) {
  double slowest = 1e-9;
  for (const MeasuredExchange& of : costs.exchanges) slowest = std::max(slowest, of.milliseconds);
  Json rows = Json::array();
  for (const MeasuredExchange& of : costs.exchanges) rows.push_back(exchange_row(costs, of, slowest));
  return html::render(pages::costs_html,
                      {{"place", costs.place()},
                       {"ranks", costs.ranks},
                       {"nodes", costs.nodes},
                       {"link", costs.link},
                       {"machine", describe(costs.machine)},
                       {"date", costs.date},
                       {"model", costs.model},
                       {"batchsize", costs.batchsize},
                       {"rounds", costs.rounds},
                       {"gradients", fmt::format("{:.1f}", static_cast<double>(costs.gradient_bytes) / 1e6)},
                       {"compute", fmt::format("{:.1f}", costs.compute_milliseconds)},
                       {"exchanges", std::move(rows)}});
}

}  // namespace odori
