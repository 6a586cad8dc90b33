// SPDX-License-Identifier: Apache-2.0
#include "distributed/snapshot.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <tuple>

#include "distributed/exchange/strategy.h"
#include "distributed/multi_node_agreement.h"
#include "distributed/multi_node_evaluator.h"
#include "errors/error.h"
#include "errors/text.h"
#include "files/file.h"
#include "program/program.h"
#include "trace/trace.h"
#include "train/trainer.h"

namespace odori {
namespace {

namespace fs = std::filesystem;

std::string rank_file(int rank) { return fmt::format("rank_{}.json", rank); }

SnapshotSubject subject_of(Updater& updater, Communicator* comm) {
  return {updater.model().network(),  updater.model().batch_size(), updater.description(),
          updater.optimizer().name(), comm ? comm->size() : 1,      to_string(updater.model().device().precision())};
}

std::vector<DataFingerprint> data_of(Updater& updater) {
  std::vector<DataFingerprint> data;
  for (const SerialIterator& iterator : updater.iterators()) data.push_back(fingerprint(*iterator.dataset()));
  return data;
}

/// Collective: of the data of all ranks.
std::uint64_t whole(const std::vector<DataFingerprint>& data, Communicator* comm) {
  std::uint64_t sum = 0;
  for (const DataFingerprint& of_device : data) sum += of_device.of_set;
  const std::vector<std::uint64_t> of_rank = comm ? comm->all_gather(sum) : std::vector{sum};
  return std::accumulate(of_rank.begin(), of_rank.end(), std::uint64_t{0});
}

RankState rank_state_of(Trainer& trainer, const std::vector<DataFingerprint>& data) {
  Updater& updater = trainer.updater();
  const ExchangeStrategy* const exchange = updater.optimizer().exchange();
  RankState state{updater.iteration(),
                  trainer.elapsed_time(),
                  updater.optimizer().learning_rate(),
                  updater.optimizer().n_updates(),
                  exchange ? exchange->report().overflows : 0,
                  updater.model().algorithms()};
  for (const SerialIterator& iterator : updater.iterators()) state.iterators.push_back(iterator.state());
  for (const DataFingerprint& of_device : data) state.data.push_back(of_device.in_order);
  for (const Classifier* model : updater.models()) state.random.push_back(model->random());
  for (const auto& extension : trainer.extensions())
    if (std::string text = extension->state(); !text.empty()) state.states[extension->name()] = std::move(text);
  return state;
}

/// Collective: writes the complete folder `part`. All ranks see one file system.
void write_folder(const std::string& part, Trainer& trainer, const std::vector<DataFingerprint>& data,
                  Communicator* comm) {
  const int rank = comm ? comm->rank() : 0;
  SnapshotManifest manifest{subject_of(trainer.updater(), comm), whole(data, comm)};
  manifest.written = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  collectively(comm, [&] {
    if (rank != 0) return;
    fs::remove_all(part);  // what a run that was killed has left
    fs::create_directory(part);
  });
  const Vectors optimizer = trainer.updater().optimizer().state();  // ranks may have a part each
  FileCheck own;
  collectively(comm, [&] {
    own = write_checked(part + "/" + rank_file(rank), to_text(rank_state_of(trainer, data)));
    if (rank != 0) return;
    const ModelState model = trainer.updater().model().state();
    manifest.files["model.bin"] = write_vectors(part + "/model.bin", {&model.parameters, &model.statistics});
    manifest.files["optimizer.bin"] = write_vectors(part + "/optimizer.bin", {&optimizer});
  });
  const std::vector<FileCheck> of_rank = comm ? comm->all_gather(own) : std::vector{own};
  for (std::size_t r = 0; r < of_rank.size(); ++r) manifest.files[rank_file(static_cast<int>(r))] = of_rank[r];
  collectively(comm, [&] {
    if (rank == 0) write_file(part + "/snapshot.json", to_text(manifest));
  });
}

/// A folder that may be a snapshot.
struct Candidate {
  std::string folder;
  bool is_latest = false;  // by OUT/latest
  double written = 0;      // by its manifest
};

/// The snapshots in `path`, the newest first; those that can't even be read are added to `passed_over`.
std::vector<Candidate> find_candidates(const std::string& path, std::vector<std::string>& passed_over) {
  std::string latest;
  std::error_code none_there;
  // A pipe of that name would be waited for.
  if (fs::is_regular_file(path + "/latest", none_there)) std::getline(std::ifstream(path + "/latest"), latest);
  std::vector<Candidate> candidates;
  for (const auto& entry : fs::directory_iterator(path, none_there)) {
    const std::string name = entry.path().filename().string();
    // NAME.old is whole: a kill came between its two renamings (replace_folder). NAME.part isn't.
    if (!name.starts_with("snapshot_epoch_") || name.ends_with(unfinished_suffix)) continue;
    try {
      const std::string folder = entry.path().string();
      candidates.push_back({folder, name == latest, read_manifest(folder).written});
    } catch (const Error& error) {
      passed_over.push_back(error.what());
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.is_latest, a.written, b.folder) > std::tuple(b.is_latest, b.written, a.folder);
  });
  return candidates;
}

/// Collective: rank 0's text.
std::string of_rank_0(std::string text, Communicator* comm) {
  if (!comm) return text;
  text.resize(comm->all_gather(text.size()).front());
  comm->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

/// `path` itself if it is a snapshot, else the newest in it of which every rank sees all files as its manifest says:
/// what one rank sees of a shared folder may be older than what another does. Collective; rank 0 looks for them.
std::string find_snapshot(const std::string& path, Communicator* comm, std::vector<std::string>& passed_over) {
  std::string names;  // a line each
  if (!comm || comm->rank() == 0) {
    if (std::error_code none; fs::exists(path + "/snapshot.json", none))
      names = ".\n";
    else
      for (const Candidate& candidate : find_candidates(path, passed_over))
        names += fs::path(candidate.folder).filename().string() + "\n";
  }
  names = of_rank_0(std::move(names), comm);
  if (names == ".\n") return path;
  for (const std::string& name : split_lines(names)) {
    const std::string folder = path + "/" + name;
    try {
      collectively(comm, [&] { require_undamaged(folder); });
      return folder;
    } catch (const Error& error) {
      passed_over.push_back(error.what());
    }
  }
  fail("{}",
       of_rank_0(
           in_language({"There is no snapshot in {}{} Give --resume the folder of one (snapshot_epoch_N) or the --out "
                        "folder that holds them.",
                        "{} には、使えるスナップショットがありません{}--resume には、スナップショットのフォルダ"
                        "（snapshot_epoch_N）か、それを含む --out のフォルダを指定してください。"},
                       path,
                       passed_over.empty() ? in_language(Text{".", "。"})
                                           : in_language({" that could be used: {}", "。{}"},
                                                         fmt::format("{}", fmt::join(passed_over, " ")))),
           comm));
}

/// All but the newest `keep` snapshots, and what kills have left. They get the name of what isn't whole before their
/// files go: a kill leaves no half of one that seems to be a snapshot.
void remove_old(const std::string& out, int keep) {
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(out)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("snapshot_epoch_") && name.ends_with(unfinished_suffix)) unfinished.push_back(entry.path());
  }
  for (const fs::path& folder : unfinished) fs::remove_all(folder);
  if (keep == 0) return;
  std::vector<std::string> unreadable;  // stay: a later resume tells of them
  const std::vector<Candidate> newest_first = find_candidates(out, unreadable);
  for (std::size_t i = static_cast<std::size_t>(keep); i < newest_first.size(); ++i) {
    const std::string& folder = newest_first[i].folder;
    fs::rename(folder, folder + std::string(unfinished_suffix));
    fs::remove_all(folder + std::string(unfinished_suffix));
  }
}

