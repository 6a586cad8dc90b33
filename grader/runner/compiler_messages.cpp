// SPDX-License-Identifier: Apache-2.0
#include "runner/compiler_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <utility>
#include <vector>

#include "blanks/lexer.h"
#include "errors/nearest.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

constexpr std::size_t longest = 2000;  // bytes of a message or of its notes that are looked at

bool is_name(std::string_view word) {
  const std::vector<Token> tokens = tokens_of({std::string(word)}).all;
  return tokens.size() == 1 && tokens[0].is_word();
}

bool says(std::string_view message, std::string_view words) { return message.find(words) != std::string_view::npos; }

/// Names as learners write them.
std::string plain_names(std::string_view text) {
  return replaced(replaced(std::string(text), "odori::", ""), "std::__cxx11::basic_string<char>", "std::string");
}

/// "odori::Communicator&" is "Communicator", what std::move(*x) is made of "std::remove_reference<Evaluator&>::type",
/// and in long a pointer "unique_ptr<X,default_delete<X>>".
std::string plain_type(const std::string& type) {
  static const std::regex words("const |class |struct "), moved("^std::remove_reference<(.*)>::type$"),
      reference("[& ]+$"), pointer("^unique_ptr<(.*?)(?:,default_delete<.*)?>$");
  std::string plain = std::regex_replace(plain_names(type), words, "");
  plain = std::regex_replace(plain, moved, "$1");
  plain = std::regex_replace(plain, reference, "");
  return std::regex_replace(plain, pointer, "std::unique_ptr<$1>");
}

constexpr std::string_view pointer_begins = "std::unique_ptr<";

/// X of "std::unique_ptr<X>"; nothing if it is something else.
std::optional<std::string> pointed_to(const std::string& type) {
  if (!type.starts_with(pointer_begins) || !type.ends_with('>')) return {};
  return type.substr(pointer_begins.size(), type.size() - pointer_begins.size() - 1);
}

struct Conversion {
  std::string given, wanted;
};

/// "reference of type 'B&' from expression of type 'A'", "conversion from 'A' to 'B'", "cannot convert 'A' to 'B'";
/// {aka ...} may follow either.
std::optional<Conversion> conversion_in(const std::string& line) {
  static const std::regex reference("^(?=.*reference of type ')[^']*'([^']*)'.*'([^']*)'"),
      to("^.*(?: from|cannot convert) '([^']*)'.*? to '([^']*)'"),
      others("^.*(?: from|cannot convert) '([^']*)'.*'([^']*)'");
  std::smatch types;
  if (std::regex_search(line, types, reference))
    return Conversion{.given = plain_type(types[2]), .wanted = plain_type(types[1])};
  for (const std::regex* form : {&to, &others})
    if (std::regex_search(line, types, *form))
      return Conversion{.given = plain_type(types[1]), .wanted = plain_type(types[2])};
  return {};
}

/// `message` has the expression that was to be converted, if the compiler knows it: "could not convert 'o' from ...".
std::optional<Finding> words_for_pointers(const Conversion& conversion, const std::string& message) {
  static const std::regex not_converted("^could not convert '([^']*)'");
  const auto wanted = pointed_to(conversion.wanted), given = pointed_to(conversion.given);
  if (given && !wanted && *given == conversion.wanted)
    return Finding{"compile_star_forgotten", {{"type", conversion.wanted}}};
  if (std::smatch variable;
      wanted && given && std::regex_search(message, variable, not_converted) && is_name(variable[1].str()))
    return Finding{"compile_pointer_differs", {{"wanted", *wanted}, {"given", *given}, {"variable", variable[1]}}};
  if (wanted && *wanted == conversion.given && says(message, "std::move<") && says(message, "operator*()"))
    return Finding{"compile_object_moved", {{"wanted", conversion.wanted}}};
  if (!wanted || given || says(message, "operator*()'")) return {};  // of `*comm` no new object is to be made
  std::string type = conversion.given;
  while (type.ends_with('*') || type.ends_with(' ')) type.pop_back();
  return Finding{"compile_make_unique_forgotten",
                 {{"wanted", conversion.wanted}, {"given", conversion.given}, {"type", type}}};
}

