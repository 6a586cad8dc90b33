// SPDX-License-Identifier: Apache-2.0
// Every reader of what a learner wrote, given texts that nobody would write: as many as asked for, some thousand bytes
// each, made of pieces and of the kit's own answers with bytes changed. Then texts of one thing, of 100 kB from 3,000
// texts on. Built with the address and undefined-behaviour sanitizers, which end it with a report; nothing else of the
// kit is needed.
//
//   fuzz_readers KIT [TEXTS [SEED]]
//
// Says how long the slowest texts took; exit code 1 if one took more than 20 s of this processor's time.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "bench/pieces.h"
#include "blanks/blank_identifiers.h"
#include "blanks/lexer.h"
#include "blanks/select_line.h"
#include "blanks/submission.h"
#include "blanks/utf8.h"
#include "errors/error.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

constexpr double most_seconds = 20;

/// A file of the kit, and its copy that is changed.
struct Kits {
  fs::path path;
  std::string text;
};

std::string changed(std::string text, Random& random) {
  for (std::size_t n = 1 + below(random, 8); n > 0 && !text.empty(); --n) {
    const std::size_t at = below(random, text.size());
    switch (below(random, 4)) {
      case 0:
        text[at] = static_cast<char>(below(random, 256));
        break;
      case 1:
        text.erase(at, below(random, 40));
        break;
      case 2:
        text.insert(at, text.substr(below(random, text.size()), below(random, 200)));
        break;
      default:
        text.insert(at, text_of_pieces(random, 3, 8));
    }
  }
  return text;
}

/// A select line's parts, in any order.
std::string made_directive(Random& random) {
  constexpr auto parts = std::to_array<std::string_view>({"select=",     "2",
                                                          ":",           "+",
                                                          "=",           "mpiprocs=",
                                                          "ompthreads=", "ncpus=",
                                                          ",",           "place=",
                                                          "scatter",     "pack",
                                                          " ",           "-l",
                                                          "#PBS -l ",    "\n",
                                                          "\\\n",        "\\",
                                                          "'",           "\"",
                                                          "4294967298",  "99999999999999999999",
                                                          "-1",          "0x2",
                                                          "nodes=",      "#",
                                                          "\t"});
  std::string text = below(random, 4) == 0 ? "" : "#PBS -l select=";
  for (std::size_t n = below(random, 20); n > 0; --n) text += parts[below(random, parts.size())];
  return text;
}

void read_text(const std::string& text) {
  Blank blank;
  blank.text_line = 1;
  blank.text = as_utf8(split_lines(text));
  tokens_of(blank.text);
  identifiers_in(blank.text);
  unclosed_bracket(blank.text);
  for (const Language language : {Language::cpp, Language::shell}) is_left_empty(blank, language);
  blank.number = 1;
  look_at_identifiers(blank);
  for (const Task& task : all_tasks()) find_in_job_script(task, 2, blank.text);
  for (const char* path : {"a.cpp", "a.sh"}) try {
      parse_blanks(split_lines(text), path);
    } catch (const Error&) {
      // that is what it says of a file that it can't read
    }
}

void read_file_of(const Kits& kits, const std::string& text) {
  const fs::path path =
      fs::temp_directory_path() / fmt::format("fuzz_readers_{}{}", getpid(), kits.path.extension().string());
  std::ofstream(path, std::ios::binary) << text;
  read_submission(path, kits.text);
  fs::remove(path);
}

/// Runs it and says how long it took, in seconds of this processor's time.
template <typename Function>
double seconds_of(const Function& function) {
  const std::clock_t begin = std::clock();
  function();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc > 1, "usage: fuzz_readers KIT [TEXTS [SEED]]");
  const int n_texts = argc > 2 ? std::stoi(argv[2]) : 10'000;
  Random random(argc > 3 ? std::stoull(argv[3]) : 1);
  const fs::path kit = argv[1];
  std::vector<Kits> kits;
  for (const Task& task : all_tasks())
    for (const ExerciseFile& file : task.files()) {
      kits.push_back({kit / file.solution, read_file(kit / file.solution)});
      require(!kits.back().text.empty(), "{} can't be read.", kits.back().path.string());
    }

  double slowest = 0;
  for (int i = 0; i < n_texts; ++i) {
    const Kits& file = kits[below(random, kits.size())];
    slowest = std::max(slowest, seconds_of([&] {
                         read_text(text_of_pieces(random, 200, 1 + below(random, 9)));
                         read_text(made_directive(random));
                         const std::string text = changed(file.text, random);
                         read_text(text);
                         read_file_of(file, text);
                       }));
  }
  fmt::print("{} texts of pieces, select lines, answers and files each: the slowest took {:.3f} s\n", n_texts, slowest);

  const std::size_t n_bytes = std::min(99'000, 33 * n_texts);
  double longest = 0;
  for (const std::string_view piece : {"(",
                                       ")",
                                       "[",
                                       "{",
                                       "<",
                                       ",",
                                       "\"",
                                       "'",
                                       "\\",
                                       "\\\n",
                                       "\n",
                                       "a\n",
                                       "a ",
                                       "1'",
                                       "1e+",
                                       "/*",
                                       "*",
                                       "*\\\n",
                                       "//",
                                       "// \\\n",
                                       "R\"(",
                                       "R\"a(",
                                       ")a",
                                       "#",
                                       "##PBS\n",
                                       "#PBS -l select=1\n",
                                       "#PBS -l select=1\\\n",
                                       "+1",
                                       ":a=1",
                                       ",a=1",
                                       "// BLANK 1: a\n",
                                       "// END BLANK\n",
                                       "// BLANK 1: a\n// END BLANK\n",
                                       "\x83",
                                       "\x83\x5C\n",
                                       "\xC9\xBD\xA1\n",
                                       "\u3042",
                                       "int a = 1, ",
                                       "[[a",
                                       "[[a]] ",
                                       "a: ",
                                       "if (a) ",
                                       "case 1: ",
                                       "PUT_YOUR_CODE ",
                                       "-l ",
                                       "' \" "}) {
    std::string text;
    while (text.size() + piece.size() <= n_bytes) text += piece;
    for (const std::string begin : {"", "#PBS -l select="}) {
      const double seconds = seconds_of([&] {
        read_text(begin + text);
        read_file_of(kits[0], begin + text);
      });
      require(seconds < most_seconds, "{} bytes of \"{}\" take {:.0f} s.", n_bytes, piece, seconds);
      longest = std::max(longest, seconds);
    }
  }
  fmt::print("texts of {} bytes of one thing: the slowest took {:.2f} s\n", n_bytes, longest);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