struct Loaded {
  SnapshotSubject subject;
  ModelState model;
  Vectors optimizer;
  RankState rank;
};

std::vector<std::size_t> sizes_of(const std::vector<NamedView>& views) {
  std::vector<std::size_t> sizes;
  for (const NamedView& view : views) sizes.push_back(view.view.size());
  return sizes;
}

/// What a rank has to remember of its own, where the snapshot is of another number of ranks: as it has it now, brought
/// to where the snapshot's first rank is.
void take_own_part(RankState& state, std::int64_t epochs_done, Updater& updater) {
  const std::vector<Classifier*> models = updater.models();
  const std::uint64_t step = state.random.front().step;
  for (std::size_t i = 0; i < models.size(); ++i) {
    state.iterators[i] = updater.iterators()[i].state_after(epochs_done);
    state.random[i] = models[i]->random();
    state.random[i].step = step;
  }
}

/// Everything from the folder, checked against this training, before anything of it is changed. `data`: of this rank's
/// devices, and of all ranks.
Loaded load(const std::string& folder, Trainer& trainer, Communicator* comm, const std::vector<DataFingerprint>& data,
            std::uint64_t whole_data) {
  Updater& updater = trainer.updater();
  Classifier& model = updater.model();
  const SnapshotManifest manifest = read_manifest(folder);
  const SnapshotSubject here = subject_of(updater, comm);
  require_same(manifest.subject, here);
  const bool same_ranks = manifest.subject.n_ranks == here.n_ranks;
  const int own_rank = comm ? comm->rank() : 0;

  Loaded loaded{manifest.subject};
  loaded.rank = read_rank_state(folder, rank_file(same_ranks ? own_rank : 0), manifest);
  RankState& rank = loaded.rank;
  const std::size_t n_devices = updater.models().size();
  require(rank.iterators.size() == n_devices && rank.data.size() == n_devices && rank.random.size() == n_devices,
          "The snapshot {} is of {} devices, this training has {}.", folder, rank.iterators.size(), n_devices);
  const std::int64_t epochs_done = rank.iterators.front().epoch;
  require(
      epochs_done <= trainer.n_epochs(),
      "The snapshot {} has {} epochs behind it, and --epoch asks for {} in all. Give a larger --epoch, or an earlier "
      "snapshot.",
      folder, epochs_done, trainer.n_epochs());
  // Ranks have seeds of their own.
  require((!same_ranks && own_rank > 0) || rank.random.front().seed == model.random().seed,
          "The snapshot's random numbers come from seed {}, those of this training from seed {}. Give the same --seed.",
          rank.random.front().seed, model.random().seed);
  require(manifest.data == whole_data,
          "The snapshot {} was trained on other data. Give the same --dataset and --fraction, to the program that "
          "wrote it.",
          folder);
  for (std::size_t i = 0; i < n_devices; ++i)
    require(!same_ranks || rank.data[i] == data[i].in_order,
            "The snapshot {} was trained on the same data, but in other shards: another program wrote it, or this one "
            "has been changed since. Go on with the program that wrote it.",
            folder);
  if (!same_ranks) take_own_part(rank, epochs_done, updater);
  for (std::size_t i = 0; i < n_devices; ++i) updater.iterators()[i].check(rank.iterators[i]);

  const std::vector<std::size_t> parameters = sizes_of(model.parameters());
  std::vector<std::size_t> all = parameters;
  for (const std::size_t size : sizes_of(model.statistics())) all.push_back(size);
  loaded.model.parameters = read_vectors(folder, "model.bin", manifest, all);
  const auto behind_parameters = loaded.model.parameters.begin() + static_cast<std::ptrdiff_t>(parameters.size());
  loaded.model.statistics.assign(std::make_move_iterator(behind_parameters),
                                 std::make_move_iterator(loaded.model.parameters.end()));
  loaded.model.parameters.resize(parameters.size());
  std::vector<std::size_t> remembered;
  for (std::size_t i = 0; i < updater.optimizer().n_lists(); ++i)
    remembered.insert(remembered.end(), parameters.begin(), parameters.end());
  loaded.optimizer = read_vectors(folder, "optimizer.bin", manifest, remembered);
  return loaded;
}

