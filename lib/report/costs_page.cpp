#include <fmt/core.h>

#include <algorithm>

#include "report/costs.h"
#include "report/costs_template.h"  // costs.html, made by CMake
#include "report/html.h"

namespace odori {
namespace {

std::string sent_cell(const MeasuredExchange& of, const MeasuredExchange::Sent& sent) {
  if (!of.counted) return "<td>–</td>";
  return fmt::format("<td>{} · {:.1f} MB</td>", sent.messages, static_cast<double>(sent.bytes) / 1e6);
}

std::string table_row(const ExchangeCosts& costs, const MeasuredExchange& of, double slowest) {
  const std::string name = fmt::format("        <tr><td>{}</td>", html::escape(of.name));
  if (!of.refused.empty())
    return name +
           fmt::format(
               "<td class=\"reason\" colspan=\"6\">not measured <span lang=\"ja\">計測なし</span> {}</td></tr>\n",
               html::escape(of.refused));
  return name +
         fmt::format(
             "<td class=\"time\">{:.1f} ({:.1f} – {:.1f})<span class=\"bar\" style=\"width: {:.1f}%\"></span></td>"
             "<td>{}</td><td>{:.0f} %</td><td>{:.0f}</td>",
             of.milliseconds, of.least, of.most, 100 * of.milliseconds / slowest,
             of.predicted ? fmt::format("{:.1f}", *of.predicted) : "–", 100 * costs.share(of),
             costs.images_per_second(of)) +
         sent_cell(of, of.within_node) + sent_cell(of, of.to_other_nodes) + "</tr>\n";
}

}  // namespace

std::string to_page(const ExchangeCosts& costs) {
  double slowest = 1e-9;
  for (const MeasuredExchange& of : costs.exchanges) slowest = std::max(slowest, of.milliseconds);
  std::string rows;
  for (const MeasuredExchange& of : costs.exchanges) rows += table_row(costs, of, slowest);
  return html::fill(costs_template,
                    {{"place", html::escape(costs.place())},
                     {"machine", html::escape(describe(costs.machine))},
                     {"date", html::escape(costs.date)},
                     {"model", html::escape(costs.model)},
                     {"batchsize", std::to_string(costs.batchsize)},
                     {"rounds", std::to_string(costs.rounds)},
                     {"gradients", fmt::format("{:.1f}", static_cast<double>(costs.gradient_bytes) / 1e6)},
                     {"compute", fmt::format("{:.1f}", costs.compute_milliseconds)},
                     {"rows", rows}});
}

}  // namespace odori
