// SPDX-License-Identifier: Apache-2.0
// Tables, comparison and page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "report/comparison.h"
#include "report/costs.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/machine.h"
#include "report/table.h"

namespace odori {
namespace {

Comparison example() {
  return {.machine = {.cpu = "A <fast> CPU", .cores = 2, .memory_gib = 7.75, .os = "Debian"},
          .date = "2026-01-31 14:05",
          .dataset = "synthetic",
          .model = "mid",
          .n_images = 10000,
          .epoch = 2,
          .batchsize = 64,
          .runs = {{.name = "one device",
                    .name_ja = "1 デバイス",
                    .command = "a --b",
                    .images_per_second = 800,
                    .accuracy = {0.5, 0.875}},
                   {.name = "two & two",
                    .name_ja = "2 と 2",
                    .command = "c \"<d>\"",
                    .devices = 4,
                    .nodes = 2,
                    .communicator = "flat",
                    .images_per_second = 2400,
                    .accuracy = {0.4, 0.75}},
                   {.name = "too many",
                    .name_ja = "多",
                    .command = "e",
                    .devices = 8,
                    .nodes = 2,
                    .communicator = "naive",
                    .not_timed = "no room",
                    .not_timed_ja = "場所なし"}}};
}

TEST(Comparison, EachTimingIsComparedWithTheBaselinesAroundIt) {
  Comparison comparison = example();
  EXPECT_EQ(comparison.timing_note(), "");
  comparison.take({{0, 800}, {1, 2460}, {0, 840}, {1, 2520}, {1, 2604}, {0, 840}});
  EXPECT_DOUBLE_EQ(comparison.speedup(comparison.runs[1]), 3.0) << "of 3.0, 3.0 and 3.1";
  EXPECT_DOUBLE_EQ(comparison.speedup_range(comparison.runs[1]).second, 3.1);
  EXPECT_DOUBLE_EQ(comparison.runs[1].images_per_second, 2520) << "the median";
  EXPECT_EQ(comparison.timing_note(),
            "The baseline, one device, was timed 3 times, in between the others, at 800, 840, 840 images/s; each "
            "speedup is against the timings right before and after it. two & two was 3.00 to 3.10 times as fast in 3 "
            "rounds.");
  EXPECT_NE(to_text(comparison).find(comparison.timing_note()), std::string::npos);
  const std::string page = to_page(comparison, "");
  EXPECT_NE(page.find("4 devices: 3.00 times as fast as one (3.00\u2060–\u20603.10)"), std::string::npos);
  EXPECT_NE(page.find("two &amp; two was 3.00 to 3.10"), std::string::npos);
  const nlohmann::json json = comparison;
  EXPECT_EQ(json["baseline"], (std::vector<double>{800, 840, 840}));
  EXPECT_EQ(json["runs"][1]["rounds"], 3);
  EXPECT_EQ(json["runs"][1]["speedup_range"][0], 3.0);
  ASSERT_EQ(json["runs"][1]["speedups"].size(), 3u) << "a dot each";
  EXPECT_DOUBLE_EQ(json["runs"][1]["speedups"][2].get<double>(), 3.1);
}

TEST(Comparison, ABusyMachineAndWhatCannotBeAreSaid) {
  Comparison busy = example();
  busy.take({{0, 800}, {1, 2400}, {0, 1000}});
  EXPECT_NE(busy.timing_note().find("this machine is busy"), std::string::npos) << busy.timing_note();
  EXPECT_EQ(busy.timing_note().find("Other programs"), std::string::npos);
  busy.n_disturbed = 2;
  EXPECT_NE(busy.timing_note().find("Other programs used the cores during 2 timings: repeat the demo"),
            std::string::npos);
  EXPECT_NE(to_page(busy, "").find("測り直してください"), std::string::npos);
  Comparison lucky = example();
  lucky.take({{0, 800}, {1, 3300}, {0, 800}});
  EXPECT_NE(lucky.timing_note().find("two & two, flat: more than 4 times can't be"), std::string::npos)
      << lucky.timing_note();
  EXPECT_NE(to_page(lucky, "").find("台数より大きい倍率はありえません"), std::string::npos);
}

TEST(Comparison, TheHeadlineIsOneConfigurationAndNotTheLuckiest) {
  Comparison comparison = example();
  comparison.runs[2] = {.name = "faster", .devices = 4, .images_per_second = 3000};
  EXPECT_EQ(&comparison.headline(), &comparison.runs[1]);
  comparison.runs[1].not_timed = comparison.runs[2].not_timed = "no room";
  EXPECT_EQ(&comparison.headline(), &comparison.runs[0]);
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCellAndNumbersStandToTheRight) {
  EXPECT_EQ(text_table({"name", "n", "rest"}, {{"a", "5", "x"}, {"longer", "1000", "-"}, {"b"}}),
            "name       n  rest\n"
            "------  ----  ----\n"
            "a          5  x\n"
            "longer  1000  -\n"
            "b\n");
}

TEST(Table, WidthIsCountedInCharactersNotInBytes) {
  EXPECT_EQ(text_table({"a", "b"}, {{"é×", "x"}, {"abc", "y"}}), "a    b\n---  -\né×   x\nabc  y\n");
}

TEST(Table, WidthMayBeCountedInAnotherWay) {
  const auto wide = [](std::string_view text) {
    return text.size() == n_characters(text) ? text.size() : 2 * n_characters(text);  // as a terminal shows Japanese
  };
  EXPECT_EQ(text_table({"数", "b"}, {{"1", "x"}}, wide), "数  b\n--  -\n 1  x\n");
}

TEST(Table, ARowThatIsTooLongIsAnError) { EXPECT_THROW(text_table({"a"}, {{"1", "2"}}), Error); }

TEST(ComparisonTest, SpeedupIsAgainstTheFirstRunAndEfficiencyIsItsShareOfTheDevices) {
  const Comparison comparison = example();
  EXPECT_DOUBLE_EQ(comparison.speedup(comparison.runs[0]), 1);
  EXPECT_DOUBLE_EQ(comparison.speedup(comparison.runs[1]), 3);
  EXPECT_DOUBLE_EQ(comparison.efficiency(comparison.runs[1]), 0.75);
}

TEST(ComparisonTest, TextHasALineARunAndSaysWhatWasNotTimed) {
  const std::string text = to_text(example());
  EXPECT_NE(text.find("two & two         4      2  flat              2400     3.00        75 %         75.0 %\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Not timed: too many: no room\n"), std::string::npos) << text;
}

TEST(ComparisonTest, JsonHasFiguresOfTimedRunsAlone) {
  const nlohmann::json json = parse_json(json_text(nlohmann::json(example())));
  EXPECT_EQ(json["machine"]["cpu"], "A <fast> CPU");
  EXPECT_EQ(json["date"], "2026-01-31 14:05");
  ASSERT_EQ(json["runs"].size(), 3u);
  EXPECT_EQ(json["runs"][1]["speedup"], 3.0);
  EXPECT_EQ(json["runs"][1]["efficiency"], 0.75);
  EXPECT_EQ(json["runs"][0]["accuracy"], nlohmann::json({0.5, 0.875}));
  EXPECT_EQ(json["runs"][2]["not_timed"], "no room");
  EXPECT_FALSE(json["runs"][2].contains("speedup"));
}

TEST(Page, TextIsEscaped) {
  EXPECT_EQ(html::render("{{text}}", {{"text", "a<b> & \"c\" 'd'"}}), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;");
  const std::string page = to_page(example(), "chart()");
  EXPECT_NE(page.find("A &lt;fast&gt; CPU"), std::string::npos);
  EXPECT_NE(page.find("c &quot;&lt;d&gt;&quot;"), std::string::npos);
  EXPECT_NE(page.find("two &amp; two"), std::string::npos);
  EXPECT_EQ(page.find("<fast>"), std::string::npos) << "also not in the data of the charts";
  EXPECT_EQ(page.find("<d>"), std::string::npos);
}

TEST(Page, NothingInAValueIsTakenForAPlaceholder) {
  Comparison comparison = example();
  comparison.runs[1].name = "{{rows}}";
  EXPECT_NE(to_page(comparison, "").find("<tr><td><span lang=\"en\">{{rows}}<"), std::string::npos);
}

TEST(Page, AnEmptyTextIsFalse) {
  EXPECT_EQ(html::render("{{#text}}{{text}}{{/text}}{{^text}}none{{/text}}", {{"text", ""}}), "none");
}

TEST(Page, ATemplateThatCannotBeParsedIsAnError) { EXPECT_THROW(html::render("{{#runs}}", {}), Error); }

TEST(Page, ItsDataAreTheComparison) {
  const std::string page = to_page(example(), ""), begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(parse_json(page.substr(at, page.find("</script>", at) - at)), nlohmann::json(example()));
}

TEST(Page, ChartJsIsInItOrItSaysThatItIsNot) {
  const std::string with = to_page(example(), "let x = '</script>';"), without = to_page(example(), "");
  EXPECT_NE(with.find("let x = '<\\/script>';"), std::string::npos);
  EXPECT_EQ(with.find("Chart.js was not found"), std::string::npos);
  EXPECT_NE(without.find("Chart.js was not found"), std::string::npos);
}

TEST(Page, ANamedChartJsMustBeThere) {
  setenv("ODORI_CHART_JS", "/no/such/file.js", 1);
  EXPECT_THROW(read_chart_js(), Error);
  unsetenv("ODORI_CHART_JS");
}

Figure example_figure() {
  return {.title = "A <title>",
          .text = "What it shows & how.",
          .x_name = "ranks",
          .y_name = "bytes",
          .x = {2, 64},
          .curves = {{"all to <one>", {4000, 252000}}, {"yours", {4000, {}}, true}}};
}

TEST(Figure, TableHasALineForEachXAndADashWhereNothingIsKnown) {
  EXPECT_EQ(to_table(example_figure(), n_characters),
            "ranks  all to <one>  yours\n"
            "-----  ------------  -----\n"
            "    2          4000   4000\n"
            "   64        252000      -\n");
}

TEST(Figure, PageHoldsTextsTableAndPoints) {
  const std::string page = to_page(example_figure(), "ja", "chart()");
  EXPECT_NE(page.find("<html lang=\"ja\">"), std::string::npos);
  EXPECT_NE(page.find("<h1>A &lt;title&gt;</h1>"), std::string::npos);
  EXPECT_NE(page.find("What it shows &amp; how."), std::string::npos);
  EXPECT_NE(page.find("<th>all to &lt;one&gt;</th>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>64</td><td>252000</td><td>-</td></tr>"), std::string::npos);
  EXPECT_EQ(page.find("<one>"), std::string::npos) << "also not in the data of the chart";
  EXPECT_EQ(page.find("{{"), std::string::npos);
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  const auto data = parse_json(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data["curves"][1]["points"], parse_json(R"([{"x": 2.0, "y": 4000.0}])"));
  EXPECT_EQ(data["curves"][1]["measured"], true);
  EXPECT_EQ(data["linear"], false);
  EXPECT_NE(page.find("chart()"), std::string::npos);
  EXPECT_NE(to_page(example_figure(), "en", "").find("Chart.js was not found"), std::string::npos);
  Figure linear = example_figure();
  linear.linear = true;
  EXPECT_NE(to_page(linear, "en", "").find("\"linear\":true"), std::string::npos);
}

TEST(Figure, ShowsWhatWasAFloatAsItWasTyped) {
  const Figure figure{.x_name = "update", .x = {1, 2}, .curves = {{"rate", {0.02f, 0.048f * 1.0}}}};
  EXPECT_EQ(to_table(figure, n_characters), "update   rate\n------  -----\n     1   0.02\n     2  0.048\n");
  const std::string page = to_page(figure, "en", "");
  EXPECT_NE(page.find("0.048"), std::string::npos);
  for (const char* digits : {"0.0199", "0.0479", "0.0480000"})
    EXPECT_EQ(page.find(digits), std::string::npos) << digits;
}

TEST(Figure, OfBarsHasALineForEach) {
  const Figure figure{.title = "A title",
                      .text = "Text.",
                      .x_name = "way",
                      .y_name = "percent",
                      .curves = {{"exposed", {50, {}}, true}},
                      .bars = {"one <way>", "another"}};
  EXPECT_EQ(to_table(figure, n_characters),
            "way        exposed\n"
            "---------  -------\n"
            "one <way>       50\n"
            "another          -\n");
  const std::string page = to_page(figure, "en", "chart()");
  EXPECT_NE(page.find("<tr><td>one &lt;way&gt;</td><td>50</td></tr>"), std::string::npos);
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  const auto data = parse_json(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data["bars"], (std::vector<std::string>{"one <way>", "another"}));
  EXPECT_EQ(data["curves"][0]["points"], parse_json("[50.0, null]"));
}

ExchangeCosts example_costs() {
  return {.machine = {.cpu = "X", .cores = 2, .memory_gib = 8, .os = "Y"},
          .date = "2026-01-31 14:05",
          .model = "vgg",
          .device = "CPU",
          .link = "1 Gbit/s, 50 us",
          .ranks = 2,
          .nodes = 2,
          .batchsize = 32,
          .rounds = 5,
          .gradient_bytes = 60'000'000,
          .compute_milliseconds = 300,
          .between = MeasuredLink{120, 119.5},
          .exchanges = {{.name = "ring",
                         .milliseconds = 500,
                         .least = 490,
                         .most = 540,
                         .predicted = 480.5,
                         .within_node = {},
                         .to_other_nodes = {.messages = 2, .bytes = 60'000'000}},
                        {.name = "single_node", .refused = "<two> nodes", .refused_ja = "2 <ノード>"},
                        {.name = "pure_nccl", .milliseconds = 100, .least = 90, .most = 110, .counted = false}}};
}

TEST(Costs, ATableSaysShareRateAndWhatIsSent) {
  const std::string text = to_text(example_costs());
  EXPECT_NE(
      text.find("ring          500.0  490.0 .. 540.0      480.5              62 %        80                 0  0.0  "),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("             2  60.0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("were seen to take: between nodes 120 us and 120 MB/s.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Not measured: single_node: <two> nodes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Sent: messages and MB of the busiest rank"), std::string::npos) << text;
  EXPECT_NE(text.find("2 ranks on 2 nodes, over a simulated link of 1 Gbit/s, 50 us, devices: CPU.\n"),
            std::string::npos)
      << text;
  ExchangeCosts one = example_costs();
  one.within = MeasuredLink{5, 4000};
  EXPECT_NE(to_text(one).find("to take: in a node 5 us and 4000 MB/s; between nodes 120 us and 120 MB/s.\n"),
            std::string::npos);
  one.link = "", one.nodes = 1, one.ranks = 1;
  EXPECT_EQ(one.place().english, "1 rank on 1 node");
}

TEST(Costs, OfASmallNetworkAreInKilobytes) {
  ExchangeCosts costs = example_costs();
  costs.gradient_bytes = 41'240;
  costs.exchanges.front().to_other_nodes.bytes = 20'620;
  EXPECT_NE(to_text(costs).find(" to other nodes    kB\n"), std::string::npos) << to_text(costs);
  EXPECT_NE(to_text(costs).find("             2  20.6\n"), std::string::npos) << to_text(costs);
  EXPECT_NE(to_text(costs).find("vgg: 41.2 kB of gradients"), std::string::npos) << to_text(costs);
  EXPECT_NE(to_page(costs, "").find("2 · 20.6 kB"), std::string::npos);
}

TEST(Costs, OfOtherDevicesThanTheRanksSayHowMany) {
  ExchangeCosts costs = example_costs();
  const auto of = [](int devices) {
    return MeasuredExchange{.name = "ParallelUpdater", .milliseconds = 20, .counted = false, .devices = devices};
  };
  EXPECT_EQ(costs.shown(of(2)), "ParallelUpdater");
  EXPECT_EQ(costs.shown(of(4)), "ParallelUpdater x 4");
  EXPECT_DOUBLE_EQ(costs.images_per_second(of(4)), 4 * 32 / 0.32);
  costs.exchanges = {of(4)};
  EXPECT_NE(to_text(costs).find("\nParallelUpdater x 4  20.0"), std::string::npos) << to_text(costs);
  EXPECT_EQ(nlohmann::json(costs).at("exchanges").at(0).at("devices"), 4);
}

TEST(Costs, JsonHoldsWhatWasMeasured) {
  const nlohmann::json json = example_costs();
  EXPECT_EQ(json.at("simulated_link"), "1 Gbit/s, 50 us");
  EXPECT_FALSE(json.contains("within_node"));
  EXPECT_EQ(json.at("between_nodes"), nlohmann::json({{"latency_microseconds", 120}, {"megabytes_per_second", 119.5}}));
  const nlohmann::json& ring = json.at("exchanges").at(0);
  EXPECT_EQ(ring.at("milliseconds"), nlohmann::json({{"median", 500}, {"least", 490}, {"most", 540}}));
  EXPECT_EQ(ring.at("predicted_milliseconds"), 480.5);
  EXPECT_EQ(ring.at("sent_to_other_nodes"), nlohmann::json({{"messages", 2}, {"bytes", 60'000'000}}));
  EXPECT_EQ(json.at("exchanges").at(1).at("refused_ja"), "2 <ノード>");
  EXPECT_FALSE(json.at("exchanges").at(2).contains("sent_within_node"));
}

TEST(Costs, APageHoldsThemAndEscapesWhatTheySay) {
  const std::string page = to_page(example_costs(), "");
  EXPECT_NE(page.find("<td>ring</td><td data-en=\"ms\" data-ja=\"ミリ秒\">500.0 (490.0 – 540.0)</td>"),
            std::string::npos);
  EXPECT_NE(page.find("<span lang=\"en\">not measured: &lt;two&gt; nodes</span>"), std::string::npos);
  EXPECT_NE(page.find("<span lang=\"ja\">計測なし：2 &lt;ノード&gt;</span>"), std::string::npos);
  EXPECT_NE(page.find("--paper"), std::string::npos) << "the style is in it";
  EXPECT_EQ(page.find("{{"), std::string::npos);
}

TEST(Page, EachTextIsInBothLanguages) {
  for (const std::string& page :
       {to_page(example(), ""), to_page(example_costs(), ""), to_page(example_figure(), "en", "")}) {
    std::size_t n_en = 0, n_ja = 0;
    for (std::size_t at = 0; (at = page.find("<span lang=\"en\">", at)) != std::string::npos; ++at) ++n_en;
    for (std::size_t at = 0; (at = page.find("<span lang=\"ja\">", at)) != std::string::npos; ++at) ++n_ja;
    EXPECT_EQ(n_en, n_ja);
    EXPECT_EQ(page.find("{{"), std::string::npos);
  }
}

/// Into the folder that ODORI_PAGES names: slides/tests/pages.test.mjs opens them.
TEST(Page, ExamplesForABrowser) {
  const char* named = std::getenv("ODORI_PAGES");
  const std::filesystem::path folder = named ? named : ::testing::TempDir();
  Comparison comparison = example();
  comparison.take({{0, 800}, {1, 2460}, {0, 840}, {1, 2520}, {1, 2604}, {0, 840}});
  comparison.runs[2] = comparison.runs[1];  // a line with another one below it
  comparison.runs[2].name = "task 2: two nodes, many ranks";
  comparison.runs.push_back({.name = "task 2: more",
                             .name_ja = "タスク2：もっと",
                             .command = "e",
                             .devices = 8,
                             .not_timed = "no room for so many"});
  write_file(folder / "comparison.html", to_page(comparison, read_chart_js()));
  write_file(folder / "costs.html", to_page(example_costs(), read_chart_js()));
  write_file(folder / "figure.html", to_page(example_figure(), "en", read_chart_js()));
}

TEST(MachineTest, KnowsThisMachine) {
  const Machine machine = this_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_gib, 0.1);
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_EQ(describe({.cpu = "X", .cores = 1, .memory_gib = 3.9, .os = "Y"}), "X, 1 core, 4 GiB, Y");
}

}  // namespace
}  // namespace odori
