// SPDX-License-Identifier: Apache-2.0
// The event stream: readable JSON, also when the process was killed.
#include "trace/trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"

namespace odori {
namespace {

std::string new_folder(const char* name) { return ::testing::TempDir() + "odori_trace_" + name; }

TEST(Trace, IsStrictJsonWhenClosed) {
  const std::string folder = new_folder("closed");
  {
    const trace::File file(folder, 3);
    trace::set_device(1);
    { const trace::Span span("allreduce", 4096); }
    trace::instant("data loaded", trace::Args().add("images", 10).add("path", "a \"quoted\" \\ path"));
    std::thread([] {
      trace::set_device(2);
      trace::instant("of a thread");
    }).join();
  }
  const auto events = parse_json(read_file(folder + "/trace.3.json"));
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[1]["name"], "allreduce");
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_EQ(events[1]["pid"], 3);
  EXPECT_EQ(events[1]["tid"], 1);
  EXPECT_EQ(events[1]["args"]["bytes"], 4096);
  EXPECT_EQ(events[2]["args"]["path"], "a \"quoted\" \\ path");
  EXPECT_EQ(events[3]["tid"], 2);
  trace::set_device(0);
}

TEST(Trace, StaysReadableWhenTheProcessIsKilled) {
  const std::string folder = new_folder("killed");
  const pid_t child = fork();
  if (child == 0) {
    const trace::File file(folder, 0);
    for (int i = 0; i < 100; ++i) trace::instant("step", trace::Args().add("i", i));
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  std::string text = read_file(folder + "/trace.0.json");
  // Chrome and Perfetto accept the missing end; a strict parser gets it once it is put there.
  text.erase(text.rfind(','));
  const auto events = parse_json(text + "]");
  EXPECT_EQ(events.size(), 101u);
  EXPECT_EQ(events.back()["args"]["i"], 99);
}

TEST(Trace, TakesAwayWhatMoreRanksLeftAndNothingElse) {
  const std::string folder = new_folder("again");
  std::filesystem::create_directories(folder);
  const std::vector<std::string> others{"trace.html", "trace.1.json.gz", "trace.x.json", "trace.-1.json",
                                        "mytrace.2.json"};
  for (const char* old : {"trace.0.json", "trace.1.json", "trace.2.json", "trace.13.json"})
    std::ofstream(folder + '/' + old) << "old";
  for (const std::string& other : others) std::ofstream(folder + '/' + other) << "other";
  const auto is_there = [&](const std::string& name) { return std::filesystem::exists(folder + '/' + name); };

  { const trace::File file(folder, 1, 2); }  // before rank 0: only rank 0 clears
  EXPECT_TRUE(is_there("trace.2.json"));
  { const trace::File file(folder, 0, 2); }
  EXPECT_FALSE(is_there("trace.2.json"));
  EXPECT_FALSE(is_there("trace.13.json"));
  EXPECT_EQ(parse_json(read_file(folder + "/trace.1.json"))[0]["args"]["name"], "rank 1");
  EXPECT_EQ(parse_json(read_file(folder + "/trace.0.json"))[0]["args"]["name"], "rank 0");
  for (const std::string& other : others) EXPECT_EQ(read_file(folder + '/' + other), "other") << other;
  std::filesystem::remove_all(folder);
}

TEST(Trace, TwoTrainingsDoNotMixTheirStreams) {
  const std::string folder = new_folder("two");
  const trace::File first(folder, 0);
  trace::instant("of the first");
  const std::string before = read_file(folder + "/trace.0.json");
  const pid_t child = fork();
  if (child == 0) {
    try {
      const trace::File second(folder, 0);
    } catch (const Error& error) {
      _exit(std::string(error.what()).starts_with("Another training writes its event stream into") ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(folder + "/trace.0.json"), before);
}

TEST(Trace, AFolderThatCannotBeMadeAndAPipeAreErrors) {
  const auto said = [](const std::string& folder) {
    try {
      const trace::File file(folder, 0);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(said("/dev/null/trace").find("Not a directory"), std::string::npos);
  EXPECT_NE(said("/sys/trace").find("ermi"), std::string::npos) << "why the folder isn't there, not that it isn't";
  const std::string folder = new_folder("pipe");
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "/trace.0.json");
  ASSERT_EQ(mkfifo((folder + "/trace.0.json").c_str(), 0600), 0);
  EXPECT_NE(said(folder).find("can't be written"), std::string::npos);
}

TEST(Trace, WritesNothingWhenOff) {
  { const trace::File off("", 0); }
  EXPECT_FALSE(trace::on());
  trace::instant("nobody reads this");
  const trace::Span span("nor this");
}

TEST(Trace, AFullDiskEndsTheStreamAndSaysSo) {
  const std::string folder = new_folder("full");
  const trace::File file(folder, 2);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) trace::instant("step");
  const std::string said = testing::internal::GetCapturedStderr();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(trace::on());
  EXPECT_NE(said.find("The event stream of rank 2 ends here: it can't be written ("), std::string::npos) << said;
  EXPECT_EQ(said.find("ends here"), said.rfind("ends here")) << "it is told once: " << said;
}

TEST(Trace, SaysWhereItCannotWrite) {
  try {
    const trace::File file("/proc/nowhere", 0);
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/proc/nowhere/trace.0.json"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace odori
