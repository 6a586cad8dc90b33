// SPDX-License-Identifier: Apache-2.0
// Initialises and finalises MPI. Create one MpiSession at the start of main(), before anything that communicates.
#pragma once

namespace odori {

/// Also makes report_failure() end all ranks if one of them fails.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  /// Finalises MPI, except during an exception: MPI_Finalize would wait for the other ranks, and report_failure() ends
  /// the job.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

}  // namespace odori
