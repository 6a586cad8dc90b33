// SPDX-License-Identifier: Apache-2.0
// Writes a learnable image set of ten classes in CIFAR-10's binary format: what the kit trains on where CIFAR isn't.
//
//   ./odori data synthetic --train 10000 --test 2000 --seed 0 --out datasets/cache/synthetic
//
// says in one sentence what is there now. The images are those of synthetic_image.cpp.
#include <filesystem>
#include <optional>

#include "errors/error.h"
#include "flags/command_line.h"
#include "program/program.h"
#include "synthetic.h"

using namespace odori;
namespace fs = std::filesystem;

namespace {

/// What was asked for; a number that was not given takes whatever is there.
struct Flags {
  std::optional<std::uint32_t> train, test;
  std::optional<std::uint64_t> seed;
  fs::path out;
  bool force = false;

  synthetic::Options options() const {
    const synthetic::Options defaults;
    return {train.value_or(defaults.train), test.value_or(defaults.test), seed.value_or(defaults.seed)};
  }
  bool fits(const synthetic::Options& there) const {
    return train.value_or(there.train) == there.train && test.value_or(there.test) == there.test &&
           seed.value_or(there.seed) == there.seed;
  }
};

Flags parse(int argc, char** argv) {
  const synthetic::Options defaults;
  Flags flags;
  CommandLine line(Text{"Write a learnable image set of ten classes in CIFAR-10's binary format.",
                        "学習できる 10 クラスの画像を CIFAR-10 のバイナリ形式で書く"},
                   "./odori data synthetic", argc, argv);
  line.add_option("--train", flags.train,
                  fmt::format("{} [{}]", line.say({"Training images", "学習画像の数"}), defaults.train))
      .check(line.whole_number(5u, synthetic::max_images));
  line.add_option("--test", flags.test,
                  fmt::format("{} [{}]", line.say({"Test images", "テスト画像の数"}), defaults.test))
      .check(line.whole_number(1u, synthetic::max_images));
  line.add_option("--seed", flags.seed,
                  fmt::format("{} [{}]", line.say({"Another seed, other images", "シード。変えると画像も変わる"}),
                              defaults.seed))
      .check(line.number<std::uint64_t>(
          {"a whole number from 0 to 18446744073709551615", "0 から 18446744073709551615 までの整数"},
          [](std::uint64_t) { return true; }));
  line.add_option("--out", flags.out, line.say({"The folder to write", "出力先のフォルダ"})).required();
  line.add_flag("--force", flags.force,
                line.say({"Replace a synthetic set that is there already", "すでにある合成データセットを作り直す"}));
  line.parse();
  flags.out = fs::absolute(flags.out).lexically_normal();
  if (!flags.out.has_filename()) flags.out = flags.out.parent_path();  // a slash at the end
  return flags;
}

std::string describe(const synthetic::Options& options) {
  return in_language({"{} training and {} test images, seed {}", "学習画像 {} 枚、テスト画像 {} 枚、シード {}"},
                     options.train, options.test, options.seed);
}

void run(const Flags& flags) {
  using What = synthetic::Contents::What;
  const synthetic::Contents found = synthetic::look_at(flags.out);
  const std::string out = flags.out.string();
  require(
      found.what != What::something_else,
      {"{} is there, but isn't a complete synthetic set. Nothing was changed. Remove it, or choose another folder with "
       "--out.",
       "{} は完全な合成データセットではありません。何も変更していません。削除するか、--out "
       "で別のフォルダを指定してください。"},
      out);
  if (found.what == What::complete_set && !flags.force) {
    require(
        flags.fits(found.options),
        {"{} holds another synthetic set ({}). Nothing was changed. --force replaces it, --out takes another folder.",
         "{} には別の合成データセット（{}）があります。何も変更していません。--force で作り直すか、--out "
         "で別のフォルダを指定してください。"},
        out, describe(found.options));
    fmt::print("{}\n", in_language({"The synthetic set is there already: {} ({}).",
                                    "合成データセットはすでにあります: {}（{}）。"},
                                   out, describe(found.options)));
    return;
  }
  synthetic::write_set(flags.out, flags.options());
  fmt::print("{}\n", in_language({"Wrote the synthetic set: {} ({}).", "合成データセットを書きました: {}（{}）。"}, out,
                                 describe(flags.options())));
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  run(parse(argc, argv));
} catch (...) {
  return report_failure();
}
