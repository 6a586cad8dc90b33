// SPDX-License-Identifier: Apache-2.0
// Starts a program on generated data, by a plan, and reads how it ended and what it showed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "blanks/task.h"
#include "files/file.h"
#include "runner/evidence.h"
#include "runner/evidence_files.h"
#include "runner/run_plan.h"
#include "runner/sandbox.h"

namespace odori::grader {

struct ScratchFolder : TemporaryFolder {
  /// At a path that begins with `prefix`. Throws EnvironmentFault if it can't be made.
  explicit ScratchFolder(const std::filesystem::path& prefix = any());
  /// Below $TMPDIR or /tmp.
  static std::filesystem::path any();
};

/// Makes a data set of this size and loads it. Throws EnvironmentFault if the disk is full.
RunData make_data(const std::filesystem::path& folder, std::size_t train, std::size_t test, std::uint64_t seed);

/// One start of a program, for a check or for a timed job: its command, what it may see inside a sandbox, and what it
/// leaves.
struct Start {
  /// `data`: the folder of the data set; `folder`: where it runs and leaves its evidence (see EvidenceFiles).
  Start(const std::filesystem::path& program, const std::vector<std::string>& flags, const RunPlan& plan,
        bool under_mpi, const std::filesystem::path& data, const std::filesystem::path& folder, bool parameters = true);
  /// Once, after the end. `sandboxed`: evidence that somebody else has opened is forged.
  Evidence read(EvidenceLimits limits, bool marked, bool sandboxed);

  Command command;
  SandboxPolicy policy;
  EvidenceFiles files;

 private:
  FileWatch data_, writers_;  // after `files`: the grader's own opening doesn't count
};

/// True if the program did not cause its end: it was killed from outside, or mpirun died of a signal and none of its
/// ranks did. Open MPI 4's does so rarely, after all ranks have ended (PMIx_server_finalize).
bool ended_by_accident(const Ended& ended, bool under_mpi);

/// Folders with a training program's libraries and mpirun, unless they are below /usr. `kits`: one of the kit's
/// programs, never a learner's.
std::vector<std::filesystem::path> libraries_of(const std::filesystem::path& kits);

class Runner {
 public:
  /// Makes a small data set that depends on the seed alone. `solution`: the kit's own program; `sandbox`: for programs
  /// that are not the user's own. `least_silence`: a run may be without a new fact for at least that long, and take at
  /// least 7.5 times that in all; longer where it began slowly. Throws EnvironmentFault if the disk is full.
  Runner(const Task& task, std::filesystem::path solution, std::uint64_t seed, const Sandbox* sandbox = nullptr,
         std::chrono::seconds least_silence = std::chrono::seconds(8));

  const RunData& data() const { return data_; }
  /// Ends a program that shows nothing new for a while (`hung`). If the kit's own program ends badly too, it is the
  /// machine's fault (`environment`). Runs a program again, at most twice, that ended by accident or before any of the
  /// learner's text ran, and once if it made no progress. Once `cancelled`, the result means nothing. Thread-safe.
  Evidence run(const std::filesystem::path& program, const RunPlan& plan, const std::atomic<bool>& cancelled) const;

 private:
  struct Attempt {
    Evidence evidence;
    bool began = false;   // the library has come as far as the learner's text
    bool killed = false;  // by an accident
    bool slow = false;    // it was still showing something new when its time was over
    bool finished() const { return evidence.ending == Ending::finished; }
    /// How often it has to end so before it counts. A standstill can be a busy machine's.
    int times_to_count() const {
      if (finished()) return 1;
      return killed || !began ? 3 : evidence.ending == Ending::hung && !slow ? 2 : 1;
    }
  };
  Attempt attempt(const std::filesystem::path& program, const RunPlan& plan, const std::atomic<bool>& cancelled) const;

  const Task& task_;
  std::filesystem::path solution_;
  const Sandbox* sandbox_;
  const std::chrono::seconds least_silence_;
  std::vector<std::filesystem::path> libraries_;
  ScratchFolder scratch_;
  RunData data_;
};

}  // namespace odori::grader
