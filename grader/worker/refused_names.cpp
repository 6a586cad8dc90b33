#include "worker/refused_names.h"

#include <fmt/ranges.h>

#include "exercise/blank_identifiers.h"

namespace odori::grader {
namespace {

/// Beside those that the rule on identifiers has: other spellings of keywords, directives, the commonest of families,
/// and whose attributes a linker sees.
constexpr const char* also_poisoned =
    "__asm __asm__ __attribute __attribute__ _Exit define undef include include_next ifdef ifndef elif elifdef "
    "elifndef "
    "endif __has_include _Pragma pragma posix_spawn posix_spawnp pthread_create pthread_kill pthread_cancel "
    "pthread_exit "
    "pthread_atfork pthread_sigmask gnu clang";

/// Functions of C's library that C++'s has under std too, where no name hides them. std::remove of files is one, and
/// that of elements isn't.
constexpr const char* unavailable[]{"exit", "raise", "signal", "remove", "rename"};

}  // namespace

std::string refused_names_begin() {
  std::string text = "#line 1 \"names\"\n#include <csignal>\n#include <cstdio>\n#include <cstdlib>\n";
  for (const char* name : unavailable)
    text += fmt::format(
        "extern \"C\" decltype(::{0}) {0} __attribute__((unavailable(\"an answer needs no {0}()\")));\n", name);
  return text + fmt::format(
                    "#pragma GCC poison {} {}\n"
                    "inline namespace answers {{\n"
                    "constexpr struct not_for_answers {{\n"
                    "}} {};\n",
                    fmt::join(names_never_needed(), " "), also_poisoned, fmt::join(names_of_system(), ", "));
}

std::string refused_names_end() { return "}  // namespace answers\n"; }

}  // namespace odori::grader
