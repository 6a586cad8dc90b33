// SPDX-License-Identifier: Apache-2.0
#include "backend/emulated/fiber.h"

#include <cstdint>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace odori::emulator {
namespace {

// AddressSanitizer needs to know of each switch of stacks.
void start_switch([[maybe_unused]] void** saved, [[maybe_unused]] const void* stack,
                  [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(saved, stack, bytes);
#endif
}
void finish_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** from,
                   [[maybe_unused]] std::size_t* bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(saved, from, bytes);
#endif
}

}  // namespace

Fiber::Fiber() : stack_(new std::byte[stack_bytes]) {
  getcontext(&start_);
  start_.uc_stack.ss_sp = stack_.get();
  start_.uc_stack.ss_size = stack_bytes;
  const auto self = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes ints only
  makecontext(&start_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned int>(self),
              static_cast<unsigned int>(self >> 32));
}

void Fiber::enter(unsigned int low, unsigned int high) {
  reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low)->loop();
}

void Fiber::loop() {
  finish_switch(nullptr, &outside_stack_, &outside_stack_bytes_);
  for (;;) {
    (*work_)();
    done_ = true;
    yield();
  }
}

// setcontext starts the fiber; _setjmp and _longjmp resume it, as they need no system call, unlike swapcontext.
void Fiber::run(const std::function<void()>& work) {
  if (done_) work_ = &work, done_ = false;
  void* saved = nullptr;
  start_switch(&saved, stack_.get(), stack_bytes);
  if (_setjmp(outside_) == 0) {
    if (started_) _longjmp(inside_, 1);
    started_ = true;
    setcontext(&start_);
  }
  finish_switch(saved, nullptr, nullptr);
}

void Fiber::yield() {
  void* saved = nullptr;
  start_switch(&saved, outside_stack_, outside_stack_bytes_);
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
  finish_switch(saved, &outside_stack_, &outside_stack_bytes_);
}

}  // namespace odori::emulator
