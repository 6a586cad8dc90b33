// SPDX-License-Identifier: Apache-2.0
// Files in CIFAR's binary format, good and bad, made in a temporary folder.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/cifar.h"
#include "data/mapped_file.h"
#include "errors/error.h"
#include "files/file.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

/// What a call throws, or "" if it doesn't.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Cifar : public testing::Test {
 protected:
  void SetUp() override { unsetenv("ODORI_DATA"); }

  /// Record i of the file: labels (i + first) % classes, pixel j of value i + j.
  static std::string records(int n, int first, int label_bytes) {
    std::string bytes;
    for (int i = 0; i < n; ++i) {
      if (label_bytes == 2) bytes += static_cast<char>((i + first) % 20);
      bytes += static_cast<char>((i + first) % (label_bytes == 2 ? 100 : 10));
      for (int j = 0; j < Example::bytes; ++j) bytes += static_cast<char>(i + j);
    }
    return bytes;
  }
  void write(const fs::path& file, const std::string& bytes) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file, std::ios::binary) << bytes;
  }
  /// Five files of 4, 5, 6, 7, 8 training images, and one of 10 test images.
  void write_cifar10(const fs::path& folder) const {
    for (int k = 1; k <= 5; ++k) write(folder / fmt::format("data_batch_{}.bin", k), records(3 + k, k, 1));
    write(folder / "test_batch.bin", records(10, 0, 1));
  }
  void write_cifar100(const fs::path& folder) const {
    write(folder / "train.bin", records(200, 0, 2));
    write(folder / "test.bin", records(100, 50, 2));
  }
  std::string error_of_loading(const fs::path& folder) const {
    return error_of([&] { load_cifar((root_ / folder).string()); });
  }

  const TemporaryFolder own_{fs::temp_directory_path() / "odori_cifar_"};
  const fs::path& root_ = own_.path();
};

TEST_F(Cifar, TenClassesInSixFiles) {
  write_cifar10("set");
  const auto [train, test] = load_cifar((root_ / "set").string());
  ASSERT_EQ(train->size(), 30u);
  ASSERT_EQ(test->size(), 10u);
  EXPECT_EQ(train->n_classes(), 10);
  const Example third_of_second_file = (*train)[4 + 2];
  EXPECT_EQ(third_of_second_file.label, 2 + 2);
  EXPECT_EQ(third_of_second_file.id, 6);
  EXPECT_EQ(third_of_second_file.pixels[0], 2);
  EXPECT_EQ(third_of_second_file.pixels[3071], (2 + 3071) % 256);
  EXPECT_TRUE(third_of_second_file.counted);
  EXPECT_EQ((*test)[9].label, 9);
}

TEST_F(Cifar, HundredClassesAreTheFineLabels) {
  write_cifar100("set");
  const auto [train, test] = load_cifar((root_ / "set").string());
  ASSERT_EQ(train->size(), 200u);
  ASSERT_EQ(test->size(), 100u);
  EXPECT_EQ(train->n_classes(), 100);
  EXPECT_EQ((*train)[177].label, 77);
  EXPECT_EQ((*test)[20].label, 70);
  EXPECT_EQ((*test)[20].pixels[1], 21);
}

TEST_F(Cifar, FractionIsTheFirstPart) {
  write_cifar10("set");
  const auto [train, test] = load_cifar((root_ / "set").string(), {.fraction = 0.1});
  EXPECT_EQ(train->size(), 3u);
  EXPECT_EQ(test->size(), 1u);
  EXPECT_EQ((*train)[2].label, 3);
  for (const double bad : {0.0, -0.1, 1.01, 0.01})
    EXPECT_THROW(load_cifar((root_ / "set").string(), {.fraction = bad}), Error) << bad;
}

TEST_F(Cifar, TransformsAreOfTheFormatAndTheOptions) {
  write_cifar10("ten");
  write_cifar100("hundred");
  const auto ten = load_cifar((root_ / "ten").string(), {.image_size = 256, .augment = true});
  EXPECT_EQ(ten.train->transform().image_size, 256);
  EXPECT_EQ(ten.train->transform().crop_padding, 4);
  EXPECT_TRUE(ten.train->transform().flip);
  EXPECT_EQ(ten.test->transform().image_size, 256);
  EXPECT_EQ(ten.test->transform().crop_padding, 0);  // test images stay as they are
  EXPECT_FALSE(ten.test->transform().flip);
  EXPECT_EQ(ten.train->transform().mean, ten.test->transform().mean);
  EXPECT_FLOAT_EQ(ten.train->transform().mean[0], 0.4914f);
  EXPECT_FLOAT_EQ(load_cifar((root_ / "hundred").string()).train->transform().mean[0], 0.5071f);
}

TEST_F(Cifar, ImagesOutliveTheirLoader) {
  write_cifar10("set");
  DatasetPtr test = load_cifar((root_ / "set").string()).test;
  fs::remove_all(root_ / "set");
  EXPECT_EQ((*test)[3].pixels[0], 3);
}

// ---- Names

TEST_F(Cifar, NamesAreFoldersUnderTheRoot) {
  write_cifar10("synthetic");
  EXPECT_EQ(load_cifar("synthetic", {}, root_.string()).train->size(), 30u);
  setenv("ODORI_DATA", root_.c_str(), 1);
  EXPECT_EQ(load_cifar("synthetic").train->size(), 30u);
}

TEST_F(Cifar, AutoIsCifar10IfItIsThere) {
  EXPECT_EQ(resolve_dataset("auto", root_.string()), "synthetic");
  write_cifar10("cifar-10-batches-bin");
  EXPECT_EQ(resolve_dataset("auto", root_.string()), "cifar10");
  EXPECT_EQ(resolve_dataset("cifar100", root_.string()), "cifar100");
}