/// What --learnrate is of a training that goes on: where it has a schedule, that rate times the schedule is in force.
float own_rate(const RankState& rank, const Trainer& trainer) {
  const auto own = rank.states.find("LearningRate");
  const bool scheduled = std::ranges::any_of(trainer.extensions(),
                                             [](const auto& extension) { return extension->name() == "LearningRate"; });
  return scheduled && own != rank.states.end() ? number_of<float>(own->second).value_or(0) : rank.learning_rate;
}

void apply(Loaded& loaded, Trainer& trainer) {
  Updater& updater = trainer.updater();
  loaded.model.algorithms = loaded.rank.algorithms;
  const std::vector<Classifier*> models = updater.models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    loaded.model.random = loaded.rank.random[i];
    models[i]->device().bind_thread();
    models[i]->restore(loaded.model);
    updater.iterators()[i].restore(loaded.rank.iterators[i]);
  }
  updater.model().device().bind_thread();
  updater.optimizer().restore(loaded.optimizer);
  updater.optimizer().set_learning_rate(loaded.rank.learning_rate);
  updater.optimizer().set_n_updates(loaded.rank.n_updates);
  if (ExchangeStrategy* const exchange = updater.optimizer().exchange())
    exchange->report().overflows = loaded.rank.overflows;
  updater.set_iteration(loaded.rank.iteration);
  trainer.set_elapsed_before(loaded.rank.elapsed_time);
  for (const auto& extension : trainer.extensions())
    if (const auto state = loaded.rank.states.find(extension->name()); state != loaded.rank.states.end())
      extension->restore(state->second);
}

}  // namespace

