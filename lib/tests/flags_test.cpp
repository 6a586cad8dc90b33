// SPDX-License-Identifier: Apache-2.0
// Flags: what is accepted, what is refused, and how that is said.
#include <gtest/gtest.h>

#include "errors/error.h"
#include "flags/arguments.h"

namespace odori {
namespace {

const Program single_gpu{.name = "single_gpu", .about = "One device."},
    multi_gpu{.name = "multi_gpu", .about = "Several devices.", .several_devices = true},
    multi_node{.name = "multi_node", .about = "Several nodes.", .communicator = true};

Arguments parse(std::vector<std::string> words, const Program& program = multi_gpu) {
  words.insert(words.begin(), "train_cifar");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_arguments(static_cast<int>(argv.size()), argv.data(), program);
}

std::string refusal(const std::vector<std::string>& words, const Program& program = multi_gpu) {
  try {
    parse(words, program);
  } catch (const UsageError& error) {
    EXPECT_EQ(error.code(), exit_code::usage);
    return error.what();
  }
  return "accepted";
}

/// As refusal(), in the language of this environment.
std::string refusal_in(const char* language, const std::vector<std::string>& words) {
  ::setenv("LC_ALL", language, 1);
  const std::string said = refusal(words);
  ::setenv("LC_ALL", "C", 1);
  return said;
}

TEST(Arguments, TakesTheFlagsOfTheOriginals) {
  const Arguments args = parse({"--dataset", "synthetic", "--epoch", "4", "--batchsize", "32", "--learnrate", "0.1",
                                "--n-gpus", "3", "--out", "there", "--no-snapshot", "--device", "cpu"});
  EXPECT_EQ(args.dataset, "synthetic");
  EXPECT_EQ(args.epoch, 4);
  EXPECT_EQ(args.batchsize, 32);
  EXPECT_FLOAT_EQ(args.learnrate, 0.1f);
  EXPECT_EQ(args.n_gpus, 3);
  EXPECT_EQ(args.out, "there");
  EXPECT_TRUE(args.no_snapshot);
  EXPECT_EQ(args.devices.request, DeviceRequest::cpu);
  EXPECT_EQ(args.gradient_rule, GradientRule::mean);
  EXPECT_EQ(parse({"--compat", "chainer"}).gradient_rule, GradientRule::sum);
}

TEST(Arguments, TakesAnOptimizerWhereTheProgramReadsOne) {
  const Program program{.name = "single_gpu", .about = "-", .optimizer = true};
  EXPECT_EQ(parse({}, program).optimizer, "momentum");
  EXPECT_FLOAT_EQ(parse({"--optimizer", "momentum"}, program).learnrate, 0.05f);
  EXPECT_FLOAT_EQ(parse({"--optimizer", "adam"}, program).learnrate, 0.001f);
  EXPECT_FLOAT_EQ(parse({"--optimizer", "adam", "--learnrate", "0.01"}, program).learnrate, 0.01f);
  EXPECT_NE(refusal({"--optimizer", "Adam"}, program), "accepted");
  EXPECT_NE(refusal({"--optimizer", "adam"}), "accepted") << "a program that reads none";
}

TEST(Arguments, TakesPrecisionAndAlgorithms) {
  EXPECT_FALSE(parse({}).devices.precision.has_value());
  const Arguments args = parse({"--precision", "bf16", "--workspace-mib", "64", "--autotune", "--show-algorithms"});
  EXPECT_EQ(args.devices.precision, Precision::bf16);
  EXPECT_EQ(args.devices.workspace_mib, 64);
  EXPECT_TRUE(args.autotune.measure);
  EXPECT_TRUE(args.autotune.show);
  EXPECT_NE(refusal({"--precision", "fp16"}).find("--precision takes fp32, tf32 or bf16, not \"fp16\"."),
            std::string::npos);
  EXPECT_NE(refusal({"--workspace-mib", "-1"}), "accepted");
}

TEST(Arguments, CommunicatorFollowsTheDevices) {
  EXPECT_EQ(parse({"--device", "cpu"}, multi_node).communicator, "flat");
  EXPECT_EQ(parse({"--communicator", "naive"}, multi_node).communicator, "naive");
  EXPECT_NE(refusal({"--communicator", "nayve"}, multi_node).find("not \"nayve\". Did you mean naive?"),
            std::string::npos);
}

TEST(Arguments, OfRanksSayHowGradientsAreExchanged) {
  const auto of_ranks = [](const std::vector<std::string>& words) { return parse(words, multi_node); };
  EXPECT_EQ(of_ranks({}).exchange, ExchangeOptions());
  EXPECT_FALSE(of_ranks({}).accumulate.has_value());
  EXPECT_TRUE(of_ranks({"--double-buffering"}).exchange.double_buffering);
  EXPECT_TRUE(of_ranks({"--sharded"}).exchange.sharded);
  EXPECT_EQ(of_ranks({"--allreduce-dtype", "bf16"}).exchange.dtype, Dtype::bf16);
  EXPECT_EQ(of_ranks({"--bucket-mib", "25"}).exchange.bucket_mib, 25);
  EXPECT_EQ(of_ranks({"--accumulate", "4"}).accumulate, 4);
  EXPECT_EQ(of_ranks({"--warmup-epochs", "5"}).warmup_epochs, 5);
  EXPECT_TRUE(of_ranks({"--scale-learnrate"}).scale_learnrate);
  EXPECT_NE(refusal({"--allreduce-dtype", "fp8"}, multi_node)
                .find("--allreduce-dtype takes fp32, fp16 or bf16, not \"fp8\"."),
            std::string::npos);
  EXPECT_NE(refusal({"--accumulate", "0"}, multi_node), "accepted");
  EXPECT_NE(refusal({"--bucket-mib", "-1"}, multi_node), "accepted");
  EXPECT_NE(refusal({"--double-buffering"}, multi_gpu), "accepted") << "a flag of ranks";
}

TEST(Arguments, AProgramMayHaveFlagsOfItsOwn) {
  int length = 1000;
  std::string timings = "none";
  const Program program{
      .name = "algorithm",
      .about = "An algorithm, tried, and then trained with.",
      .least_epochs = 0,
      .learnrate = 0.25f,
      .own = {{"--length", "How many numbers", &length, 0, 100}, {"--timings", "What was", &timings}}};
  const Arguments args = parse({"--epoch", "0"}, program);
  EXPECT_EQ(args.epoch, 0);
  EXPECT_EQ(args.out, "out/algorithm");
  EXPECT_EQ(args.learnrate, 0.25f);
  EXPECT_EQ(length, 1000);
  EXPECT_EQ(timings, "none");
  parse({"--length", "0", "--timings", "32:0.1"}, program);
  EXPECT_EQ(length, 0);
  EXPECT_EQ(timings, "32:0.1");
  EXPECT_NE(refusal({"--length", "101"}, program).find("--length takes a whole number from 0 to 100"),
            std::string::npos);
  EXPECT_NE(refusal({"--communicator", "flat"}, program), "accepted") << "it has its own";
  EXPECT_NE(refusal({"--length", "7"}, multi_node), "accepted");
  EXPECT_NE(refusal({"--epoch", "0"}, multi_node), "accepted");
}

TEST(Arguments, AProgramThatDoesNotTrainHasNoFlagsOfTrainings) {
  const Program program{.name = "formulas", .about = "Formulas.", .trains = false};
  EXPECT_EQ(parse({"--model", "mid", "--precision", "fp32"}, program).model, "mid");
  for (const char* flag : {"--epoch", "--dataset", "--resume", "--learnrate", "--seed", "--out"})
    EXPECT_EQ(refusal({flag, "1"}, program).find(fmt::format("Unknown flag {}.", flag)), 0u) << flag;
  for (const char* flag : {"--autotune", "--show-algorithms", "--no-snapshot"})
    EXPECT_EQ(refusal({flag}, program).find(fmt::format("Unknown flag {}.", flag)), 0u) << flag;
}

TEST(Arguments, AProgramWithItsOwnNetworkMayChooseTheDevice) {
  const Program program{
      .name = "streams", .about = "Streams.", .trains = false, .network = false, .chooses_device = true};
  EXPECT_EQ(parse({"--device", "cpu"}, program).devices.request, DeviceRequest::cpu);
  for (const char* flag : {"--model", "--batchsize", "--precision", "--share-devices"})
    EXPECT_EQ(refusal({flag, "1"}, program).find(fmt::format("Unknown flag {}.", flag)), 0u) << flag;
}

TEST(Arguments, AProgramOfSeveralTrainingsHasNoFlagsOfOne) {
  const Program program{.name = "sweep", .about = "Trainings in turn.", .one_training = false};
  EXPECT_EQ(parse({"--epoch", "3", "--out", "there", "--seed", "7"}, program).seed, 7u);
  for (const char* flag : {"--no-snapshot", "--keep", "--resume", "--trace", "--keep-going"})
    EXPECT_EQ(refusal({flag, "1"}, program).find(fmt::format("Unknown flag {}.", flag)), 0u) << flag;
}

TEST(Arguments, ThatContradictOrReplaceEachOtherAreFound) {
  EXPECT_EQ(refusal({"--keep", "2", "--no-snapshot"}).find("--no-snapshot writes no snapshots, so that --keep"), 0u);
  EXPECT_NE(refusal({"--no-snapshot"}).find("accepted"), std::string::npos) << "--keep has a default";
  EXPECT_TRUE(parse({"--resume", "there", "--learnrate", "0.05"}).resume.asks_for_rate);
  EXPECT_FALSE(parse({"--resume", "there"}).resume.asks_for_rate);
}

TEST(Arguments, RefusesNumbersThatMakeNoSense) {
  for (const char* flag :
       {"--epoch", "--batchsize", "--learnrate", "--n-gpus", "--threads-per-device", "--fraction", "--image-size"})
    for (const char* value : {"0", "-1", "many", ""}) {
      const std::string said = refusal({flag, value});
      EXPECT_NE(said.find(flag), std::string::npos) << flag << " " << value << ": " << said;
      EXPECT_NE(said.find("--help"), std::string::npos) << said;
    }
  EXPECT_NE(refusal({"--fraction", "1.5"}), "accepted");
  EXPECT_NE(refusal({"--image-size", "33"}).find("multiple of 32"), std::string::npos);
  EXPECT_NE(refusal({"--seed", "-1"}), "accepted");
  EXPECT_NE(refusal({"--epoch"}).find("--epoch needs a value."), std::string::npos);
  EXPECT_NE(refusal({"--learnrate", "nan"}), "accepted");
}

TEST(Arguments, TakesDecimalNumbersInTheirRangeOnly) {
  EXPECT_EQ(parse({"--seed", "18446744073709551615"}).seed, 18446744073709551615u);
  EXPECT_FLOAT_EQ(parse({"--learnrate", "5e-2"}).learnrate, 0.05f);
  for (const auto& [flag, value] :
       std::vector<std::pair<const char*, const char*>>{{"--seed", "18446744073709551616"},
                                                        {"--seed", "0x10"},
                                                        {"--epoch", "0x10"},
                                                        {"--epoch", "010"},
                                                        {"--epoch", "+1"},
                                                        {"--epoch", "1e1"},
                                                        {"--epoch", " 1"},
                                                        {"--n-gpus", "99999999999999999999"},
                                                        {"--learnrate", "0x1p-3"},
                                                        {"--learnrate", "inf"},
                                                        {"--learnrate", "1e-46"}})
    EXPECT_NE(refusal({flag, value}).find(std::string(flag) + " takes a"), std::string::npos) << flag << " " << value;
}

TEST(Arguments, RefusesEmptyValuesAndFlagsThatAreNotRead) {
  for (const char* flag : {"--out", "--resume", "--trace", "--dataset"})
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{flag, ""}, {std::string(flag) + "=", "--epoch", "2"}})
      EXPECT_NE(refusal(words).find(std::string(flag) + " needs a value."), std::string::npos) << words[0];
  for (const char* word : {"--epoch", "2"})
    EXPECT_NE(refusal({"--", word}).find("Flags after \"--\" are not read"), std::string::npos);
}

