// SPDX-License-Identifier: Apache-2.0
// planted_fault_program FAULT: as a test calls the library, this calls one that has a fault.
#include <cstdio>

#include "planted_fault.h"

int main(int, char** arguments) {
  plant(arguments[1]);
  std::puts("It came to its end.");
}
