// SPDX-License-Identifier: Apache-2.0
// Does the kit see the tokens that the compiler sees? Made texts, as many as asked for: each that the kit takes is
// given to the compiler's preprocessor, and what both see is compared token by token, with their lines.
//
//   lexer_against_compiler [TEXTS [SEED]]
//
// Says how many texts were taken, and every one that both don't see alike; exit code 1 if there was one.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "bench/pieces.h"
#include "blanks/blanks.h"
#include "blanks/lexer.h"
#include "errors/error.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

constexpr int texts_a_file = 2000;

struct Seen {
  std::string text;
  int line = 0;
  bool operator==(const Seen&) const = default;
};

/// What the kit sees; nothing if it doesn't take the text.
std::optional<std::vector<Seen>> seen_by_kit(const Tokens& tokens) {
  if (tokens.broken) return {};
  std::vector<Seen> seen;
  for (const Token& token : tokens.all) {
    for (const char* refused : {"#", "\\", "$", "@", "`"})
      if (token == refused) return {};
    seen.push_back({token.text, token.line});
  }
  return seen;
}

/// As the kit spells them: GCC leaves digraphs as they are, and numbers the characters of names, \U0000540d.
std::string plain_spelling(std::string token) {
  static const std::map<std::string, std::string> plain{{"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}};
  if (const auto found = plain.find(token); found != plain.end()) return found->second;
  for (auto at = token.find("\\U"); at != std::string::npos; at = token.find("\\U")) {
    const auto c = std::stoul(token.substr(at + 2, 8), nullptr, 16);
    const auto tail = [](unsigned long six_bits) { return static_cast<char>(0x80 | (six_bits & 0x3F)); };
    const std::string two{static_cast<char>(0xC0 | c >> 6), tail(c)};
    token.replace(at, 10, c < 0x800 ? two : std::string{static_cast<char>(0xE0 | c >> 12), tail(c >> 6), tail(c)});
  }
  return token;
}

/// As the kit splits them: a quote's prefix and suffix are tokens of their own, so are the sign in a number and what
/// follows it, and of other signs each character, but for ::, << and ....
void add_token(std::vector<Seen>& seen, const std::string& token, int line) {
  const auto quote = token.find_first_of("\"'");
  const auto is_digit_at = [&](std::size_t i) { return std::isdigit(static_cast<unsigned char>(token[i])) != 0; };
  const auto add = [&](const std::string& part) {
    if (!part.empty()) seen.push_back({plain_spelling(part), line});
  };
  if (is_digit_at(0) || (token[0] == '.' && token.size() > 1 && is_digit_at(1))) {
    std::size_t begin = 0;
    for (std::size_t at; (at = token.find_first_of("+-", begin)) != std::string::npos; begin = at + 1) {
      add(token.substr(begin, at - begin));
      add(token.substr(at, 1));
    }
    add(token.substr(begin));
  } else if (quote != std::string::npos) {
    const bool is_raw = quote > 0 && token[quote - 1] == 'R';
    const auto begin = is_raw ? 0 : quote, end = token.find_last_of("\"'") + 1;
    add(token.substr(0, begin));
    seen.push_back({token.substr(begin, end - begin), line});
    line += static_cast<int>(std::count(token.begin(), token.end(), '\n'));
    add(token.substr(end));
  } else if (std::ispunct(static_cast<unsigned char>(token[0])) && token[0] != '_' && token[0] != '\\' &&
             plain_spelling(token) == token) {
    for (std::size_t i = 0, size = 0; i < token.size(); i += size) {
      const std::string pair = token.substr(i, 2);
      size = token == "..." ? 3 : pair == "::" || pair == "<<" ? 2 : 1;
      add(token.substr(i, size));
    }
  } else {
    add(token);
  }
}

/// The compiler's tokens, which -fdebug-cpp puts their places before: "{P:FILE;F:...;L:LINE;C:COLUMN;...}token".
std::vector<Seen> seen_by_compiler(const fs::path& file) {
  const std::string command =
      fmt::format("c++ -std=c++20 -E -P -undef -nostdinc -fdebug-cpp {} 2>/dev/null", file.string());
  FILE* pipe = popen(command.c_str(), "r");
  require(pipe != nullptr, "c++ can't be started.");
  std::string output;
  for (std::array<char, 1 << 16> part; const std::size_t n = std::fread(part.data(), 1, part.size(), pipe);)
    output.append(part.data(), n);
  pclose(pipe);
  std::vector<Seen> seen;
  for (auto at = output.find("{P:"); at != std::string::npos;) {
    const auto line = output.find(";L:", at) + 3, end = output.find('}', at) + 1, next = output.find("{P:", end);
    std::string token = output.substr(end, next - end);
    token.erase(token.find_last_not_of(" \n") + 1);
    if (!token.empty() && !token.starts_with("# ")) add_token(seen, token, std::stoi(output.substr(line)));
    at = next;
  }
  require(!seen.empty(), "{} gave no tokens. The compiler has to be GCC.", command);
  return seen;
}

/// A source file of several texts, and what the compiler should see in it.
class File {
 public:
  void add(const std::vector<std::string>& text, const std::vector<Seen>& tokens) {
    expect({fmt::format("text_{}", starts_.size()), 1});
    starts_.push_back(expected_.size());
    source_ += fmt::format("text_{}\n", starts_.size() - 1);
    ++line_;
    for (const Seen& token : tokens) expect(token);
    source_ += join_lines(text) + "// END BLANK\n";
    line_ += static_cast<int>(text.size()) + 1;
    texts_.push_back(text);
  }

  /// How many texts aren't seen alike; says which.
  int compare(const fs::path& path) const {
    std::ofstream(path, std::ios::binary) << source_;
    const std::vector<Seen> seen = seen_by_compiler(path);
    for (std::size_t i = 0; i < std::max(seen.size(), expected_.size()); ++i) {
      if (i < seen.size() && i < expected_.size() && seen[i] == expected_[i]) continue;
      const auto text = std::upper_bound(starts_.begin(), starts_.end(), i) - starts_.begin() - 1;
      const auto shown = [i](const std::vector<Seen>& all) {
        return i < all.size() ? fmt::format("{:?} in line {}", all[i].text, all[i].line) : std::string("nothing");
      };
      fmt::print("{:?}: the compiler sees {}, the kit {}\n", fmt::format("{}", fmt::join(texts_.at(text), "\n")),
                 shown(seen), shown(expected_));
      return 1;  // what follows may be the same difference
    }
    return 0;
  }

 private:
  void expect(const Seen& token) { expected_.push_back({token.text, line_ + token.line - 1}); }

  std::string source_;
  int line_ = 1;
  std::vector<Seen> expected_;
  std::vector<std::size_t> starts_;
  std::vector<std::vector<std::string>> texts_;
};

}  // namespace

int main(int argc, char** argv) try {
  const int n_texts = argc > 1 ? std::stoi(argv[1]) : 100'000;
  Random random(argc > 2 ? std::stoull(argv[2]) : 1);
  const fs::path path = fs::temp_directory_path() / fmt::format("lexer_against_compiler_{}.cc", getpid());
  int taken = 0, different = 0;
  for (int made = 0; made < n_texts;) {
    File file;
    for (int i = 0; i < texts_a_file && made < n_texts; ++i, ++made) {
      const std::vector<std::string> text = split_lines(text_of_pieces(random, 12, 1 + below(random, 6)));
      const auto seen = seen_by_kit(tokens_of(text));
      if (!seen) continue;
      file.add(text, *seen);
      ++taken;
    }
    different += file.compare(path);
  }
  fs::remove(path);
  fmt::print("{} texts, of which the kit takes {}: {}\n", n_texts, taken,
             different == 0 ? "the compiler sees the same tokens in all of them" : "see above");
  return different == 0 && taken > n_texts / 10 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