TEST(Arguments, FlagsMayHaveUnderscoresInPlaceOfHyphens) {
  EXPECT_EQ(parse({"--n_gpus", "2"}).n_gpus, 2);
  EXPECT_TRUE(parse({"--no_snapshot"}).no_snapshot);
  EXPECT_EQ(parse({"--image_size=64"}).image_size, 64);
  EXPECT_EQ(parse({"--out", "my_run"}).out, "my_run") << "a value stays as it is";
}

TEST(Arguments, RefusesUnknownNamesAndListsTheKnown) {
  EXPECT_NE(refusal({"--model", "resnet"}).find("vgg"), std::string::npos);
  EXPECT_NE(refusal({"--device", "tpu"}).find("cuda"), std::string::npos);
  EXPECT_NE(refusal({"--batch_size", "3"}).find("--batch_size"), std::string::npos);
  EXPECT_NE(refusal({"--n-gpus", "2"}, single_gpu), "accepted");  // a flag of another program
}

TEST(Arguments, OfAProgramWithItsOwnNetworkAreThoseOfTheTraining) {
  int batch = 8;
  const Program program{.name = "own", .about = "-", .network = false, .own = {{"--batchsize", "Images", &batch, 1}}};
  const Arguments args = parse({"--epoch", "3", "--learnrate", "0.1", "--seed", "7", "--batchsize", "5"}, program);
  EXPECT_EQ(args.epoch, 3);
  EXPECT_EQ(args.seed, 7u);
  EXPECT_EQ(batch, 5);
  for (const char* flag : {"--model", "--device", "--no-snapshot", "--autotune", "--out"})
    EXPECT_NE(refusal({flag, "x"}, program), "accepted") << flag;
}