void Snapshot::initialize(Trainer& trainer) {
  data_ = data_of(trainer.updater());
  if (!comm_ || comm_->rank() == 0) remove_unfinished(trainer.out() + "/latest");
}

void Snapshot::run(Trainer& trainer) {
  const trace::Span span("snapshot");
  if (comm_) average_statistics(trainer.updater().model(), *comm_);
  const std::string folder = fmt::format("{}/snapshot_epoch_{}", trainer.out(), trainer.updater().epoch());
  const std::string part = folder + std::string(unfinished_suffix);
  const bool writes = !comm_ || comm_->rank() == 0;
  try {
    write_folder(part, trainer, data_, comm_);
    collectively(comm_, [&] {
      if (!writes) return;
      replace_file(trainer.out() + "/latest", fs::path(folder).filename().string() + "\n");
      replace_folder(part, folder);
    });
  } catch (...) {
    const std::string reason = sentence_of_current_exception();
    std::error_code ignored;
    if (writes) fs::remove_all(part, ignored);
    fail("The snapshot of epoch {} failed. {} {}", trainer.updater().epoch(), reason, trainer.way_on());
  }
  trainer.set_last_snapshot(folder);
  try {
    if (writes) remove_old(trainer.out(), keep_);
  } catch (const fs::filesystem_error&) {
    fmt::print(stderr, "An old snapshot can't be removed. {} The training goes on; remove it yourself.\n",
               sentence_of_current_exception());
  }
}

void resume(const ResumeFrom& from, Trainer& trainer, Communicator* comm) {
  std::vector<std::string> passed_over;
  const std::string folder = find_snapshot(from.path, comm, passed_over);
  const std::vector<DataFingerprint> data = data_of(trainer.updater());
  const std::uint64_t whole_data = whole(data, comm);
  const float asked = trainer.updater().optimizer().learning_rate();
  Loaded loaded;
  collectively(comm, [&] { loaded = load(folder, trainer, comm, data, whole_data); });
  apply(loaded, trainer);
  trainer.set_last_snapshot(folder);
  if (comm && comm->rank() != 0) return;
  for (const std::string& reason : passed_over) fmt::print("Passed over: {}\n", reason);
  const std::int64_t epochs = trainer.updater().epoch();
  fmt::print("Going on from {}: {} epoch{}, {} iterations are done; the learning rate is {}.\n", folder, epochs,
             epochs == 1 ? "" : "s", trainer.updater().iteration(), trainer.updater().optimizer().learning_rate());
  if (const float rate = own_rate(loaded.rank, trainer); from.asks_for_rate && asked != rate)
    fmt::print("--learnrate changes nothing in a training that goes on: its rate is the snapshot's {}, not {}.\n", rate,
               asked);
  const std::string precision = to_string(trainer.updater().model().device().precision());
  if (loaded.subject.precision != precision)
    fmt::print(
        "The snapshot is of a training in {0}, this one is in {1}: the weights will not be those of a training in "
        "{0}.\n",
        loaded.subject.precision, precision);
  const int n_ranks = comm ? comm->size() : 1;
  if (loaded.subject.n_ranks == n_ranks) return;
  fmt::print(
      "{0} rank{1} wrote this snapshot, and this training has {2}: weights, optimizer state, learning rate, epochs and "
      "log are the same, but the ranks have other shards of the data, in another order and with other random numbers, "
      "and "
      "an update uses the batches of {2} rank{3}, so the weights will not be those of a training on {0} rank{1}.\n",
      loaded.subject.n_ranks, loaded.subject.n_ranks == 1 ? "" : "s", n_ranks, n_ranks == 1 ? "" : "s");
}

}  // namespace odori
