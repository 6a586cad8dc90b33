// SPDX-License-Identifier: Apache-2.0
// The event stream as a diagram: what is read, what is left out, and how an iteration's time is divided.
#include "report/timeline.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "errors/error.h"
#include "files/json.h"

namespace odori::timeline {
namespace {

namespace fs = std::filesystem;

/// A folder with an event stream a rank.
class Stream {
 public:
  Stream() {
    folder = ::testing::TempDir() + "odori_timeline_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void write(int rank, const std::string& text) {
    std::ofstream(fs::path(folder) / ("trace." + std::to_string(rank) + ".json")) << text;
  }
  std::string folder;
};

std::string event(const char* name, int rank, int device, int begin, int duration, int bytes = 0) {
  return fmt::format(R"({{"name":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{}{}}},)"
                     "\n",
                     name, rank, device, 1'000'000 + begin, duration,
                     bytes ? fmt::format(R"(,"args":{{"bytes":{}}})", bytes) : "");
}

const std::string end = R"({"name":"end","ph":"i","s":"p","pid":0,"tid":0,"ts":9999999})"
                        "\n]\n";

/// An iteration of 100: forward 0-30, backward 30-80, all-reduce 70-90 (10 of it hidden), nothing until 100.
std::string iteration(int rank, int device, int begin) {
  return event("forward", rank, device, begin, 30) + event("backward", rank, device, begin + 30, 50) +
         event("allreduce", rank, device, begin + 70, 20, 4096) + event("iteration", rank, device, begin, 100);
}

TEST(Timeline, HasARowForEachDeviceAndCountsTimeFromTheFirstEvent) {
  Stream stream;
  stream.write(0, "[\n" + event("load", 0, 1, 7, 3) + event("load", 0, 0, 5, 3) + end);
  const Timeline timeline = read(stream.folder);
  ASSERT_EQ(timeline.rows.size(), 2u);
  EXPECT_EQ(timeline.rows[0].device, 0);
  EXPECT_EQ(timeline.rows[0].spans[0].time, (Interval{0, 3}));
  EXPECT_EQ(timeline.rows[1].spans[0].time, (Interval{2, 5}));
  EXPECT_EQ(timeline.began_us, 1'000'005);
}

TEST(Timeline, RanksAreInOrderAlsoBeyondNine) {
  Stream stream;
  for (int rank = 11; rank >= 0; --rank) stream.write(rank, "[\n" + iteration(rank, 0, 0) + end);
  const Timeline timeline = read(stream.folder);
  for (int rank = 0; rank < 12; ++rank) EXPECT_EQ(timeline.rows[static_cast<std::size_t>(rank)].rank, rank);
}

TEST(Timeline, WhatCameBeforeADeviceWasChosenBelongsToTheOneThatTheRankUses) {
  Stream stream;
  stream.write(1, "[\n" + event("scatter", 1, 0, 0, 5, 100) + iteration(1, 1, 10) + end);
  const Timeline timeline = read(stream.folder);
  ASSERT_EQ(timeline.rows.size(), 1u);
  EXPECT_EQ(timeline.rows[0].device, 1);
  EXPECT_EQ(timeline.rows[0].spans[0].name, "scatter");
  EXPECT_EQ(timeline.rows[0].spans[0].bytes, 100);
}

TEST(Timeline, AKilledRanksStreamIsReadAsFarAsItGoes) {
  Stream stream;
  const std::string text = "[\n" + event("load", 0, 0, 0, 3) + event("forward", 0, 0, 5, 3);
  stream.write(0, text);
  EXPECT_EQ(read(stream.folder).rows.at(0).spans.size(), 2u);
  stream.write(0, text.substr(0, text.size() - 8));  // in the middle of a line
  EXPECT_EQ(read(stream.folder).rows.at(0).spans.size(), 1u);
  EXPECT_EQ(read(stream.folder).cut, std::vector<int>{0});
  stream.write(0, text + R"({"name":"end","ph":"i","s":"p","pid":0,"tid":0,"ts":9})" + "\n]\n");
  EXPECT_TRUE(read(stream.folder).cut.empty()) << "with its end it is whole";
}

TEST(Timeline, SaysWhatIsWrongWithAFolder) {
  const auto error_of = [](const std::string& folder) -> std::string {
    try {
      read(folder);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Stream stream;
  EXPECT_NE(error_of(stream.folder + "/nowhere").find("There is no event stream in "), std::string::npos);
  EXPECT_NE(error_of(stream.folder).find("--trace"), std::string::npos);
  stream.write(0, "\x01\x02 nothing of the kind");
  EXPECT_NE(error_of(stream.folder).find("trace.0.json holds no event stream"), std::string::npos);
  stream.write(0, R"([{"name": "x"}])");
  EXPECT_NE(error_of(stream.folder).find("did not write"), std::string::npos);
  const std::string file = stream.folder + "/trace.0.json";
  ASSERT_EQ(std::remove(file.c_str()), 0);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(error_of(stream.folder).find("There is no event stream in "), std::string::npos)
      << "a pipe isn't waited for";
}

TEST(Shares, DivideAnIterationWithoutTheFirstOne) {
  Stream stream;
  stream.write(0, "[\n" + event("forward", 0, 0, 0, 900) + event("iteration", 0, 0, 0, 1000) + iteration(0, 0, 1000) +
                      iteration(0, 0, 1100) + event("forward", 0, 0, 1300, 70) + end);  // the last: an evaluation
  const Timeline timeline = read(stream.folder);
  const Shares shares = shares_of(timeline, timeline.rows.at(0));
  EXPECT_EQ(shares.iterations, 2);
  EXPECT_DOUBLE_EQ(shares.iteration_us, 100);
  EXPECT_DOUBLE_EQ(shares.compute_us, 80);
  EXPECT_DOUBLE_EQ(shares.hidden_us, 10);
  EXPECT_DOUBLE_EQ(shares.exposed_us, 10);
  EXPECT_DOUBLE_EQ(shares.waiting_us, 10);
  EXPECT_DOUBLE_EQ(shares.bytes, 4096);
  EXPECT_DOUBLE_EQ(shares.collectives, 1);
}

TEST(Shares, TakeTheFirstIterationIfThereIsNoOther) {
  Stream stream;
  stream.write(0, "[\n" + iteration(0, 0, 0) + end);
  const Timeline timeline = read(stream.folder);
  EXPECT_DOUBLE_EQ(shares_of(timeline, timeline.rows.at(0)).iteration_us, 100);
}

TEST(Shares, ExposedCommunicationIsWhatNoComputingCovers) {
  Stream stream;
  stream.write(0, "[\n" + event("forward", 0, 0, 0, 30) + event("allreduce", 0, 0, 10, 10) +  // hidden
                      event("allreduce", 0, 0, 20, 20) + event("allreduce", 0, 0, 35, 10) +   // from 30 to 45
                      event("allreduce", 0, 0, 50, 50) + event("backward", 0, 0, 60, 10) +    // 50-60, 70-80, 85-100
                      event("update", 0, 0, 80, 5) + event("evaluate", 0, 0, 90, 5) + event("iteration", 0, 0, 0, 120) +
                      end);
  const Timeline timeline = read(stream.folder);
  const Shares shares = shares_of(timeline, timeline.rows.at(0));
  EXPECT_EQ(shares.exposed_us, 15 + 10 + 10 + 15)
      << "an evaluation stands for what it consists of, and is no computing itself";
  EXPECT_EQ(shares.hidden_us, 10 + 10 + 10 + 5);
  EXPECT_EQ(shares.waiting_us, 5 + 20);
  EXPECT_EQ(shares.late_us, 0) << "nobody else is to be waited for";
}

TEST(Shares, AnAllReduceIsSplitWhereTheLastRankCame) {
  Stream stream;
  const auto iteration = [](int rank, int late, int at) {
    return event("forward", rank, 0, at, 40 + late) + event("allreduce", rank, 0, at + 40 + late, 30 - late, 4096) +
           event("forward", rank, 0, at + 65, 5) + event("allreduce", rank, 0, at + 70 - late, 20 + late) +
           event("send", rank, 0, at + 92 - late, 3) + event("iteration", rank, 0, at, 100);
  };
  const auto rank = [&](int number, int late) {
    return "[\n" + iteration(number, late, 0) + iteration(number, late, 100) + iteration(number, late, 200);
  };
  stream.write(0, rank(0, 0) + end);
  stream.write(1, rank(1, 10) + end);
  Timeline timeline = read(stream.folder);
  const auto waits = [&](std::size_t row) {
    std::vector<std::int64_t> all;
    for (const Span& span : timeline.rows.at(row).spans)
      if (span.name != "forward" && span.time.begin < 100) all.push_back(span.wait);
    return all;
  };
  EXPECT_EQ(waits(0), (std::vector<std::int64_t>{10, 0, 0})) << "a message goes to one rank alone";
  EXPECT_EQ(waits(1), (std::vector<std::int64_t>{0, 10, 0}));
  EXPECT_EQ(shares_of(timeline, timeline.rows[0]).late_us, 10);
  EXPECT_EQ(shares_of(timeline, timeline.rows[0]).exposed_us, 25 + 20 + 3);
  EXPECT_EQ(shares_of(timeline, timeline.rows[1]).late_us, 5) << "the other half is hidden";
  EXPECT_EQ(window(timeline, 0, 1).rows[0].spans[1].wait, 10);

  const std::string text = rank(1, 10);
  stream.write(1, text.substr(0, text.find(R"({"name":"forward")", text.find("allreduce"))));  // killed after the first
  timeline = read(stream.folder);
  EXPECT_EQ(waits(0), (std::vector<std::int64_t>{10, 0, 0})) << "nobody knows when a killed rank would have come";
}

Timeline of_iterations(int n) {
  Stream stream;
  for (int rank = 0; rank < 2; ++rank) {
    std::string text = "[\n" + event("broadcast", rank, 0, 0, 10);
    for (int i = 0; i < n; ++i) text += iteration(rank, 0, 1000 + 100 * i);
    stream.write(rank, text + event("evaluate", rank, 0, 1000 + 100 * n, 50) + end);
  }
  return read(stream.folder);
}

TEST(Window, HoldsItsIterationsAndNothingElse) {
  const Timeline whole = of_iterations(10), part = window(whole, 4, 3);
  EXPECT_EQ(part.first_iteration, 4);
  EXPECT_EQ(part.n_iterations, 10);
  EXPECT_EQ(part.began_us, whole.began_us) << "the training's";
  for (const Row& row : part.rows) {
    EXPECT_EQ(row.iterations.size(), 3u);
    EXPECT_EQ(row.spans.size(), 9u);
    EXPECT_EQ(row.spans.front().time.begin, 1400);
  }
  EXPECT_EQ(window(whole, 0, 1).rows[0].spans.front().name, "broadcast") << "the set-up stays with the first";
  EXPECT_EQ(window(whole, 9, 5).rows[0].spans.back().name, "evaluate") << "and the evaluation with the last";
  EXPECT_THROW(window(whole, 10, 1), Error);
}

TEST(Window, ALongTrainingIsShortenedToWhatABrowserCanShow) {
  const Timeline whole = of_iterations(500), part = shortened(whole, 600);
  std::size_t n = 0;
  for (const Row& row : part.rows) n += row.spans.size();
  EXPECT_LE(n, 610u);
  EXPECT_GE(n, 500u);
  EXPECT_EQ(part.n_iterations, 500);
  EXPECT_EQ(shortened(part).rows[0].spans.size(), part.rows[0].spans.size());
  const Timeline later = shortened(window(whole, 100, 300), 600);
  EXPECT_EQ(later.first_iteration, 100);
  EXPECT_EQ(later.rows[0].iterations,
            window(whole, 100, static_cast<int>(later.rows[0].iterations.size())).rows[0].iterations);
}

TEST(TimelinePage, HoldsAllThatItNeeds) {
  const Timeline timeline = of_iterations(3);
  const PageTexts texts{"<multi> gpu", "en", {.cpu = "A CPU", .cores = 2}, "2026-01-31 14:05"};
  const std::string page = to_page(timeline, texts, "var d3 = '</script>';");
  EXPECT_NE(page.find("&lt;multi&gt; gpu"), std::string::npos);
  EXPECT_NE(page.find("A CPU, 2 cores"), std::string::npos);
  EXPECT_NE(page.find("2026-01-31 14:05"), std::string::npos);
  EXPECT_NE(page.find("var d3 = '<\\/script>'"), std::string::npos);
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos) << "nothing comes from elsewhere";
  EXPECT_EQ(page.find("href="), std::string::npos);
  EXPECT_NE(page.find("<html lang=\"en\">"), std::string::npos);

  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const auto data = parse_json(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["rows"].size(), 2u);
  EXPECT_EQ(data["rows"][0]["spans"].size(), 11u);
  EXPECT_EQ(data["rows"][0]["exposed"], 10);
  const auto& first = data["rows"][0]["spans"][0];
  EXPECT_EQ(data["names"][first[0].get<int>()], "broadcast");
  EXPECT_EQ(data["kinds"][first[0].get<int>()], "communication");
  EXPECT_EQ(data["kinds"].size(), data["names"].size());
  EXPECT_EQ(data["rows"][0]["late"], 0);
  EXPECT_EQ(first.size(), 5u) << "its name, begin, length, bytes and wait";
  EXPECT_NE(page.find("What each device did: 2 ranks, one device each"), std::string::npos);
}

TEST(TimelinePage, IsInJapaneseIfAskedFor) {
  const std::string page = to_page(of_iterations(1), {"x", "ja", {}, ""}, "");
  EXPECT_NE(page.find("<html lang=\"ja\">"), std::string::npos);
}

TEST(TimelinePage, ANamedD3MustBeThere) {
  setenv("ODORI_D3_JS", "/no/such/file.js", 1);
  EXPECT_THROW(read_d3(), Error);
  unsetenv("ODORI_D3_JS");
}

}  // namespace
}  // namespace odori::timeline