TEST(Arguments, ARefusalOffersTheNearestWord) {
  const std::string help = "\n./odori run multi_gpu --help lists all flags.";
  EXPECT_EQ(refusal({"--epochs", "2"}), "Unknown flag --epochs. Did you mean --epoch?" + help);
  EXPECT_EQ(refusal({"--n_gpu", "2"}), "Unknown flag --n_gpu. Did you mean --n-gpus?" + help);
  EXPECT_EQ(refusal({"--solutoin"}), "Unknown flag --solutoin. Did you mean --solution?" + help);  // the driver's
  EXPECT_EQ(refusal({"--size", "64"}), "Unknown flag --size. Did you mean --batchsize or --image-size?" + help);
  EXPECT_EQ(refusal({"--frobnicate"}), "Unknown flag --frobnicate." + help);
  EXPECT_EQ(refusal({"epoch", "2"}), "Unexpected argument \"epoch\". Did you mean --epoch?" + help);
  EXPECT_EQ(refusal({""}), "Unexpected argument \"\"." + help);
  EXPECT_EQ(refusal({"--device", "gpu"}), "--device takes auto, cpu or cuda, not \"gpu\"." + help);
  EXPECT_EQ(refusal({"--epoch", "two"}), "--epoch takes a whole number from 1 to 1000000, not \"two\"." + help);
  EXPECT_EQ(refusal({"--seed", "one"}).find("--seed takes a whole number from 0"), 0u);
  EXPECT_EQ(refusal({std::string(10000, 'x')}).find("Unexpected argument"), 0u);
}

