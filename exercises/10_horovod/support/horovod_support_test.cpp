// SPDX-License-Identifier: Apache-2.0
// Checkpoints that one rank writes and reads, test shards, and the first epoch of a resumed training.
#include "horovod_support.h"

#include <gtest/gtest.h>

#include <set>

#include "train_support.h"

namespace odori {
namespace {

using namespace test;

TEST(ShardOf, GivesEachImageToOneRank) {
  for (const int size : {1, 2, 3, 7}) {
    std::multiset<std::int64_t> all;
    for (int rank = 0; rank < size; ++rank) {
      const DatasetPtr shard = shard_of(images(23), rank, size);
      EXPECT_LE(shard->size(), 23u / static_cast<unsigned>(size) + 1);
      for (std::size_t i = 0; i < shard->size(); ++i) all.insert((*shard)[i].id);
    }
    EXPECT_EQ(all.size(), 23u);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 23u);
  }
}

/// Trains a model and saves a checkpoint after each epoch.
void train(Training& training, Arguments& args, int epochs) {
  Trainer trainer(*training.updater, epochs, args.out);
  trainer.extend(EpochEnd([&] { save_weights(args, trainer); }));
  trainer.run();
}

TEST(Checkpoints, OfOneRankAreReadByAnother) {
  const Folder folder;
  Arguments args;
  args.out = folder / std::to_string(horovod::init("flat").rank());
  args.keep = 2;
  Training first({.network = "mid", .optimizer = "adam"}, images(32)),
      second({.network = "mid", .seed = 3, .optimizer = "adam"}, images(32));
  EXPECT_EQ(load_weights(args, second.model, second.optimizer), 0) << "without --resume";
  train(first, args, 3);
  EXPECT_FALSE(std::filesystem::exists(args.out + "/checkpoint_epoch_1")) << "two are kept";
  args.resume = args.out;
  EXPECT_EQ(load_weights(args, second.model, second.optimizer), 3);
  EXPECT_TRUE(second.model.state().parameters == first.model.state().parameters);
  EXPECT_TRUE(second.model.state().statistics == first.model.state().statistics);
  EXPECT_TRUE(second.optimizer.state() == first.optimizer.state());
  EXPECT_EQ(second.optimizer.n_updates(), first.optimizer.n_updates());
  args.resume = args.out + "/checkpoint_epoch_2";
  EXPECT_EQ(load_weights(args, second.model, second.optimizer), 2);

  Training other({}, images(32));
  EXPECT_NE(sentence_of([&] { load_weights(args, other.model, other.optimizer); }).find("network"), std::string::npos);
  args.resume = folder / "nothing";
  EXPECT_NE(sentence_of([&] { load_weights(args, other.model, other.optimizer); }).find("There is no checkpoint in"),
            std::string::npos);
}

TEST(SkipEpochs, BeginsWithTheNextOneOnAllRanksOrRefuses) {
  const horovod::Horovod hvd = horovod::init("flat");
  Training skipped({}, images(32)), whole({}, images(32));
  skip_epochs(*skipped.updater, 2, hvd);
  EXPECT_EQ(skipped.updater->epoch(), 2);
  SerialIterator& iterator = whole.updater->iterators().front();
  while (iterator.epoch() < 2) iterator.next();
  const Batch *expected = iterator.next(), *seen = skipped.updater->iterators().front().next();
  for (std::size_t i = 0; i < expected->examples.size(); ++i) EXPECT_EQ(seen->examples[i].id, expected->examples[i].id);
  if (hvd.size() == 1) return;
  const std::string refusal = sentence_of([&] { skip_epochs(*skipped.updater, hvd.rank(), hvd); });
  EXPECT_TRUE(refusal.starts_with("The ranks don't start with the same epoch: 0, 1")) << refusal;
}

}  // namespace
}  // namespace odori
