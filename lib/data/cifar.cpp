// SPDX-License-Identifier: Apache-2.0
// The official binary format: records of one (CIFAR-10) or two (CIFAR-100: coarse, fine) label bytes and 3072 bytes of
// pixels, nothing else.
#include "data/cifar.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "data/mapped_file.h"
#include "errors/error.h"
#include "observe/hooks.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char* name;
  std::vector<const char*> train_files, test_files;
  std::size_t label_bytes;  // the last of them is the class that is learned
  int n_classes;
  std::array<float, 3> mean, deviation;  // of the published training images' values in [0, 1], per channel
  std::size_t record_bytes() const { return label_bytes + Example::bytes; }
};

const Format cifar10{
    .name = "CIFAR-10",
    .train_files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
    .test_files = {"test_batch.bin"},
    .label_bytes = 1,
    .n_classes = 10,
    .mean = {0.4914f, 0.4822f, 0.4465f},
    .deviation = {0.2470f, 0.2435f, 0.2616f}};

const Format cifar100{.name = "CIFAR-100",
                      .train_files = {"train.bin"},
                      .test_files = {"test.bin"},
                      .label_bytes = 2,
                      .n_classes = 100,
                      .mean = {0.5071f, 0.4865f, 0.4409f},
                      .deviation = {0.2673f, 0.2564f, 0.2762f}};

/// A set with a name: its folder under the root, and how many examples were published (0: any number).
struct NamedSet {
  const char *name, *folder, *command;
  std::size_t n_train, n_test;
};
const NamedSet named_sets[] = {
    {"cifar10", "cifar-10-batches-bin", "./odori data fetch cifar10", 50000, 10000},
    {"cifar100", "cifar-100-binary", "./odori data fetch cifar100", 50000, 10000},
    {"synthetic", "synthetic", "./odori data synthetic", 0, 0},  // in CIFAR-10's format, normalised like it
};

const NamedSet* find_named(const std::string& name) {
  for (const NamedSet& set : named_sets)
    if (name == set.name) return &set;
  return nullptr;
}

fs::path folder_of(const NamedSet& set, const std::string& root) {
  if (!root.empty()) return fs::path(root) / set.folder;
  const char* variable = std::getenv("ODORI_DATA");
  return fs::path(variable && *variable ? variable : ODORI_DATA_FOLDER) / set.folder;
}

const Format& format_of(const fs::path& folder) {
  for (const Format* format : {&cifar10, &cifar100})
    for (const auto* files : {&format->train_files, &format->test_files})
      for (const char* file : *files)
        if (fs::exists(folder / file)) return *format;
  for (const NamedSet& set : named_sets)
    require(!fs::exists(folder / set.folder),
            {"{} holds no data set itself, but the folder {}: give that.",
             "{} 自体はデータセットではありません。その中のフォルダ {} を指定してください。"},
            folder.string(), (folder / set.folder).string());
  for (const char* inner : {"", "cifar-10-batches-py", "cifar-100-python"})
    for (const char* other : {"data_batch_1", "train"})
      require(!fs::exists(folder / inner / other),
              {"{} holds images in another form than CIFAR's binary one. Convert them with\n  ./odori data convert {}",
               "{} の画像は CIFAR のバイナリ形式ではありません。次のコマンドで変換してください。\n  ./odori data "
               "convert {}"},
              folder.string(), folder.string());
  fail({"{} holds no data set: neither data_batch_1.bin ... data_batch_5.bin and test_batch.bin (CIFAR-10's binary "
        "format) nor train.bin and test.bin (CIFAR-100's).",
        "{} にデータセットがありません。CIFAR-10 のバイナリ形式（data_batch_1.bin～data_batch_5.bin と "
        "test_batch.bin）か、"
        "CIFAR-100 の形式（train.bin と test.bin）のファイルが必要です。"},
       folder.string());
}

/// The images of some files, one behind the other.
class CifarDataset : public Dataset {
 public:
  CifarDataset(const fs::path& folder, const Format& format, const std::vector<const char*>& names) : format_(format) {
    for (const char* name : names) {
      const std::string path = (folder / name).string();
      require(fs::exists(path),
              {"{} is missing: the {} format needs it.", "{} がありません。{} の形式に必要なファイルです。"}, path,
              format.name);
      const MappedFile& file = files_.emplace_back(path);
      const std::size_t n = file.size() / format.record_bytes(), rest = file.size() % format.record_bytes();
      require(
          rest == 0,
          {"{} has {} bytes, which is not a whole number of {} records of {} bytes ({} records and {} bytes): it is "
           "damaged, or of another format.",
           "{} は {} バイトで、{} の 1 件 {} バイトの整数倍ではありません（{} 件と {} "
           "バイト）。壊れているか、別の形式の"
           "ファイルです。"},
          path, file.size(), format.name, format.record_bytes(), n, rest);
      check_labels(path, file);
      for (std::size_t i = 0; i < n; ++i) records_.push_back(file.data() + i * format.record_bytes());
    }
    for (const MappedFile& file : files_) storage_->parts.emplace_back(file.data(), file.size());
  }

