// SPDX-License-Identifier: Apache-2.0
#include "gpus.h"

namespace odori::gpus {

bool are_emulated() { return false; }
void prepare(const Communicator& /*comm*/) {}
int physical(int /*gpu*/) { return -1; }
void start_log(int /*rank*/) {}
std::vector<LogEntry> stop_log() { return {}; }
void describe(std::string /*name*/, std::vector<MemoryRange> /*reads*/, std::vector<MemoryRange> /*writes*/,
              double /*seconds*/) {}
void host_reads(std::string /*name*/, MemoryRange /*memory*/) {}

}  // namespace odori::gpus
