// SPDX-License-Identifier: Apache-2.0
// Who waited for whom, from the collective calls that each rank entered.
#include <gtest/gtest.h>

#include "checks/findings.h"
#include "checks/verdict.h"

namespace odori::grader {
namespace {

RankSeen rank(std::vector<std::string> calls, bool inside) {
  RankSeen seen;
  seen.collectives = std::move(calls);
  seen.inside_collective = inside;
  return seen;
}

Finding hang(std::vector<RankSeen> ranks) {
  return find_hang({.ending = Ending::hung, .detail = "6", .ranks = std::move(ranks)});
}

TEST(Hang, TheOthersNeverCame) {
  EXPECT_EQ(hang({rank({"a", "b"}, true), rank({"a"}, false), rank({"a", "b"}, true), rank({"a"}, false)}),
            (Finding{"hang_collective", {{"seconds", "6"}, {"call", "b"}, {"waiting", "0, 2"}, {"missing", "1, 3"}}}));
  // The root alone has left the call: it has sent, and gone on to where nobody else comes.
  EXPECT_EQ(hang({rank({"a", "b"}, true), rank({}, false)}).values.at("missing"), "1");
}

TEST(Hang, TheOthersWaitInAnotherCall) {
  const Finding two = hang({rank({"a", "b"}, true), rank({"a"}, true)});
  EXPECT_EQ(two.key, "hang_two_collectives");
  EXPECT_EQ(two.values.at("call"), "b");
  EXPECT_EQ(two.values.at("other_call"), "a");
  EXPECT_EQ(hang({rank({"a"}, true), rank({"b"}, true)}).key, "hang_two_collectives");
}

RankSeen in_message(MessageSeen message) {
  RankSeen seen;
  seen.messages = {{"send", 1, 4, -1, -1, true}, std::move(message)};
  return seen;
}

TEST(Hang, RanksWaitInMessages) {
  EXPECT_EQ(
      hang({in_message({"send", 1, 4, -1, -1, false}), in_message({"exchange", 0, 4, 2, 4, false}),
            in_message({"receive", -1, -1, 0, 4, false}), in_message({"send", 0, 4, -1, -1, true}),
            rank({"barrier()"}, true)}),
      (Finding{"hang_messages",
               {{"seconds", "6"}, {"waits", "0 → 1 (send); 1 → 0, 1 ← 2 (exchange); 2 ← 0 (receive); 4: barrier()"}}}));
  EXPECT_EQ(hang({in_message({"send", 0, 4, -1, -1, true}), rank({}, false)}).key, "hang");
}

TEST(Hang, IsSaidBehindAKnownMisconception) {
  const auto said = [](Verdict verdict, Finding finding) {
    const auto hang = hang_behind({.blank = 1, .verdict = verdict, .finding = std::move(finding)});
    return hang ? hang->key : "";
  };
  EXPECT_EQ(said(Verdict::hang, {"sends_first", {{"waits", "0 → 1 (send)"}}}), "hang_messages");
  EXPECT_EQ(said(Verdict::hang, {"too_few", {{"waiting", "0"}}}), "hang_collective");
  EXPECT_EQ(said(Verdict::hang, {"hang_messages", {{"waits", "0 → 1 (send)"}}}), "");
  EXPECT_EQ(said(Verdict::wrong, {"sends_first", {{"waits", "0 → 1 (send)"}}}), "");
}

Finding calls_apart(std::vector<RankSeen> ranks) {
  return find_calls_apart({.ending = Ending::crashed, .ranks = std::move(ranks)}).value_or(Finding{"together", {}});
}

TEST(CallsApart, NamesTheFirstThatDiffers) {
  EXPECT_EQ(
      calls_apart({rank({"a", "b", "c"}, true), rank({"a", "x"}, true), rank({"a"}, false), rank({"a", "x"}, true)}),
      (Finding{"ranks_called_apart", {{"ranks", "0"}, {"call", "b"}, {"others", "1, 3"}, {"other_call", "x"}}}));
}

TEST(CallsApart, WhoIsOnlyBehindCalledNothingElse) {
  EXPECT_EQ(calls_apart({rank({"a", "b"}, true), rank({"a"}, true), rank({}, false)}).key, "together");
  EXPECT_EQ(calls_apart({}).key, "together");
}

TEST(Hang, NobodyWaitsForAnotherRank) {
  EXPECT_EQ(hang({rank({"a"}, false), rank({"a"}, false)}).key, "hang");
  EXPECT_EQ(hang({rank({}, false)}).key, "hang");
  EXPECT_EQ(hang({rank({"a"}, true), rank({"a"}, true)}).key, "hang");
  EXPECT_EQ(hang({}).key, "hang");
}

}  // namespace
}  // namespace odori::grader