  std::size_t size() const override { return records_.size(); }
  Example operator[](std::size_t i) const override {
    const std::uint8_t* record = records_[i];
    return {.pixels = record + format_.label_bytes,
            .label = record[format_.label_bytes - 1],
            .id = static_cast<std::int64_t>(i)};
  }
  int n_classes() const override { return format_.n_classes; }
  const Transform& transform() const override { return transform_; }
  ImageStoragePtr storage() const override { return storage_; }

  void set_transform(const Transform& transform) { transform_ = transform; }
  void keep_first(double fraction) {
    const auto n = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(size())));
    require(n > 0,
            {"A fraction of {} leaves nothing of {} images. Give a larger --fraction.",
             "割合 {} では、{} 枚の画像が 1 枚も残りません。--fraction を大きくしてください。"},
            fraction, size());
    records_.resize(n);
  }

 private:
  void check_labels(const std::string& path, const MappedFile& file) const {
    const std::size_t stride = format_.record_bytes();
    for (std::size_t at = 0; at < file.size(); at += stride) {
      const int label = file.data()[at + format_.label_bytes - 1];
      require(label < format_.n_classes,
              {"{}, record {} (from 0): the label is {}, but {} has classes 0 to {}.",
               "{} のレコード {}（0 から数える）: ラベルが {} ですが、{} のクラスは 0 から {} までです。"},
              path, at / stride, label, format_.name, format_.n_classes - 1);
    }
  }

  const Format& format_;
  std::vector<MappedFile> files_;
  std::shared_ptr<ImageStorage> storage_ = std::make_shared<ImageStorage>();
  std::vector<const std::uint8_t*> records_;
  Transform transform_;
};

}  // namespace

std::string resolve_dataset(const std::string& name, const std::string& root) {
  if (name != "auto") return name;
  return fs::is_directory(folder_of(*find_named("cifar10"), root)) ? "cifar10" : "synthetic";
}

TrainTest load_cifar(const std::string& name, const CifarOptions& options, const std::string& root) {
  observe::on_load_cifar();
  require(options.fraction > 0 && options.fraction <= 1, "The fraction of a data set is above 0 and at most 1, not {}.",
          options.fraction);
  const NamedSet* named = find_named(resolve_dataset(name, root));
  const fs::path folder = named ? folder_of(*named, root) : fs::path(name);
  if (named) {
    require(fs::is_directory(folder),
            {"The data set {} is not there: no folder {}. Make it with\n  {}",
             "データセット {} がありません（フォルダ {} が見つかりません）。次のコマンドで用意してください。\n  {}"},
            named->name, folder.string(), named->command);
  } else {
    require(folder.extension() != ".npz",
            {"{} has to be converted first. Do that with\n  ./odori data convert {}",
             "{} は先に変換する必要があります。次のコマンドで変換してください。\n  ./odori data convert {}"},
            name, name);
    require(
        fs::is_directory(folder),
        {"There is no data set \"{}\": it is neither a folder nor one of cifar10, cifar100, synthetic, auto.",
         "データセット「{}」はありません。フォルダか、cifar10、cifar100、synthetic、auto のどれかを指定してください。"},
        name);
  }

  const Format& format = format_of(folder);
  const auto train = std::make_shared<CifarDataset>(folder, format, format.train_files);
  const auto test = std::make_shared<CifarDataset>(folder, format, format.test_files);
  if (named && named->n_train > 0)
    require(train->size() == named->n_train && test->size() == named->n_test,
            {"{} has {} + {} examples (training + test), but {} was published with {} + {}. Fetch it again with\n  {}",
             "{} には {} + {} 件（学習 + テスト）ありますが、公開されている {} は {} + {} "
             "件です。次のコマンドで取得し直して"
             "ください。\n  {}"},
            folder.string(), train->size(), test->size(), format.name, named->n_train, named->n_test, named->command);

  Transform transform{.image_size = options.image_size, .mean = format.mean, .deviation = format.deviation};
  test->set_transform(transform);
  if (options.augment) transform.crop_padding = 4, transform.flip = true;
  train->set_transform(transform);
  train->keep_first(options.fraction);
  test->keep_first(options.fraction);

  trace::instant("load_data", trace::Args()
                                  .add("train", static_cast<std::int64_t>(train->size()))
                                  .add("test", static_cast<std::int64_t>(test->size())));
  return {train, test};
}

}  // namespace odori
