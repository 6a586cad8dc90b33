// SPDX-License-Identifier: Apache-2.0
#include "comm/single_copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>

namespace odori {

bool avoid_refused_reads() {
  char from = 0, to = 0;
  const iovec local{&to, 1}, remote{&from, 1};
  if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1) return false;
  ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  ::setenv("OMPI_MCA_smsc", "^cma", 0);
  return true;
}

}  // namespace odori
