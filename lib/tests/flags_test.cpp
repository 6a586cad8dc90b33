// Flags: what is accepted, what is refused, and how that is said.
#include <gtest/gtest.h>

#include "core/error.h"
#include "flags/arguments.h"

namespace odori {
namespace {

Arguments parse(std::vector<std::string> words, Program program = Program::multi_gpu) {
  words.insert(words.begin(), "train_cifar");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_arguments(static_cast<int>(argv.size()), argv.data(), program);
}

std::string refusal(const std::vector<std::string>& words, Program program = Program::multi_gpu) {
  try {
    parse(words, program);
  } catch (const UsageError& error) {
    EXPECT_EQ(error.code(), exit_code::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Arguments, TakesTheFlagsOfTheOriginals) {
  const Arguments args = parse({"--dataset", "synthetic", "--epoch", "4", "--batchsize", "32", "--learnrate", "0.1",
                                "--n_gpus", "3", "--out", "there", "--no_snapshot", "--device", "cpu"});
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

TEST(Arguments, TakesPrecisionAndAlgorithms) {
  EXPECT_FALSE(parse({}).devices.precision.has_value());
  const Arguments args = parse({"--precision", "bf16", "--workspace_mib", "64", "--autotune", "--show_algorithms"});
  EXPECT_EQ(args.devices.precision, Precision::bf16);
  EXPECT_EQ(args.devices.workspace_mib, 64);
  EXPECT_TRUE(args.autotune.measure);
  EXPECT_TRUE(args.autotune.show);
  EXPECT_NE(refusal({"--precision", "fp16"}).find("fp32, tf32, bf16"), std::string::npos);
  EXPECT_NE(refusal({"--workspace_mib", "-1"}), "accepted");
}

TEST(Arguments, CommunicatorFollowsTheDevices) {
  EXPECT_EQ(parse({"--device", "cpu"}, Program::multi_node).communicator, "flat");
  EXPECT_EQ(parse({"--communicator", "naive"}, Program::multi_node).communicator, "naive");
}

TEST(Arguments, RefusesNumbersThatMakeNoSense) {
  for (const char* flag :
       {"--epoch", "--batchsize", "--learnrate", "--n_gpus", "--threads_per_device", "--fraction", "--image_size"})
    for (const char* value : {"0", "-1", "many", ""}) {
      const std::string said = refusal({flag, value});
      EXPECT_NE(said.find(flag), std::string::npos) << flag << " " << value << ": " << said;
      EXPECT_NE(said.find("--help"), std::string::npos) << said;
    }
  EXPECT_NE(refusal({"--fraction", "1.5"}), "accepted");
  EXPECT_NE(refusal({"--image_size", "33"}).find("multiple of 32"), std::string::npos);
  EXPECT_NE(refusal({"--seed", "-1"}), "accepted");
  EXPECT_NE(refusal({"--epoch"}).find("--epoch needs a value."), std::string::npos);
  EXPECT_NE(refusal({"--learnrate", "nan"}), "accepted");
}

TEST(Arguments, RefusesUnknownNamesAndListsTheKnown) {
  EXPECT_NE(refusal({"--model", "resnet"}).find("vgg"), std::string::npos);
  EXPECT_NE(refusal({"--device", "tpu"}).find("cuda"), std::string::npos);
  EXPECT_NE(refusal({"--batch_size", "3"}).find("--batch_size"), std::string::npos);
  EXPECT_NE(refusal({"--n_gpus", "2"}, Program::single_gpu), "accepted");  // a flag of another program
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
                             "--n_gpus",
                             "--out",
                             "--no_snapshot",
                             "--model",
                             "--image_size",
                             "--fraction",
                             "--device",
                             "--seed",
                             "--threads_per_device",
                             "--resume",
                             "--trace",
                             "--compat",
                             "--precision",
                             "--workspace_mib",
                             "--autotune",
                             "--show_algorithms"})
      EXPECT_NE(std::string(help.what()).find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace odori
