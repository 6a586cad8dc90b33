// SPDX-License-Identifier: Apache-2.0
// What is said of simulated ranks: as JSON, as text, and as a page.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "files/json.h"
#include "report/simulation.h"

namespace odori {
namespace {

const SimulationReport report{
    .title = {"Your <ring>", "あなたのリング"},
    .place = {"one node", "1 ノード"},
    .conclusion = {"A tree is faster.", "ツリーの方が速い。"},
    .rows = {{{"time", "時間"}, "2 ms", "1.5 ms"}, {{"waiting", "待ち"}, "3 %", ""}},
    .ranks = {2, 1024},
    .unit = {"ms", "ミリ秒"},
    .curves = {{{"yours", "あなた"}, {1.25, 20.5}, true}, {{"tree", "ツリー"}, {std::nullopt, 11.0}}}};

TEST(SimulationReport, IsTheSameAfterJson) {
  const SimulationReport read = parse_json(json_text(nlohmann::json(report)));
  EXPECT_EQ(nlohmann::json(read), nlohmann::json(report));
  EXPECT_EQ(read.curves[1].values, (std::vector<std::optional<double>>{std::nullopt, 11.0}));
  EXPECT_TRUE(read.curves[0].simulated);
  EXPECT_THROW(nlohmann::json::object().get<SimulationReport>(), nlohmann::json::exception);
}

TEST(SimulationReport, IsPrintedInBothLanguages) {
  const std::string english = to_text(report, "en");
  EXPECT_TRUE(english.starts_with("Your <ring>\none node\n\n")) << english;
  EXPECT_NE(english.find("waiting        3 %        -\n"), std::string::npos) << english;
  EXPECT_NE(english.find(" 1024   20.5    11\n"), std::string::npos) << english;
  EXPECT_TRUE(english.ends_with("A tree is faster.\n")) << english;
  const std::string japanese = to_text(report, "ja");
  EXPECT_NE(japanese.find("時間              2 ms  1.5 ms\n"), std::string::npos) << japanese;
}

TEST(SimulationReport, IsAPageWithTheTimeline) {
  timeline::Timeline drawn;
  drawn.rows.push_back({.rank = 7, .device = 0, .spans = {{"exchange", {0, 10}, 4}}, .iterations = {{0, 10}}});
  drawn.n_iterations = 1;
  const std::string page = to_page(report, drawn, {"ring", "ja", {}, "2026-01-31"}, "chart", "d3");
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos) << "nothing comes from elsewhere";
  for (const char* text : {"<html lang=\"ja\">", "Your &lt;ring&gt;", "あなたのリング", "ツリーの方が速い。",
                           "<td>1024</td>", R"("points":[{"x":1024,"y":11.0}])", R"("rank":7)"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace odori
