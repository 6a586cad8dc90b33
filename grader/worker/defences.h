// What keeps a submission from cheating and from harm, by name, so that tests can switch one off and see what it was
// good for.
#pragma once

#include <set>
#include <string>

namespace odori::grader {

enum class Defence {
  network,      // no network but the sandbox's own loopback
  processes,    // so many processes and threads at once
  memory,       // so much of it, files in memory included
  disk,         // sizes of files, of /tmp and of /dev/shm
  output,       // what is kept of all that a program says
  time,         // compiling and running end at a limit
  descriptors,  // nothing that the grader has open is open inside
  files,        // only what a command needs is there; all of it can only be read
  escape,       // processes end with their command, and see no others
  environment,  // only the variables that a command needs
  syscalls,     // calls that keep memory where no limit sees it, or that widen the kernel's surface
  words,        // the rule about a blank's text
  names,        // the compiler takes no name that no answer needs
  submission,   // only the blanks' texts are taken
  evidence,     // what a run did is read and recomputed; off: a program that ends well is believed
};

/// The defences that are switched off: none but in tests.
using Without = std::set<Defence>;

/// "network,words"; empty: none. Throws UsageError, naming all, for a name that there isn't.
Without without_of(const std::string& names);

}  // namespace odori::grader
