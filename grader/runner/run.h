// Starts a program on data of its own, by a plan, and says how it ended and what it showed.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "blanks/task.h"
#include "files/file.h"
#include "runner/evidence.h"
#include "runner/run_plan.h"
#include "runner/sandbox.h"

namespace odori::grader {

class EvidenceFiles;

/// Below $TMPDIR or /tmp, or where its path begins as is said.
struct ScratchFolder : TemporaryFolder {
  /// Throws EnvironmentFault if it can't be made.
  ScratchFolder();
  explicit ScratchFolder(const std::filesystem::path& prefix);
};

class Runner {
 public:
  /// Makes a small data set, whose sizes leave remainders for 2 to 5 devices, and which depends on the seed alone.
  /// `solution`: the kit's own program; `sandbox`: what programs run in that aren't the user's own. Throws
  /// EnvironmentFault if the disk is full.
  Runner(const Task& task, std::filesystem::path solution, std::uint64_t seed, const Sandbox* sandbox = nullptr);

  const RunData& data() const { return data_; }
  /// Several threads may call it at once. A program that shows nothing new for a while is ended (`hung`). If it ends
  /// badly, and the kit's own does so too, it is the machine's fault (`environment`). One that came to its end before
  /// any of the learner's text ran, or ended by accident, is run again, up to twice, and one that stopped moving,
  /// once. Once `cancelled`, it is ended and what is returned means nothing.
  Evidence run(const std::filesystem::path& program, const RunPlan& plan, const std::atomic<bool>& cancelled) const;

 private:
  /// What a run inside `sandbox_` sees: its program, its data, and the files of its evidence, which it can fill.
  SandboxPolicy policy_of(const std::filesystem::path& program, const RunPlan& plan, const EvidenceFiles& evidence,
                          const std::filesystem::path& folder) const;
  struct Attempt {
    Evidence evidence;
    bool began = false;   // the library has come as far as the learner's text
    bool killed = false;  // by an accident
    bool slow = false;    // it was still showing something new when its time was over
    bool finished() const { return evidence.ending == Ending::finished; }
    /// How often it has to end so before it counts. What nothing that the program is could explain may happen twice to
    /// the same run; a standstill can be a machine's that served none of its ranks for long enough.
    int times_to_count() const {
      if (finished()) return 1;
      return killed || !began ? 3 : evidence.ending == Ending::hung && !slow ? 2 : 1;
    }
  };
  Attempt attempt(const std::filesystem::path& program, const RunPlan& plan, const std::atomic<bool>& cancelled) const;

  const Task& task_;
  std::filesystem::path solution_;
  const Sandbox* sandbox_;
  std::vector<std::filesystem::path> libraries_;
  ScratchFolder scratch_;
  RunData data_;
};

}  // namespace odori::grader
