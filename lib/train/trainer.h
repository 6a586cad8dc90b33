// The training loop. After Chainer's Trainer.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "train/extension.h"
#include "train/updater.h"

namespace odori {

class Trainer {
 public:
  /// Trains for n_epochs into the folder `out`, which is made when needed. Throws Error if it can't be written.
  Trainer(Updater& updater, int n_epochs, std::string out);

  void extend(std::unique_ptr<Extension> extension);
  /// trainer.extend(LogReport());
  template <typename E>
    requires std::is_base_of_v<Extension, E>
  void extend(E extension) {
    extend(std::unique_ptr<Extension>(std::make_unique<E>(std::move(extension))));
  }

  /// Until the last epoch is over. Throws what an update or an extension throws, and Interrupted at Ctrl-C.
  void run();

  Updater& updater() { return updater_; }
  int n_epochs() const { return n_epochs_; }
  const std::string& out() const { return out_; }
  /// Seconds of run() so far, with those of before a resume.
  double elapsed_time() const;
  /// Values of the running iteration, by name: "validation/main/loss". Extensions write and read them.
  std::map<std::string, double>& observation() { return observation_; }
  const std::vector<std::unique_ptr<Extension>>& extensions() const { return extensions_; }
  void set_elapsed_before(double seconds) { elapsed_before_ = seconds; }

 private:
  Updater& updater_;
  int n_epochs_;
  std::string out_;
  std::vector<std::unique_ptr<Extension>> extensions_;
  std::map<std::string, double> observation_;
  double start_ = -1, elapsed_before_ = 0;
};

}  // namespace odori