TEST(Arguments, ARefusalSpeaksJapaneseWhereTheEnvironmentDoes) {
  const std::string help = "\nフラグの一覧: ./odori run multi_gpu --help";
  const auto said = [](const std::vector<std::string>& words) { return refusal_in("ja_JP.UTF-8", words); };
  EXPECT_EQ(said({"--epochs", "2"}), "--epochs というフラグはありません。--epoch のことですか。" + help);
  EXPECT_EQ(said({"two"}), "\"two\" は余分な引数です。" + help);
  EXPECT_EQ(said({"--epoch"}), "--epoch には値が必要です。" + help);
  EXPECT_EQ(said({"--epoch", "0"}),
            "--epoch に指定できるのは 1 から 1000000 までの整数です（\"0\" は使えません）。" + help);
  EXPECT_EQ(
      said({"--precision", "fp"}),
      "--precision に指定できるのは fp32、tf32、bf16 のどれかです（\"fp\" は使えません）。fp32 のことですか。" + help);
}

TEST(Arguments, HelpNamesEveryFlag) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const HelpRequested& help) {
    for (const char* flag : {"--dataset",
                             "--epoch",
                             "--batchsize",
                             "--learnrate",
                             "--n-gpus",
                             "--out",
                             "--no-snapshot",
                             "--model",
                             "--image-size",
                             "--fraction",
                             "--device",
                             "--seed",
                             "--threads-per-device",
                             "--resume",
                             "--trace",
                             "--compat",
                             "--precision",
                             "--workspace-mib",
                             "--autotune",
                             "--show-algorithms"})
      EXPECT_NE(std::string(help.what()).find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace odori
