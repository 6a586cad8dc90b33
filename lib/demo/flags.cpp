// SPDX-License-Identifier: Apache-2.0
#include "demo/flags.h"

#include "flags/command_line.h"

namespace odori::demo {

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line(Text{"Trains the solutions on one device, on two, and on two nodes, and compares them.",
                        "模範解答を 1 デバイス、2 デバイス、2 ノードで学習させて比べる"},
                   "./odori demo", argc, argv);
  line.add_option(
          "--device", flags.device,
          line.say({"auto (GPUs if there are any), cpu or cuda", "auto（GPU があれば GPU）、cpu、cuda のどれか"}))
      .check(line.one_of({"auto", "cpu", "cuda"}))
      .capture_default_str();
  line.add_option("--dataset", flags.dataset,
                  line.say({"cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is there",
                            "cifar10、cifar100、synthetic、またはフォルダ。auto は cifar10（なければ synthetic）"}))
      .capture_default_str();
  line.add_option("--epoch", flags.epoch, line.say({"Epochs of each run", "それぞれの学習のエポック数"}))
      .check(line.whole_number(1, 1000))
      .capture_default_str();
  line.add_option("--fraction", flags.fraction,
                  line.say({"Part of the data set; without it, the part that one device trains on in about 10 seconds",
                            "データセットのうち使う割合。なければ、1 デバイスで約 10 秒かかる分"}))
      .check(line.number<double>({"a number from 0.0001 to 1", "0.0001 から 1 までの数"},
                                 [](double part) { return part >= 1e-4 && part <= 1; }));
  line.add_option("--out", flags.out, line.say({"Folder for the results", "結果を書くフォルダ"})).capture_default_str();
  line.parse();
  return flags;
}

}  // namespace odori::demo
