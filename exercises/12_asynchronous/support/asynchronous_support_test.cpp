// SPDX-License-Identifier: Apache-2.0
// A server and its workers: in virtual time, where states and gradients are handed over, and between MPI ranks.
#include "asynchronous_support.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "asynchronous_cases.h"
#include "comm/session.h"
#include "perceptron.h"
#include "sentence_of.h"
#include "synthetic.h"
#include "virtual_run.h"
#include "with_test_cases.h"

namespace odori {
namespace {

using test::sentence_of;

const AsynchronousCases cases{.runs = {{.curvature = {2}, .parameters = {1}, .seconds = {{1}, {2}}, .gradients = 3}},
                              .waits = {{{4, 7}, 2}},
                              .rates = {{0.5, 3}},
                              .logs = {{{{64, 2.5, 0.25}}, {0.2, 0.3}}}};
const bool started_again = start_again_with(cases);

/// A server that applies each gradient at once. `wait`: who waits.
Functions plain(std::function<bool(int, const std::vector<int>&, int)> wait = [](auto&&...) { return false; }) {
  Functions functions;
  functions.must_wait = std::move(wait);
  functions.rate_for = [](double rate, int) { return rate; };
  functions.seconds_to = [](double, const std::vector<LogEntry>& log) { return log.empty() ? 0 : log.front().seconds; };
  functions.work = [](WorkerEnd& server) {
    while (const std::optional<State> state = server.receive())
      server.send({server.gradient_at(state->parameters), state->version});
  };
  functions.serve = [must_wait = functions.must_wait](Server& server, ServerEnd& workers, const Settings& settings) {
    std::vector<int> clocks(static_cast<std::size_t>(server.n_workers));
    std::vector<bool> idle(clocks.size(), true);
    while (true) {
      for (std::size_t w = 0; w < idle.size(); ++w)
        if (idle[w] && workers.remaining() > 0 && !must_wait(static_cast<int>(w), clocks, settings.bound)) {
          workers.send(static_cast<int>(w), {server.parameters.copy(), server.version});
          idle[w] = false;
        }
      if (std::ranges::all_of(idle, std::identity())) break;
      const Gradient gradient = workers.receive();
      for (std::size_t i = 0; i < gradient.values.size(); ++i)
        server.parameters[i] -= static_cast<float>(settings.rate) * gradient.values[i];
      ++server.version;
      workers.applied(server, gradient, server.version - 1 - gradient.version, settings.rate);
      ++clocks[static_cast<std::size_t>(gradient.worker)];
      idle[static_cast<std::size_t>(gradient.worker)] = true;
    }
    workers.stop();
  };
  return functions;
}

struct Recorded {
  std::vector<Update> updates;
  bool ended = false;
};
Recorded record(VirtualRun one, const Functions& functions) {
  Recorded recorded;
  one.parameters = {1};
  one.gradient_at = [](int, std::span<const float> x) { return std::vector<float>(x.begin(), x.end()); };
  one.applied = [&](const Update& update, const Server&, const Gradient&) { recorded.updates.push_back(update); };
  recorded.ended = run(one, functions);
  return recorded;
}

std::vector<int> all(const std::vector<Update>& updates, int Update::*value) {
  std::vector<int> values;
  for (const Update& update : updates) values.push_back(update.*value);
  return values;
}

TEST(Array, SharesItsElements) {
  const Array one({1, 2});
  const Array same = one, copy = one.copy();
  one[0] = 7;
  EXPECT_EQ(same[0], 7);
  EXPECT_EQ(copy[0], 1);
  EXPECT_EQ(Array().size(), 0u);
}

TEST(VirtualRun, TakesTheSecondsOfEachGradient) {
  const Recorded seen = record({.seconds = {{4}, {1, 4}, {3}, {2, 5}}, .gradients = 7}, plain());
  EXPECT_TRUE(seen.ended);
  EXPECT_EQ(all(seen.updates, &Update::worker), (std::vector{1, 3, 2, 0, 1, 2, 3}));
  EXPECT_EQ(all(seen.updates, &Update::staleness), (std::vector{0, 1, 2, 3, 3, 2, 4})) << "the slides' example";
  EXPECT_EQ(seen.updates.back().fetched, 2);
  EXPECT_EQ(seen.updates.back().arrived, 7);
}

TEST(VirtualRun, HasTheLowestWorkerFirst) {
  const Recorded seen = record({.version = 9, .seconds = {{1}, {1}, {1}}, .gradients = 7}, plain());
  EXPECT_EQ(all(seen.updates, &Update::worker), (std::vector{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(all(seen.updates, &Update::new_version), (std::vector{10, 11, 12, 13, 14, 15, 16}));
}

TEST(VirtualRun, TakesTheTimeOfMessages) {
  const Recorded seen =
      record({.seconds = {{1}}, .gradients = 2, .link = {.latency = 0.25, .bandwidth = 16}}, plain());  // 4 bytes
  EXPECT_EQ(seen.updates.front().fetched, 0.5);
  EXPECT_EQ(seen.updates.front().arrived, 2);
  EXPECT_EQ(seen.updates.back().arrived, 4);
}

TEST(VirtualRun, HandsStatesOverWithoutACopy) {
  Functions functions = plain();
  functions.serve = [](Server& server, ServerEnd& workers, const Settings&) {
    workers.send(0, {server.parameters, server.version});
    server.parameters[0] = 3;
    const Gradient gradient = workers.receive();
    EXPECT_EQ(gradient.values[0], 3);
    workers.stop();
  };
  record({.seconds = {{1}}, .gradients = 1}, functions);
}

TEST(VirtualRun, EndsIfAllWorkersWait) {
  const auto wait = [](int, const std::vector<int>& clocks, int) { return clocks.front() > 1; };
  const Recorded seen = record({.seconds = {{1}, {1}}, .gradients = 9}, plain(wait));
  EXPECT_FALSE(seen.ended);
  EXPECT_EQ(seen.updates.size(), 4u);
  EXPECT_NE(
      sentence_of([&] { show_quadratic(plain([](auto&&...) { return true; }), testing::TempDir()); }).find("blank 4"),
      std::string::npos);
}

TEST(VirtualRun, ThrowsWhatAFunctionThrows) {
  Functions functions = plain();
  functions.serve = [](Server&, ServerEnd&, const Settings&) { throw Error("Blank 3.", exit_code::unfilled); };
  try {
    record({.seconds = {{1}, {1}}, .gradients = 9}, functions);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Blank 3.");
    EXPECT_EQ(error.code(), exit_code::unfilled);
  }
}

TEST(TestCases, AreAllAsked) {
  std::string asked;
  Functions functions = plain();
  const auto serve = functions.serve;
  functions.serve = [&](Server& server, ServerEnd& workers, const Settings& settings) {
    asked += fmt::format("{} gradients of {} workers, ", workers.remaining(), server.n_workers);
    serve(server, workers, settings);
  };
  functions.must_wait = [&](int worker, const std::vector<int>& clocks, int bound) {
    asked += fmt::format("worker {} at {} with {}, ", worker, clocks.at(static_cast<std::size_t>(worker)), bound);
    return false;
  };
  functions.rate_for = [&](double rate, int staleness) {
    asked += fmt::format("{} / {}, ", rate, staleness);
    return rate;
  };
  functions.seconds_to = [&](double accuracy, const std::vector<LogEntry>& log) {
    asked += fmt::format("{} after {} images in {} s, ", accuracy, log.at(0).images, log.at(0).seconds);
    return infinity;
  };
  EXPECT_TRUE(started_again);
  EXPECT_TRUE(run_test_cases(functions));
  EXPECT_EQ(asked,
            "3 gradients of 2 workers, worker 0 at 4 with 2, worker 1 at 7 with 2, 0.5 / 3, "
            "0.2 after 64 images in 2.5 s, 0.3 after 64 images in 2.5 s, ");
}

/// On the synthetic set.
class Training : public testing::Test {
 protected:
  static void SetUpTestSuite() { synthetic::write_set(folder(), {.train = 200, .test = 50, .seed = 3}); }
  static std::filesystem::path folder() {
    return testing::TempDir() + "/odori_asynchronous_" + std::to_string(getpid());
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  const Arguments args{.dataset = folder().string(), .epoch = 3, .learnrate = 0.01f};
};

TEST_F(Training, GivesEachWorkerItsBatches) {
  PerceptronOfWorkers one(args, 16, 2), other(args, 16, 2);
  std::vector<float> parameters = one.initial_parameters();
  const std::vector<float> gradient = one.gradient_at(0, parameters);
  EXPECT_EQ(gradient.size(), parameters.size());
  EXPECT_NE(gradient, one.gradient_at(1, parameters));
  EXPECT_NE(gradient, one.gradient_at(0, parameters)) << "the next batch";
  other.gradient_at(1, parameters);
  EXPECT_EQ(gradient, other.gradient_at(0, parameters)) << "whatever other workers do";
  const double accuracy = one.accuracy(parameters);
  EXPECT_GE(accuracy, 0);
  EXPECT_LE(accuracy, 1);
  parameters[5] = NAN;
  EXPECT_EQ(one.accuracy(parameters), 0);
}

TEST_F(Training, ComparesRunsAndWritesPages) {
  testing::internal::CaptureStdout();
  compare_runs(plain(), args, {.batchsize = 16, .workers = 3, .bound = 1, .out = folder() / "out"});
  const std::string said = testing::internal::GetCapturedStdout();
  for (const char* words : {"1 worker ", "3 workers", "bound 1", "images/s", "images.html", "seconds.html"})
    EXPECT_NE(said.find(words), std::string::npos) << said;
  EXPECT_TRUE(std::filesystem::exists(folder() / "out" / "seconds.html"));
}

TEST_F(Training, RunsBetweenRanks) {
  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  testing::internal::CaptureStdout();
  train_on_ranks(plain(), args, {.batchsize = 16}, *comm);
  const std::string said = testing::internal::GetCapturedStdout();
  if (comm->rank() == 0) {
    EXPECT_NE(said.find("2 workers: "), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace odori
