// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "errors/error.h"
#include "predict/forecast.h"

namespace odori {

TableRow cells_of(const SplitForecast& of) {
  if (!of.cost) return {in_language(of.name), "-", "-", "-", "-", "-", "-", "-", "-", "-"};
  const cost::Memory& memory = of.cost->memory;
  TableRow row{in_language(of.name)};
  for (const double bytes : {memory.parameters, memory.gradients, memory.optimizer, memory.gathered, memory.activations,
                             memory.bytes(), of.cost->sent})
    row.push_back(fmt::format("{:.2f}", bytes / 1e6));
  for (const double seconds : {of.cost->iteration.exchange, of.cost->iteration.seconds()})
    row.push_back(fmt::format("{:.2f}", 1e3 * seconds));
  return row;
}

std::vector<SplitForecast> splits_of(const cost::Training& training, std::span<const LayerCost> layers,
                                     const cost::State& state, double batch) {
  std::vector<SplitForecast> all;
  for (const int stage : {0, 1, 2, 3})
    all.push_back({stage == 0 ? Text{"data parallel", "データ並列"}
                              : Text{fmt::format("ZeRO-{}", stage), fmt::format("ZeRO-{}", stage)},
                   zero(stage, training, layers, state, batch)});
  SplitForecast& tensor =
      all.emplace_back(SplitForecast{{"tensor parallel in each node", "各ノード内のテンソル並列"}, {}});
  if (training.cluster.ranks_per_node > 1) tensor.cost = tensor_parallel(training, layers, state, batch);
  return all;
}

std::string to_text(const std::vector<SplitForecast>& splits) {
  std::vector<TableRow> rows;
  for (const SplitForecast& of : splits) rows.push_back(cells_of(of));
  const TableRow english{"",       "parameters", "gradients", "optimizer", "gathered", "activations",
                         "memory", "sent",       "exchange",  "iteration"},
      japanese{"", "パラメータ", "勾配", "オプティマイザ", "集めた分", "活性", "メモリ", "送信", "通信", "反復"};
  std::string text = text_table(language() == "ja" ? japanese : english, rows);
  if (std::ranges::any_of(splits, [](const SplitForecast& of) { return !of.cost; }))
    text += in_language(
        Text{"-: tensor parallelism needs several devices on each node, and layers with at least as many channels.\n",
             "-: テンソル並列には、各ノードに複数のデバイスと、それ以上のチャネルを持つ層が必要です。\n"});
  return text;
}

}  // namespace odori
