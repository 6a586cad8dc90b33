#include "backend/emulated/fiber.h"

#include <cstdint>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace odori::emulator {
namespace {

// AddressSanitizer wants to be told which stack comes next.
void leave([[maybe_unused]] void** mine, [[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(mine, stack, bytes);
#endif
}
void arrive([[maybe_unused]] void* mine, [[maybe_unused]] const void** from, [[maybe_unused]] std::size_t* bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(mine, from, bytes);
#endif
}

}  // namespace

Fiber::Fiber() : stack_(new std::byte[stack_bytes]) {
  getcontext(&start_);
  start_.uc_stack.ss_sp = stack_.get();
  start_.uc_stack.ss_size = stack_bytes;
  const auto self = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes ints alone
  makecontext(&start_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned int>(self),
              static_cast<unsigned int>(self >> 32));
}

void Fiber::enter(unsigned int low, unsigned int high) {
  reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low)->loop();
}

void Fiber::loop() {
  arrive(nullptr, &outside_stack_, &outside_stack_bytes_);
  for (;;) {
    (*work_)();
    done_ = true;
    yield();
  }
}

// After the first time _setjmp and _longjmp do: they are twenty times as fast as swapcontext, which asks the kernel.
void Fiber::run(const std::function<void()>& work) {
  if (done_) work_ = &work, done_ = false;
  void* mine = nullptr;
  leave(&mine, stack_.get(), stack_bytes);
  if (_setjmp(outside_) == 0) {
    if (started_) _longjmp(inside_, 1);
    started_ = true;
    setcontext(&start_);
  }
  arrive(mine, nullptr, nullptr);
}

void Fiber::yield() {
  void* mine = nullptr;
  leave(&mine, outside_stack_, outside_stack_bytes_);
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
  arrive(mine, &outside_stack_, &outside_stack_bytes_);
}

}  // namespace odori::emulator
