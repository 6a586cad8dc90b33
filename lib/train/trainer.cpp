// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "errors/error.h"
#include "files/file.h"
#include "files/lock.h"
#include "program/program.h"
#include "trace/trace.h"
#include "train/throughput.h"
#include "train/training_facts.h"

namespace odori {
namespace {

void make_writable(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  require(!error,
          {"The output folder {} can't be written: {}. Give --out a folder that you may write to.",
           "出力フォルダ {} に書き込めません: {}。--out に書き込めるフォルダを指定してください。"},
          folder, error.message());
}

/// Of a training that writes into the folder. Where the file system has no locks, none is held.
Lock lock_of(const std::string& folder) {
  Lock lock(folder + "/.lock", 0666);
  bool free = true;
  try {
    free = lock.take(Lock::Kind::exclusive);
  } catch (const WriteError&) {
  }
  const std::string holder = lock.holder();
  require(free,
          {"Another training writes into {} ({}). Give --out another folder, or wait until that one has ended.",
           "別の学習が {} に書き込んでいます（{}）。--out "
           "に別のフォルダを指定するか、その学習が終わるまで待ってください。"},
          folder, holder.empty() ? in_language(Text{"it doesn't say which", "どの学習かは不明"}) : holder);
  return lock;
}

/// Ends the extensions however the training ends.
class Finalizer {
 public:
  explicit Finalizer(Trainer& trainer) : trainer_(trainer) {}
  ~Finalizer() {
    for (const auto& extension : trainer_.extensions()) extension->finalize(trainer_);
  }

 private:
  Trainer& trainer_;
};

}  // namespace

Trainer::Trainer(Updater& updater, int n_epochs, std::string out, bool keep_going)
    : updater_(updater), n_epochs_(n_epochs), out_(std::move(out)), keep_going_(keep_going) {
  require(n_epochs > 0, "Training takes at least one epoch, but {} were asked for.", n_epochs);
  make_writable(out_);
}

void Trainer::extend(std::unique_ptr<Extension> extension) {
  require(extension != nullptr, "The trainer was given an extension that is null.");
  require(!start_, "The trainer runs already: give it {} before run().", extension->name());
  extensions_.push_back(std::move(extension));
}

void Trainer::run(std::source_location site) {
  const observe::ProgramSite of_this_call(site);
  require(!start_, "This trainer has run already. Make a new one to train again.");
  catch_interrupts();
  std::stable_sort(extensions_.begin(), extensions_.end(),
                   [](const auto& a, const auto& b) { return a->priority() > b->priority(); });
  const bool writes = std::any_of(extensions_.begin(), extensions_.end(), [](const auto& e) { return e->writes(); });
  const Lock lock = writes ? lock_of(out_) : Lock();
  if (writes) remove_result(out_);
  start_ = Clock::now();
  first_iteration_ = updater_.iteration();
  const Finalizer finalizer(*this);
  for (const auto& extension : extensions_) extension->initialize(*this);
  observe::on_training_begun(*this);
  while (updater_.epoch() < n_epochs_) {
    if (interrupted()) stop_interrupted();
    iterate();
  }
  observe::on_training_ended();
  end_ = Clock::now();
}

void Trainer::iterate() {
  observation_.clear();
  {
    const trace::Span span("iteration");
    updater_.update();
  }
  observe::on_update_done(updater_);
  const bool is_new_epoch = updater_.is_new_epoch();
  if (is_new_epoch) {
    const Metrics metrics = updater_.take_metrics();
    observation_["main/loss"] = std::abs(metrics.loss());  // nan without its sign
    observation_["main/accuracy"] = metrics.accuracy();
    if (trace::on())
      trace::instant("epoch", trace::Args().add("epoch", updater_.epoch()).add("iteration", updater_.iteration()));
  }
  run_extensions(is_new_epoch);
  if (is_new_epoch && !keep_going_) require_finite_loss();
}

void Trainer::require_finite_loss() const {
  for (const char* key : {"main/loss", "validation/main/loss"}) {
    const auto loss = observation_.find(key);
    if (loss == observation_.end() || std::isfinite(loss->second)) continue;
    throw Error(
        in_language({"The training diverged: {} is {} at the end of epoch {}. A smaller --learnrate, or a larger "
                     "--batchsize, keeps the weights finite; --keep-going trains on all the same.",
                     "学習が発散しました。{0} がエポック {2} の終わりに {1} になりました。--learnrate を小さくするか、"
                     "--batchsize を大きくしてください。--keep-going を付けると、そのまま学習を続けます。"},
                    key, loss->second, updater_.epoch()),
        exit_code::diverged);
  }
}

void Trainer::run_extensions(bool is_new_epoch) {
  for (const auto& extension : extensions_)
    if (is_new_epoch || extension->trigger() == Trigger::iteration) extension->run(*this);
  if (is_new_epoch) observe::on_observation(observation_);
}

void Trainer::stop_interrupted() {
  throw Error(in_language({"Interrupted at iteration {}, in epoch {} of {}. {}",
                           "反復 {}（エポック {} / {}）で中断しました。{}"},
                          updater_.iteration(), updater_.epoch() + 1, n_epochs_, way_on()),
              exit_code::interrupted);
}

std::string Trainer::way_on() const {
  if (last_snapshot_.empty())
    return in_language(Text{"There is no snapshot yet, so a new start begins at the first epoch.",
                            "スナップショットはまだないため、次は最初のエポックから始まります。"});
  return in_language({"The last good snapshot is {0}: --resume {0} goes on from there.",
                      "最後のスナップショットは {0} です。--resume {0} でそこから再開できます。"},
                     last_snapshot_);
}

double Trainer::elapsed_time() const {
  if (!start_) return elapsed_before_;
  return elapsed_before_ + std::chrono::duration<double>(end_.value_or(Clock::now()) - *start_).count();
}

}  // namespace odori