TEST_F(Cifar, AMissingSetNamesTheCommandThatMakesIt) {
  const auto error = [&](const std::string& name) { return error_of([&] { load_cifar(name, {}, root_.string()); }); };
  EXPECT_PRED2(contains, error("synthetic"), "./odori data synthetic");
  EXPECT_PRED2(contains, error("auto"), "./odori data synthetic");
  EXPECT_PRED2(contains, error("cifar10"), "./odori data fetch cifar10");
  EXPECT_PRED2(contains, error("cifar100"), "./odori data fetch cifar100");
  EXPECT_PRED2(contains, error("cifar11"), "neither a folder nor one of cifar10, cifar100, synthetic");
}

TEST_F(Cifar, APublishedSetHasItsPublishedSize) {
  write_cifar10("cifar-10-batches-bin");
  const std::string error = error_of([&] { load_cifar("cifar10", {}, root_.string()); });
  EXPECT_PRED2(contains, error, "has 30 + 10 examples");
  EXPECT_PRED2(contains, error, "50000 + 10000");
}

// ---- Bad files

TEST_F(Cifar, WrongFolder) {
  fs::create_directories(root_ / "empty");
  EXPECT_PRED2(contains, error_of_loading("empty"), "holds no data set");
  fs::create_directories(root_ / "torchvision/cifar-10-batches-py");
  write("torchvision/cifar-10-batches-py/data_batch_1", "pickled");
  EXPECT_PRED2(contains, error_of_loading("torchvision"), "Convert them with\n  ./odori data convert ");
  EXPECT_PRED2(contains, error_of_loading("torchvision/cifar-10-batches-py"),
               "Convert them with\n  ./odori data convert ");
  EXPECT_PRED2(contains, error_of_loading("images.npz"), "has to be converted first");
  EXPECT_PRED2(contains, error_of_loading("nowhere"), "neither a folder");
  write("file", "text");
  EXPECT_PRED2(contains, error_of_loading("file"), "neither a folder");
  write_cifar10("parent/cifar-10-batches-bin");
  EXPECT_PRED2(contains, error_of_loading("parent"), "cifar-10-batches-bin: give that");
}

TEST_F(Cifar, MissingFile) {
  write_cifar10("ten");
  fs::remove(root_ / "ten" / "data_batch_3.bin");
  EXPECT_PRED2(contains, error_of_loading("ten"), "data_batch_3.bin is missing");
  write_cifar10("ten");
  fs::remove(root_ / "ten" / "test_batch.bin");
  EXPECT_PRED2(contains, error_of_loading("ten"), "test_batch.bin is missing");
  write_cifar100("hundred");
  fs::remove(root_ / "hundred" / "train.bin");
  EXPECT_PRED2(contains, error_of_loading("hundred"), "train.bin is missing");
}

TEST_F(Cifar, TruncatedAndOversizedFiles) {
  write_cifar10("set");
  fs::resize_file(root_ / "set" / "data_batch_2.bin", 5 * 3073 - 1);
  const std::string truncated = error_of_loading("set");
  EXPECT_PRED2(contains, truncated, "data_batch_2.bin has 15364 bytes");
  EXPECT_PRED2(contains, truncated, "records of 3073 bytes (4 records and 3072 bytes)");
  fs::resize_file(root_ / "set" / "data_batch_2.bin", 5 * 3073 + 1);
  EXPECT_PRED2(contains, error_of_loading("set"), "(5 records and 1 bytes)");
  fs::resize_file(root_ / "set" / "data_batch_2.bin", 0);
  EXPECT_PRED2(contains, error_of_loading("set"), "data_batch_2.bin is empty");
}

TEST_F(Cifar, LabelOutOfRange) {
  write_cifar10("ten");
  std::string bytes = records(6, 0, 1);
  bytes[2 * 3073] = 10;
  write("ten/data_batch_4.bin", bytes);
  const std::string ten = error_of_loading("ten");
  EXPECT_PRED2(contains, ten, "data_batch_4.bin, record 2");
  EXPECT_PRED2(contains, ten, "the label is 10");

  write_cifar100("hundred");
  bytes = records(3, 0, 2);
  bytes[3074 + 1] = static_cast<char>(200);
  write("hundred/test.bin", bytes);
  const std::string hundred = error_of_loading("hundred");
  EXPECT_PRED2(contains, hundred, "test.bin, record 1");
  EXPECT_PRED2(contains, hundred, "the label is 200");
}

TEST_F(Cifar, APipeInAFilesPlaceIsToldAtOnce) {
  write_cifar10("set");
  fs::remove(root_ / "set" / "test_batch.bin");
  ASSERT_EQ(mkfifo((root_ / "set" / "test_batch.bin").c_str(), 0600), 0);
  EXPECT_PRED2(contains, error_of_loading("set"), "test_batch.bin is not a file");
}

TEST_F(Cifar, AFileThatIsCutShortWhileItIsReadEndsTheProgramWithASentence) {
  write("set/data.bin", std::string(1 << 16, 'x'));
  const fs::path path = root_ / "set" / "data.bin";
  EXPECT_EXIT(
      {
        const MappedFile file(path.string());
        fs::resize_file(path, 100);
        volatile std::uint8_t last = file.data()[file.size() - 1];
        std::exit(last);
      },
      testing::ExitedWithCode(exit_code::failure),
      "data.bin became shorter, or its disk failed, while it was being read");
}

TEST_F(Cifar, AFolderInAFilesPlace) {
  write_cifar10("set");
  fs::remove(root_ / "set" / "test_batch.bin");
  fs::create_directories(root_ / "set" / "test_batch.bin");
  EXPECT_PRED2(contains, error_of_loading("set"), "test_batch.bin is not a file");
}

}  // namespace
}  // namespace odori
