// Trainings that are compared: what came of each, by batch and by schedule of the learning rate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "train/extension.h"

namespace odori {

struct Trial {
  std::string schedule;  // "fixed", "scaled" or "warm_up"
  int batch = 0;         // images of an update, of all ranks
  double images_per_second = 0;
  double training_loss = 0;      // in the last epoch
  double held_out_accuracy = 0;  // on images that it wasn't trained on, after the last epoch

  struct Epoch {
    double seconds = 0, held_out_accuracy = 0;
  };
  std::vector<Epoch> epochs = {};  // seconds: since the training began

  /// Until it was as accurate as this at the end of an epoch; below 0: never.
  double seconds_to(double accuracy) const;
};

/// Writes what comes of a training into `trial`, which must outlive it.
class TrialReport : public Extension {
 public:
  explicit TrialReport(Trial& trial) : trial_(&trial) {}
  void run(Trainer& trainer) override;
  std::string name() const override { return "TrialReport"; }

 private:
  Trial* trial_;
};

/// "fixed:900:0.5:0.61,scaled:...+...": the schedule, images a second, training loss, held-out accuracy; of one batch,
/// and, behind a +, of the next. Throws UsageError for another text.
std::vector<std::vector<Trial>> recorded_trials(const std::string& text);

/// Which of the trainings of one batch to go on with.
using Choice = std::function<Trial(const std::vector<Trial>&)>;

/// Rank 0 prints what is chosen of each batch's trainings. The grader gets its numbers.
void show_choices(const std::vector<std::vector<Trial>>& of_batches, const Choice& choose, const Communicator& comm);

/// Rank 0 says so if a warm-up is longer than the trainings: none of them reaches the scaled rate then. `only`: the one
/// schedule that is trained by, if it isn't empty.
void tell_of_warm_up(int warmup_epochs, int epochs, const std::string& only, const Communicator& comm);

/// Trains with m = 1, 4, 16 ... `largest` batches of each rank an update, by each schedule; or, if `only` names a
/// schedule, once by that and with `largest`, and nothing is chosen. Rank 0 prints what came of each, and when it had
/// nine tenths of the best accuracy, and makes a diagram of their accuracies by batch in the folder `out` (and
/// trials.json), beside trainings that were `stored` earlier (a path below solutions/).
void compare_trials(const std::function<Trial(const std::string& schedule, int m)>& train, const Choice& choose,
                    int largest, const std::string& only, const Communicator& comm, const std::string& out,
                    const std::string& stored);

}  // namespace odori
