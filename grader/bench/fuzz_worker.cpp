// SPDX-License-Identifier: Apache-2.0
// Texts that no compiler and no library writes, given to all that reads what they write: it has to come to an end, with
// addresses and undefined behaviour checked.
//
//   fuzz_worker [N] [SEED]     N texts for each reader
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "runner/build.h"
#include "runner/compiler_messages.h"
#include "runner/evidence.h"
#include "runner/programs.h"

using namespace odori::grader;

namespace {

/// Real texts, cut in pieces and put together again, with whatever bytes and numbers between.
class Texts {
 public:
  Texts(std::vector<std::string> real, std::uint64_t seed) : real_(std::move(real)), random_(seed) {}

  std::string next() {
    std::string text;
    for (std::size_t pieces = below(12); pieces-- > 0;) text += piece();
    if (below(100) == 0) text.insert(below(text.size() + 1), std::string(below(200'000), any_byte()));
    return text;
  }
  std::size_t below(std::size_t n) { return n ? std::uniform_int_distribution<std::size_t>(0, n - 1)(random_) : 0; }

 private:
  char any_byte() { return static_cast<char>(below(256)); }
  std::string piece() {
    static const std::vector<std::string> odd{
        "\n",   "'", ":", "99999999999999999999", "-1", "error: ", "note: ", "\"", "[", "{", "}", "1e400", "null",
        "\0\0", "]", ","};
    if (below(4) == 0) return odd[below(odd.size())];
    if (below(12) == 0) return std::string(below(9), any_byte());
    const std::string& real = real_[below(real_.size())];
    const std::size_t begin = below(2) ? 0 : below(real.size());
    std::string part = real.substr(begin, below(2) ? std::string::npos : below(real.size()));
    if (below(4) == 0 && !part.empty()) part[below(part.size())] = any_byte();
    return part;
  }

  std::vector<std::string> real_;
  std::mt19937_64 random_;
};

const std::vector<std::string> compilers{
    "blank_2:7:3: error: 'x' was not declared in this scope; did you mean 'y'?\n",
    "blank_2.kit:8:1: fatal error: expected ',' or ';' before 'const'\n",
    "/usr/include/c++/12/bits/unique_ptr.h:1065:30: error: no matching function for call to 'f(int)'\n",
    "blank_2:6:60:   required from here\n",
    "whole:6:1: note: candidate: 'odori::A::A(int)'\n",
    "whole:6:1: note: candidate: 'odori::A::A(const odori::A&)'\n",
    "whole:6:1: note:   no known conversion for argument 1 from 'int' {aka 'a'} to 'odori::B&'\n",
    "whole:6:1: note: initializing argument 2 of 'odori::A::A(int, odori::B&)'\n",
    "blank_2:6:1: error: could not convert 'o' from 'unique_ptr<odori::A,default_delete<odori::A>>' to "
    "'unique_ptr<odori::B,default_delete<odori::B>>'\n",
    "blank_2:6:1: error: cannot bind non-const lvalue reference of type 'odori::B&' to an rvalue of type 'odori::B'\n",
    "blank_2:6:1: error: invalid initialization of reference of type 'odori::B&' from expression of type 'odori::A'\n",
    "blank_2:6:1: error: redeclaration of 'const int x'\n",
    "whole:6:1: note:   candidate expects 5 arguments, 2 provided\n",
    "blank_2:6:1: error: conversion from 'odori::A*' to non-scalar type 'std::unique_ptr<odori::B>' requested\n",
    "blank_2:6:1: error: use of deleted function 'std::unique_ptr<_Tp, _Dp>::unique_ptr(const "
    "std::unique_ptr<_Tp>&)'\n",
    "/usr/bin/ld: 7_6.cpp:(.text+0x932): undefined reference to `answers::odori_blank_3::pick(odori::A&)'\n",
    "ld.lld: error: undefined symbol: answers::odori_whole::pick(int)\n"};

const std::vector<std::string> records{
    "{\"fact\":\"use_device\",\"device\":1}\n",
    "{\"fact\":\"training\",\"kind\":\"a\",\"devices\":[{\"name\":\"main\",\"device\":0}],"
    "\"iterators\":"
    "[{\"batch_size\":2,\"repeat\":1,\"images\":[1,2],\"not_counted\":[]}],\"models\":[0],\"evaluators\":[]}\n",
    "{\"fact\":\"step\",\"device\":0,\"images\":[1,2],\"numbers\":2}\n12345678",
    "{\"fact\":\"updated\"}\n",
    "{\"fact\":\"trained\"}\n",
    "{\"fact\":\"blanks_passed\"}\n",
    "{\"fact\":\"scatter\",\"root\":0}\n",
    "{\"fact\":\"enter\",\"collective\":\"comm->sum()\"}\n",
    "{\"fact\":\"failure\",\"sentence\":\"No.\",\"code\":1}\n",
    "{\"fact\":\"message\",\"call\":\"exchange\",\"to\":1,\"sent\":4,\"from\":2,\"received\":4}\n",
    "{\"fact\":\"message_done\"}\n",
    "{\"fact\":\"values\",\"length\":2,\"numbers\":2}\n12345678",
    "{\"fact\":\"evaluation\",\"loss\":1.5,\"accuracy\":0.5,\"samples\":3}\n"};

template <typename Read>
void feed(const char* name, int n, Texts texts, Read read) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) read(texts, texts.next());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print("{:<16}{:>8} texts {:8.1f} s\n", name, n, seconds.count());
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const Texts said(compilers, seed), recorded(records, seed);
  feed("read_errors", n, said, [](Texts&, const std::string& text) { read_errors(text); });
  feed("read_link_errors", n, said, [](Texts&, const std::string& text) { read_link_errors(text); });
  feed("unknown_name", n, said, [](Texts& texts, const std::string& text) {
    unknown_name(text);
    plain_words_for(text, texts.next());
  });
  const std::vector<std::string> lines{
      "int main() {", "  // BLANK 2: a question", "  const int a =", "\t0;", "", "  // END BLANK", "}"};
  const Blank place{.number = 2, .question = "a question", .first_line = 2, .text_line = 3, .last_line = 6};
  feed("finding_of", n, said, [&](Texts& texts, const std::string& text) {
    for (const CompileError& error : read_errors(text)) finding_of(error, place, lines, "const int a");
    finding_of(
        {.line = static_cast<int>(texts.below(9)), .column = static_cast<int>(texts.below(1'000'000)), .message = text},
        place, lines, text);
  });
  feed("read_rank", n, recorded, [](Texts& texts, const std::string& text) {
    read_rank(text, {.devices = 8, .images = 100, .calls = 100, .parameters = 10}, texts.below(2) == 0);
  });
  return 0;
}