/// A compiler's sentence, what it means, and the placeholders that its groups fill.
struct Form {
  Form(const char* pattern, const char* key, std::vector<std::string> names = {})
      : pattern(pattern), key(key), names(std::move(names)) {}
  std::regex pattern;
  const char* key;
  std::vector<std::string> names;
};
const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"^undefined reference to '([^']*)'", "compile_nowhere_defined", {"name"}},
      {"deleted.*unique_ptr<|unique_ptr<.*deleted", "compile_move_forgotten"},
      {"^base operand of '->'.*'([^']*)'", "compile_dot_needed", {"type"}},
      {"'([^']*)'.*is not a pointer; did you mean to use '\\.'", "compile_dot_needed", {"type"}},
      {"^no match for 'operator\\*' \\(operand type is '([^']*)'", "compile_star_needless", {"type"}},
      {"(?: unary '\\*'|^indirection requires pointer operand).*'([^']*)'", "compile_star_needless", {"type"}},
      {"^request for member '([^']*)' in '[^']*'.* of pointer type '([^']*)'",
       "compile_arrow_needed",
       {"name", "type"}},
      {"no member named '([^']*)'.*did you mean '([^']*)'", "compile_misspelt", {"name", "near"}},
      {"^no member named '([^']*)'[^']*'([^']*)'", "compile_no_member", {"name", "type"}},
      {"^[^']*'([^']*)'.*no member named '([^']*)'", "compile_no_member", {"type", "name"}},
      {"^[^']*'([^']*)'.* (?:is not a member of|in namespace) 'std'$", "compile_unknown_std", {"name"}},
      {"^lvalue required as left operand of assignment|^expression is not assignable$", "compile_equals_doubled"},
      {"^(?:redeclaration of|redefinition of|conflicting declaration) '(?:[^']*[ &*])?([^' &*]+)'",
       "compile_declared_twice",
       {"name"}},
      {"^cannot bind non-const lvalue reference[^']*'([^']*)'.* to an rvalue", "compile_temporary", {"type"}},
      {"too (?:few|many) arguments to [^']*'([^']*odori::[^']*)'", "compile_wrong_arguments", {"signature"}},
      {"^control reaches end of non-void|^no return statement in function|does not return a value in all control",
       "compile_no_return"},
      {"^expected (?:(?! before ).)*';'", "compile_semicolon_missing"}};
  return all;
}

std::optional<Finding> words_by_form(const std::string& message) {
  for (const Form& form : forms()) {
    std::smatch match;
    if (!std::regex_search(message, match, form.pattern)) continue;
    Finding finding{form.key, {}};
    auto& values = finding.values;
    for (std::size_t i = 0; i < form.names.size(); ++i)
      values[form.names[i]] =
          form.names[i] == "type" ? plain_type(match[i + 1].str()) : plain_names(match[i + 1].str());
    if (finding.key == "compile_declared_twice" && !is_name(values["name"])) continue;
    if (finding.key == "compile_no_member")
      if (const auto object = pointed_to(values["type"]))
        finding.key = "compile_arrow_needed", values["type"] = *object;
    return finding;
  }
  return {};
}

/// What names of other languages are in C++.
const std::map<std::string, std::string, std::less<>> in_cpp{{"True", "true"},
                                                             {"False", "false"},
                                                             {"None", "nullptr"},
                                                             {"len", "numbers.size()"},
                                                             {"range", "for (int i = 0; i < n; ++i) ..."},
                                                             {"print", "fmt::print(\"{}\\n\", value)"},
                                                             {"str", "std::to_string(number)"},
                                                             {"lambda", "[&](int i) { return ...; }"},
                                                             {"mod", "a % b"},
                                                             {"elif", "else if"}};

