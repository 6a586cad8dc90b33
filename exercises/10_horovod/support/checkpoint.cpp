// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "data/sub_dataset.h"
#include "distributed/snapshot_file.h"
#include "errors/error.h"
#include "files/file.h"
#include "horovod_cases.h"
#include "horovod_support.h"
#include "observe/refusal.h"
#include "test_cases.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_begins = "checkpoint_epoch_";

std::string checkpoint_of(const std::string& out, std::int64_t epoch) {
  return fmt::format("{}/{}{}", out, name_begins, epoch);
}

SnapshotSubject subject_of(const Classifier& model, const Optimizer& optimizer) {
  return {model.network(), model.batch_size(), "", optimizer.name(), 1, to_string(model.device().precision())};
}

/// `path` itself, or the checkpoint of the last epoch in it.
std::string find_checkpoint(const std::string& path) {
  if (fs::exists(path + "/snapshot.json")) return path;
  int last = 0;
  std::error_code none_there;
  for (const auto& entry : fs::directory_iterator(path, none_there))
    if (const std::string name = entry.path().filename().string();
        name.starts_with(name_begins) && !name.ends_with(unfinished_suffix))
      last = std::max(last, std::atoi(name.c_str() + name_begins.size()));
  require(last > 0,
          "There is no checkpoint in {}. Give --resume the folder of one ({}N), or the --out folder that holds them.",
          path, name_begins);
  return checkpoint_of(path, last);
}

std::vector<std::size_t> sizes_of(const std::vector<NamedView>& views) {
  std::vector<std::size_t> sizes;
  for (const NamedView& view : views) sizes.push_back(view.view.size());
  return sizes;
}

int take_known(const KnownCheckpoint& known, Classifier& model, Optimizer& optimizer) {
  ModelState state = model.state();
  Vectors velocities = state.parameters;
  for (Vectors::value_type& values : velocities)
    for (float& value : values) value = known.velocity(value);
  for (Vectors::value_type& values : state.parameters)
    for (float& value : values) value = known.weight(value);
  model.restore(state);
  optimizer.restore(velocities);
  return known.epochs;
}

}  // namespace

DatasetPtr shard_of(const DatasetPtr& set, int rank, int size) {
  std::vector<std::int64_t> images;
  for (auto image = static_cast<std::size_t>(rank); image < set->size(); image += static_cast<std::size_t>(size))
    images.push_back(static_cast<std::int64_t>(image));
  return std::make_shared<SubDataset>(set, std::move(images));
}

void save_weights(const Arguments& args, Trainer& trainer) {
  observe::on_event(weights_saved);
  if (args.no_snapshot) return;
  Updater& updater = trainer.updater();
  Optimizer& optimizer = updater.optimizer();
  const std::int64_t epoch = updater.epoch();
  const std::string folder = checkpoint_of(args.out, epoch), part = folder + std::string(unfinished_suffix);
  fs::remove_all(part);
  fs::create_directories(part);
  const ModelState model = updater.model().state();
  const Vectors state = optimizer.state();
  RankState counters{.iteration = updater.iteration(), .n_updates = optimizer.n_updates()};
  counters.iterators.push_back(updater.iterators().front().state());
  SnapshotManifest manifest{.subject = subject_of(updater.model(), optimizer)};
  manifest.files["model.bin"] = write_vectors(part + "/model.bin", {&model.parameters, &model.statistics});
  manifest.files["optimizer.bin"] = write_vectors(part + "/optimizer.bin", {&state});
  manifest.files["rank_0.json"] = write_checked(part + "/rank_0.json", to_text(counters));
  write_file(part + "/snapshot.json", to_text(manifest));
  replace_folder(part, folder);
  trainer.set_last_snapshot(folder);
  if (args.keep > 0) fs::remove_all(checkpoint_of(args.out, epoch - args.keep));
}

int load_weights(const Arguments& args, Classifier& model, Optimizer& optimizer) {
  if (args.resume.empty()) return 0;
  observe::on_event(weights_loaded);
  if (!test_cases().is_null()) return take_known(test_cases().get<KnownCheckpoint>(), model, optimizer);
  const std::string folder = find_checkpoint(args.resume.path);
  const SnapshotManifest manifest = read_manifest(folder);
  require_same(manifest.subject, subject_of(model, optimizer));
  const RankState counters = read_rank_state(folder, "rank_0.json", manifest);
  const std::vector<std::size_t> parameters = sizes_of(model.parameters());
  std::vector<std::size_t> all = parameters, of_optimizer;
  for (const std::size_t size : sizes_of(model.statistics())) all.push_back(size);
  for (std::size_t i = 0; i < optimizer.n_lists(); ++i)
    of_optimizer.insert(of_optimizer.end(), parameters.begin(), parameters.end());
  Vectors values = read_vectors(folder, "model.bin", manifest, all);
  const auto statistics = values.begin() + static_cast<std::ptrdiff_t>(parameters.size());
  const Vectors state = read_vectors(folder, "optimizer.bin", manifest, of_optimizer);
  model.restore({{values.begin(), statistics}, {statistics, values.end()}, model.random(), model.algorithms()});
  optimizer.restore(state);
  optimizer.set_n_updates(counters.n_updates);
  return static_cast<int>(counters.iterators.at(0).epoch);
}

void skip_epochs(Updater& updater, int epochs, const horovod::Horovod& hvd) {
  const observe::CollectiveScope call("skip_epochs()");
  const std::vector<int> of_ranks = hvd.communicator().all_gather(epochs);
  const bool same = std::ranges::all_of(of_ranks, [&](int other) { return other == of_ranks.front(); });
  refusal::require(start_epochs_differ, same,
                   "The ranks don't start with the same epoch: {} epochs are over for ranks 0, 1, ... Broadcast "
                   "start_epoch from the rank that has read the checkpoint.",
                   fmt::join(of_ranks, ", "));
  if (epochs <= 0) return;
  SerialIterator& iterator = updater.iterators().front();
  iterator.restore(iterator.state_after(epochs));
}

}  // namespace odori
