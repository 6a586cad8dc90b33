// SPDX-License-Identifier: Apache-2.0
// MPI's life in a program: from MPI_Init to MPI_Finalize. The only way into MPI; lives in main, before everything
// that talks to other ranks.
#pragma once

namespace odori {

/// Also tells report_failure() how to end all ranks when one of them fails.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  /// Finalizes MPI; not while an exception passes, since the other ranks would wait for this one: report_failure()
  /// ends the job then.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

}  // namespace odori