std::optional<Finding> words_for_names(const std::string& message, const std::string& notes) {
  static const std::regex meant("did you mean '([^']*)'");
  const std::string name = unknown_name(message);
  if (name.empty()) return {};
  if (const auto cpp = in_cpp.find(name); cpp != in_cpp.end())
    return Finding{"compile_python", {{"name", name}, {"cpp", cpp->second}}};
  // The compiler offers MAXFLOAT for MPI_FLOAT.
  std::smatch near;
  if (std::regex_search(message, near, meant) && slips(name, near[1].str()) <= 2)
    return Finding{"compile_misspelt", {{"name", name}, {"near", near[1]}}};
  // Where several namespaces have the name, notes list them. These are members' names more often.
  const bool is_members = name == "rank" || name == "size" || name == "data";
  if (const std::string in_std = "std::" + name; !is_members && says(notes, '\'' + in_std + '\''))
    return Finding{"compile_misspelt", {{"name", name}, {"near", in_std}}};
  return Finding{"compile_unknown_name", {{"name", name}}};
}

/// Of "candidate: 'void f(B)'" and the line that follows it, "candidate expects 1 argument" or "no known conversion for
/// argument 1 from 'A' to 'B'"; else of "in passing argument 1 of 'void f(B)'" and "initializing argument 1 of ...".
std::optional<Finding> words_for_arguments(const std::string& message, const std::string& notes) {
  // Nobody calls "odori::X::X(const odori::X&)" or "odori::X::X(odori::X&&)" with a wrong argument on purpose.
  static const std::regex candidate(
      "candidate: '(?!(.*)::.*\\((?:const \\1&|\\1&&)\\)')([^']*odori::[^']*)'.*\n *"
      "(candidate expects )?(?:.*conversion for argument ([0-9]+))?(.*)"),
      passed("(?:in passing|initializing) argument ([0-9]+) of '([^']*odori::[^']*)'");
  std::smatch tried, called;
  const bool has_candidate = std::regex_search(notes, tried, candidate);
  if (has_candidate && tried[3].matched)
    return Finding{"compile_wrong_arguments", {{"signature", plain_names(tried[2].str())}}};
  const auto conversion = conversion_in(has_candidate ? tried[5].str() : message);
  if (!conversion || (has_candidate && !tried[4].matched)) return {};
  if (auto pointers = words_for_pointers(*conversion, message)) return has_candidate ? pointers : std::nullopt;
  if (!has_candidate && !std::regex_search(notes, called, passed)) return {};
  return Finding{"compile_argument_differs",
                 {{"argument", (has_candidate ? tried[4] : called[1]).str()},
                  {"wanted", conversion->wanted},
                  {"given", conversion->given},
                  {"signature", plain_names((has_candidate ? tried : called)[2].str())}}};
}

}  // namespace

std::string unknown_name(std::string_view message) {
  static const std::regex complaint(
      "^use of undeclared identifier '([^']*)'|"
      "^[^']*'([^']*)'(?:.*')? (?:was not declared|has not been declared|does not name a type)");
  std::cmatch name;
  if (!std::regex_search(message.begin(), message.begin() + std::min(message.size(), longest), name, complaint))
    return {};
  return is_name(name[1].str() + name[2].str()) ? name[1].str() + name[2].str() : "";
}

std::optional<Finding> plain_words_for(const std::string& all_of_message, const std::string& all_notes) {
  const std::string message = all_of_message.substr(0, longest), notes = all_notes.substr(0, longest);
  if (auto simple = words_by_form(message)) return simple;
  if (auto names = words_for_names(message, notes)) return names;
  if (auto arguments = words_for_arguments(message, notes)) return arguments;
  if (const auto conversion = conversion_in(message)) {
    if (auto pointers = words_for_pointers(*conversion, message)) return pointers;
    return Finding{"compile_type_differs", {{"wanted", conversion->wanted}, {"given", conversion->given}}};
  }
  for (const std::string& note : split_lines(notes))
    if (const auto conversion = conversion_in(note))
      if (auto pointers = words_for_pointers(*conversion, message)) return pointers;
  return {};
}

}  // namespace odori::grader
