// Which identifiers a blank may hold: a blank answers a question, and isn't a place for a program of its own.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exercise/blanks.h"
#include "exercise/finding.h"

namespace odori::grader {

struct KitIdentifiers {
  /// Those of the headers that the program includes (lib/odori.h, its support header), and of the exercise itself.
  std::set<std::string> known;
  /// By blank: which ones of the library's the kit's program uses below it, up to the end of its block.
  std::map<int, std::set<std::string>> taken;
};
KitIdentifiers identifiers_of_kit(const std::filesystem::path& kit, const std::string& exercise,
                                  const std::string& solution);

struct BlankIdentifiers {
  std::optional<Finding> forbidden;  // why it may not be built: "forbidden_word", "forbidden_sign", ...
  std::vector<std::string> unusual;  // names that an answer doesn't need; it counts as any other, and wants a look
};

/// Forbidden is what reaches beyond the blank (directives, brackets that it hasn't opened, asm, attributes that a
/// linker sees) or beyond the program (files, processes, signals, the environment, the evidence), and a text that isn't
/// tokens throughout: by its identifiers, so that an answer that has them for a good reason is refused too, and says
/// so. Likewise what would change the lines below it: an `if` without its statement takes the next one there, and a
/// name that they take from the library would mean what the blank declares. Unusual are names other than C++'s, those
/// of common parts of its library, `kits`, and those that one of `blanks` declares; flags of the program that no
/// question is about ("args.model": right with the checks' network alone?); and classes derived from one of the kit's;
/// and clocks. `allowed`: what the exercise says that its answers may use; of the system's functions these names may be
/// the program's own.
BlankIdentifiers look_at_identifiers(const Blank& blank, const KitIdentifiers& kits, const std::vector<Blank>& blanks,
                                     const std::set<std::string>& allowed = {});

/// Forbidden wherever they stand.
const std::set<std::string>& names_never_needed();
/// Functions of the system whose names are good ones for an answer's own variables and members: forbidden where they
/// aren't its own.
const std::set<std::string>& names_of_system();

/// Is what was forbidden a slip of the pen that a compiler would tell of too?
bool is_slip(const Finding& forbidden);

}  // namespace odori::grader
