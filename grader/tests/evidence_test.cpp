// SPDX-License-Identifier: Apache-2.0
// Evidence: what is read of a run's files, however it ended.
#include "runner/evidence.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "observe/evidence.h"
#include "runner/evidence_files.h"
#include "runner/run.h"

namespace odori::grader {
namespace {

const EvidenceLimits limits{.devices = 8, .images = 100, .calls = 50, .parameters = 10};

RankSeen read(const std::string& lines) { return read_rank(lines, limits); }

std::string numbers(std::vector<float> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

/// A training by these models, model i with iterator i.
std::string training(const std::vector<std::string>& images) {
  std::vector<std::string> iterators, models;
  for (const std::string& of_one : images) {
    models.push_back(std::to_string(models.size()));
    iterators.push_back(fmt::format(R"({{"batch_size":2,"repeat":1,"images":[{}],"not_counted":[]}})", of_one));
  }
  return fmt::format(
      R"({{"fact":"training","kind":"ParallelUpdater","devices":[{{"name":"main","device":0}}],)"
      R"("iterators":[{}],"models":[{}],"evaluators":[{{"device":0,"iterator":{{"batch_size":2,"repeat":0,)"
      R"("images":[1,2,3],"not_counted":[]}}}}]}})"
      "\n",
      fmt::join(iterators, ","), fmt::join(models, ","));
}

std::string step(int device, const std::string& images, const std::vector<float>& values) {
  return fmt::format("{{\"fact\":\"step\",\"device\":{},\"images\":[{}],\"numbers\":{}}}\n", device, images,
                     values.size()) +
         numbers(values);
}

const std::string updated = "{\"fact\":\"updated\"}\n", trained = "{\"fact\":\"trained\"}\n",
                  evaluation = "{\"fact\":\"evaluation\",\"loss\":1.5,\"accuracy\":0.5,\"samples\":3}\n",
                  passed = "{\"fact\":\"blanks_passed\"}\n";

std::string use_device(int device) { return fmt::format("{{\"fact\":\"use_device\",\"device\":{}}}\n", device); }

TEST(Evidence, OfARankThatWroteNothingIsEmpty) {
  const RankSeen seen = read("");
  EXPECT_TRUE(!seen.device && seen.steps.empty() && !seen.error && !seen.forged);
}

TEST(Evidence, EndsBeforeAHalfWrittenLine) {
  const RankSeen seen = read(use_device(1) + "{\"fact\":\"to_device\",\"dev");
  EXPECT_EQ(seen.device, 1);
  EXPECT_FALSE(seen.model_device);
  const auto forged = [](const std::string& lines) { return read(lines).forged.value_or(Finding{}).key; };
  EXPECT_EQ(forged(use_device(1) + "{\"fact\":\"to_device\",\"dev"), "evidence_changed") << "the length is set last";
  const std::string whole = step(1, "2,3", {1, 2});
  EXPECT_EQ(forged(whole), "");
  EXPECT_EQ(forged(whole.substr(0, whole.size() - 1)), "evidence_changed");
}

TEST(Evidence, GoesOnBehindALineThatIsNoFact) {
  EXPECT_EQ(read("nonsense\n[1]\n{\"fact\":\"use_device\"}\n" + use_device(2)).device, 2);
}

TEST(Evidence, PutsAnUpdateTogetherInWhateverOrderDevicesWrite) {
  const RankSeen seen =
      read(training({"7,8", "5,6"}) + step(1, "5,6", {3, 4}) + step(0, "7,8", {1, 2}) + updated + step(0, "9", {1, 2}));
  ASSERT_EQ(seen.steps.size(), 1u);  // the second update never ended
  ASSERT_EQ(seen.steps[0].size(), 2u);
  EXPECT_EQ(seen.steps[0][0].images, (Images{7, 8}));
  EXPECT_EQ(seen.steps[0][1].images, (Images{5, 6}));
  EXPECT_EQ(seen.steps[0][1].parameters, (std::vector<float>{3, 4}));
  EXPECT_FALSE(seen.forged);
}

TEST(Evidence, LeavesOutNumbersThatAreNotThere) {
  const RankSeen seen =
      read(training({"7,8"}) + "{\"fact\":\"step\",\"device\":0,\"images\":[7,8],\"numbers\":9}\nfour");
  EXPECT_TRUE(seen.steps.empty());
}

TEST(Evidence, IsWhatTheTrainingUsesAndNotWhatWasAskedForBefore) {
  const std::string decoys =
      use_device(5) +
      "{\"fact\":\"devices\",\"devices\":[{\"name\":\"decoy\",\"device\":7}]}\n"
      "{\"fact\":\"updater\",\"kind\":\"Decoy\",\"iterators\":[]}\n"
      "{\"fact\":\"evaluator\",\"device\":7,\"iterator\":{\"batch_size\":1,\"repeat\":1,\"images\":[9],"
      "\"not_counted\":[]}}\n";
  for (const std::string& lines : {decoys + training({"7,8"}), training({"7,8"}) + decoys,
                                   training({"7,8"}) + step(0, "7,8", {1}) + updated + trained + decoys}) {
    const RankSeen seen = read(lines);
    EXPECT_EQ(seen.device, 0);
    EXPECT_EQ(seen.model_device, 0);
    EXPECT_EQ(seen.devices, (std::map<std::string, int>{{"main", 0}}));
    EXPECT_EQ(seen.updater, "ParallelUpdater");
    ASSERT_EQ(seen.train_iterators.size(), 1u);
    EXPECT_EQ(seen.evaluator_device, 0);
    EXPECT_EQ(seen.test_iterator->images, (Images{1, 2, 3}));
    EXPECT_FALSE(seen.forged);
  }
}

TEST(Evidence, OfUpdatesAndEvaluationsCountsBetweenTheTrainingsEndsAlone) {
  const std::string facts = step(0, "7,8", {1}) + updated + evaluation;
  const RankSeen seen = read(facts + training({"7,8"}) + facts + trained + facts);
  EXPECT_EQ(seen.steps.size(), 1u);
  EXPECT_EQ(seen.evaluations.size(), 1u);
}

TEST(Evidence, OfTwoTrainingsIsForged) {
  const std::string once = training({"7,8"}) + step(0, "7,8", {1}) + updated + trained;
  EXPECT_FALSE(read(once).forged);
  ASSERT_TRUE(read(once + once).forged);
  EXPECT_EQ(read(once + once).forged->key, "trained_twice");
}

TEST(Evidence, OfSeveralTrainingsThatAreToBeIsOfTheLast) {
  const std::string first = training({"7,8"}) + step(0, "7,8", {1}) + updated + step(0, "7,8", {2}) + updated +
                            evaluation + trained,
                    last = training({"5,6"}) + step(0, "5,6", {3}) + updated + evaluation + trained;
  EvidenceLimits two = limits;
  two.trainings = 2;
  const RankSeen seen = read_rank(first + last, two);
  EXPECT_FALSE(seen.forged);
  EXPECT_EQ(seen.earlier_trainings, 1);
  EXPECT_EQ(seen.earlier_updates, 2u);
  ASSERT_EQ(seen.steps.size(), 1u);
  EXPECT_EQ(seen.steps.front().front().parameters, (std::vector<float>{3}));
  EXPECT_EQ(seen.evaluations.size(), 1u);
  EXPECT_EQ(read_rank(first, two).earlier_trainings, 0);
  EXPECT_EQ(read_rank(first + first + last, two).forged->key, "trained_twice");
}

TEST(Evidence, OfATrainingInABlankIsForged) {
  const std::string once = training({"7,8"}) + step(0, "7,8", {1}) + updated + trained;
  EXPECT_FALSE(read_rank(passed + once, limits, true).forged);
  ASSERT_TRUE(read_rank(once + passed, limits, true).forged);
  EXPECT_EQ(read_rank(once + passed, limits, true).forged->key, "trained_in_a_blank");
}

TEST(Evidence, OfAFailureThatCountsAsNoneIsForged) {
  const auto failure = [](int code) {
    return fmt::format("{{\"fact\":\"failure\",\"sentence\":\"x\",\"code\":{}}}\n", code);
  };
  EXPECT_FALSE(read(failure(1)).forged);
  ASSERT_TRUE(read(failure(0)).forged);
  EXPECT_EQ(read(failure(0)).forged->key, "thrown_as_if_well");
}

TEST(Evidence, OfImagesThatAreNotTheIteratorsIsForged) {
  const auto forged = [](const std::string& lines) {
    const RankSeen seen = read(lines);
    return seen.forged ? seen.forged->key : "";
  };
  const std::string both = training({"7,8", "5,6"}), end = updated + trained;
  EXPECT_EQ(forged(both + step(0, "7,8", {1}) + step(1, "5,6", {1}) + end), "");
  EXPECT_EQ(forged(both + step(0, "5,6", {1}) + step(1, "7,8", {1}) + end), "evidence_other_images");
  EXPECT_EQ(forged(both + step(0, "7,8", {1}) + step(1, "5,5", {1}) + end), "evidence_other_images");
  EXPECT_EQ(forged(both + step(0, "7,8", {1}) + step(1, "5,5", {1}) + updated), "");  // it may still come
}

TEST(Evidence, OfMoreThanThereCanBeIsForged) {
  std::string many_devices = training({"7,8"}), many_updates = training({"7,8"}), many_images = "7";
  for (int i = 0; i < 9; ++i) many_devices += step(i, "7,8", {1});
  for (int i = 0; i < 51; ++i) many_updates += step(0, "7,8", {1}) + updated, many_images += ",7,8";
  for (const std::string& lines :
       {many_devices + updated, many_updates, training({many_images}), training(std::vector<std::string>(9, "7")),
        training({"7,8"}) + step(0, "7,8", std::vector<float>(11)), training({"7,8"}) + step(0, many_images, {1}),
        std::string(300'000, ' ')}) {
    const RankSeen seen = read(lines);
    ASSERT_TRUE(seen.forged) << lines.substr(0, 300);
    EXPECT_EQ(seen.forged->key, "evidence_too_much");
  }
}

TEST(Evidence, TellsInWhichCallARankStays) {
  const RankSeen seen = read(
      "{\"fact\":\"enter\",\"collective\":\"scatter_dataset()\"}\n{\"fact\":\"leave\",\"collective\":\"scatter_dataset("
      ")\"}\n"
      "{\"fact\":\"enter\",\"collective\":\"optimizer->update()\"}\n");
  EXPECT_EQ(seen.collectives, (std::vector<std::string>{"scatter_dataset()", "optimizer->update()"}));
  EXPECT_TRUE(seen.inside_collective);
}

TEST(Evidence, TellsCollectivesWithinAnAlgorithmFromThoseAroundIt) {
  const auto enter = [](const std::string& call) { return "{\"fact\":\"enter\",\"collective\":\"" + call + "\"}\n"; };
  const std::string leave = "{\"fact\":\"leave\",\"collective\":\"any\"}\n";
  const RankSeen seen = read(leave + enter("setup()") + leave + enter("update()") + enter("comm->sum()") + leave +
                             enter("comm->barrier()"));
  EXPECT_EQ(seen.collectives, (std::vector<std::string>{"setup()", "update()"}));
  EXPECT_EQ(seen.inner_collectives, (std::vector<std::string>{"comm->sum()", "comm->barrier()"}));
  EXPECT_TRUE(seen.inside_collective);
}

TEST(Evidence, HoldsMessagesAndValues) {
  const auto shown = [](const std::vector<float>& values) {
    return fmt::format("{{\"fact\":\"values\",\"length\":{0},\"numbers\":{0}}}\n", values.size()) + numbers(values);
  };
  const RankSeen seen = read(
      "{\"fact\":\"message_done\"}\n"
      "{\"fact\":\"message\",\"call\":\"exchange\",\"to\":1,\"sent\":4,\"from\":2,\"received\":5}\n{\"fact\":\"message_"
      "done\"}\n" +
      shown({1, 2.5f}) + shown({}) +
      "{\"fact\":\"message\",\"call\":\"send\",\"to\":1,\"sent\":99999999999,\"from\":-1,\"received\":-1}\n");
  ASSERT_EQ(seen.messages.size(), 2u);
  const MessageSeen &first = seen.messages[0], &last = seen.messages[1];
  EXPECT_EQ(first.call, "exchange");
  EXPECT_EQ((std::vector{first.to, first.sent, first.from, first.received}), (std::vector{1, 4, 2, 5}));
  EXPECT_TRUE(first.done);
  EXPECT_EQ(last.from, -1);
  EXPECT_GT(last.sent, 1000);
  EXPECT_FALSE(last.done);
  EXPECT_EQ(seen.values, (std::vector<std::vector<float>>{{1, 2.5f}, {}}));
  EXPECT_FALSE(seen.forged);
  std::string many;
  for (int i = 0; i < 51; ++i) many += shown({});
  EXPECT_TRUE(read(many).forged);
  EXPECT_TRUE(read(shown(std::vector<float>(11))).forged);
}

TEST(Evidence, HoldsEventsInTheirOrder) {
  const auto event = [](const char* what, const char* about) {
    return fmt::format("{{\"fact\":\"event\",\"what\":\"{}\",\"about\":[{}]}}\n", what, about);
  };
  const RankSeen seen = read(event("start", "0,320") + event("wait", "") + "{\"fact\":\"event\",\"what\":7}\n");
  ASSERT_EQ(seen.events.size(), 2u);
  EXPECT_EQ(seen.events[0].what, "start");
  EXPECT_EQ(seen.events[0].about, (std::vector<std::int64_t>{0, 320}));
  EXPECT_EQ(seen.events[1].what, "wait");
  EXPECT_TRUE(seen.events[1].about.empty());
  std::string many;
  for (int i = 0; i < 51; ++i) many += event("wait", "");
  EXPECT_TRUE(read(many).forged);
}

/// The reader knows what the library writes.
TEST(Evidence, HasTheSameFactsAsTheLibrary) {
  const auto line = [](const auto& fact) {
    const std::string fields = facts::args_of(fact).json();
    return fmt::format("{{\"fact\":\"{}\"{}{}}}\n", fact.fact, fields.empty() ? "" : ",", fields);
  };
  const facts::Iterator iterator{.batch_size = 2, .repeat = 1, .images = {7, 8}, .not_counted = {9}};
  EXPECT_EQ(line(facts::Evaluator{3, iterator}),
            "{\"fact\":\"evaluator\",\"device\":3,\"iterator\":{\"batch_size\":2,\"repeat\":1,\"images\":[7,8],"
            "\"not_counted\":[9]}}\n");
  EXPECT_EQ(line(facts::Trained{}), trained);
  const RankSeen seen = read(
      line(facts::UseDevice{4}) + line(facts::LoadCifar{}) + line(facts::Enter{"call"}) +
      line(facts::Training{
          .kind = "another", .devices = {}, .iterators = {iterator}, .models = {1}, .evaluators = {{2, iterator}}}) +
      line(facts::Evaluation{std::numeric_limits<double>::infinity(), 0.5, 3}));
  EXPECT_EQ(seen.device, 1);
  EXPECT_TRUE(seen.loaded_data && seen.devices.empty() && seen.inside_collective);
  EXPECT_EQ(seen.collectives, std::vector<std::string>{"call"});
  EXPECT_EQ(seen.train_iterators.at(0).not_counted, Images{9});
  EXPECT_EQ(seen.evaluator_device, 2);
  ASSERT_EQ(seen.evaluations.size(), 1u);
  EXPECT_FALSE(std::isfinite(seen.evaluations[0].loss));
  EXPECT_EQ(seen.evaluations[0].samples, 3);
}

TEST(EvidenceFiles, HoldWhatIsWrittenAndSayWhenItIsTooMuch) {
  const ScratchFolder folder;
  EvidenceFiles files(folder.path(), 2);
  EXPECT_EQ(files.look(), 0u);
  const auto set = [&](std::uint64_t length, const std::string& text) {
    std::fstream file(files.paths().at(1), std::ios::in | std::ios::out | std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.seekp(observe::evidence_head_bytes) << text;
  };
  const std::string line = use_device(3);
  const auto forged = [&] {
    const auto finding = files.read(limits).at(1).forged;
    return finding ? finding->key : "";
  };
  set(line.size() - 1, line);
  EXPECT_EQ(forged(), "evidence_changed") << "the library leaves no fact half written";
  set(line.size(), line + use_device(4));
  EXPECT_EQ(files.look(), line.size());
  EXPECT_EQ(files.read(limits).at(1).device, 3);
  EXPECT_FALSE(files.read(limits).at(0).device);
  EXPECT_EQ(forged(), "");
  // What was there once stays, to the last byte.
  set(line.size(), use_device(4));
  EXPECT_EQ(forged(), "evidence_changed");
  set(line.size() - 1, line);
  EXPECT_EQ(forged(), "evidence_changed");
  set(~0ull, line);
  EXPECT_EQ(forged(), "evidence_too_much");
}

}  // namespace
}  // namespace odori::grader
