#include "runner/compiler_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "blanks/lexer.h"
#include "errors/nearest.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

bool is_name(std::string_view word) {
  const std::vector<Token> tokens = tokens_of({std::string(word)}).all;
  return tokens.size() == 1 && tokens[0].is_word();
}

/// Empty where nothing is quoted: a line may be cut short.
std::string_view first_quoted_in(std::string_view text) {
  const std::vector<std::string_view> quoted = quoted_in(text);
  return quoted.empty() ? std::string_view() : quoted.front();
}

bool says(std::string_view message, std::string_view words) { return message.find(words) != std::string_view::npos; }

/// Names as learners write them.
std::string plain_names(std::string_view text) {
  return replaced(replaced(std::string(text), "odori::", ""), "std::__cxx11::basic_string<char>", "std::string");
}

/// "odori::Communicator&" is "Communicator", and what std::move(*x) is made of
/// "std::remove_reference<Evaluator&>::type".
std::string plain_type(std::string_view type) {
  std::string plain = plain_names(type);
  for (const char* word : {"const ", "class ", "struct "}) plain = replaced(plain, word, "");
  constexpr std::string_view without_reference = "std::remove_reference<", behind = ">::type";
  if (plain.starts_with(without_reference) && plain.ends_with(behind))
    plain = plain.substr(without_reference.size(), plain.size() - without_reference.size() - behind.size());
  while (plain.ends_with('&') || plain.ends_with(' ')) plain.pop_back();
  // In long, "unique_ptr<X,default_delete<X>>".
  if (const auto deleter = plain.find(",default_delete<"); plain.starts_with("unique_ptr<") && deleter < plain.size())
    return "std::" + plain.substr(0, deleter) + '>';
  return plain.starts_with("unique_ptr<") ? "std::" + plain : plain;
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

/// "conversion from 'A' to 'B'", "cannot convert 'A' to 'B'", and of references "of type 'B&' from expression of type
/// 'A'".
std::optional<Conversion> conversion_in(std::string_view line) {
  const std::vector<std::string_view> quoted = quoted_in(line);
  if (quoted.size() < 2) return {};
  if (says(line, "reference of type '")) return Conversion{plain_type(quoted.back()), plain_type(quoted.front())};
  for (const std::string_view words : {" from '", "cannot convert '"})
    if (const auto at = line.rfind(words); at != std::string_view::npos) {
      const std::vector<std::string_view> types = quoted_in(line.substr(at));
      if (types.size() < 2) continue;
      const auto to = std::min(line.find(" to '", at), line.size());  // {aka ...} may stand behind either
      const std::string_view named = first_quoted_in(line.substr(to)), wanted = named.empty() ? types.back() : named;
      return Conversion{plain_type(types.front()), plain_type(wanted)};
    }
  return {};
}

/// `message` has the expression that was to be converted, if the compiler knows it: "could not convert 'o' from ...".
std::optional<Finding> words_for_pointers(const Conversion& conversion, std::string_view message) {
  const auto wanted = pointed_to(conversion.wanted), given = pointed_to(conversion.given);
  if (given && !wanted && *given == conversion.wanted)
    return Finding{"compile_star_forgotten", {{"type", conversion.wanted}}};
  if (wanted && given && message.starts_with("could not convert '"))
    if (const std::string_view variable = first_quoted_in(message); is_name(variable))
      return Finding{"compile_pointer_differs",
                     {{"wanted", *wanted}, {"given", *given}, {"variable", std::string(variable)}}};
  if (wanted && *wanted == conversion.given && says(message, "std::move<") && says(message, "operator*()"))
    return Finding{"compile_object_moved", {{"wanted", conversion.wanted}}};
  if (!wanted || given || says(message, "operator*()'")) return {};  // of `*comm` no new object is to be made
  std::string type = conversion.given;
  while (type.ends_with('*') || type.ends_with(' ')) type.pop_back();
  return Finding{"compile_make_unique_forgotten",
                 {{"wanted", conversion.wanted}, {"given", conversion.given}, {"type", type}}};
}

/// What is written otherwise in C++; nothing for other names.
std::optional<std::string> in_cpp(const std::string& pythons) {
  static const std::map<std::string, std::string> all{{"True", "true"},
                                                      {"False", "false"},
                                                      {"None", "nullptr"},
                                                      {"len", "numbers.size()"},
                                                      {"range", "for (int i = 0; i < n; ++i) ..."},
                                                      {"print", "fmt::print(\"{}\\n\", value)"},
                                                      {"str", "std::to_string(number)"},
                                                      {"lambda", "[&](int i) { return ...; }"},
                                                      {"mod", "a % b"},
                                                      {"elif", "else if"}};
  const auto found = all.find(pythons);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

/// Of a member that isn't there, and of `.` where `->` has to be, or the other way round.
std::optional<Finding> words_for_members(std::string_view message) {
  const std::vector<std::string_view> quoted = quoted_in(message);
  if (quoted.empty()) return {};
  if (message.starts_with("base operand of '->'") || says(message, "is not a pointer; did you mean to use '.'"))
    return Finding{"compile_dot_needed",
                   {{"type", plain_type(says(message, "base") ? quoted.back() : quoted.front())}}};
  if (message.starts_with("no match for 'operator*' (operand type is") || says(message, " unary '*'") ||
      message.starts_with("indirection requires pointer operand"))
    return Finding{"compile_star_needless", {{"type", plain_type(quoted.back())}}};
  if (message.starts_with("request for member '") && quoted.size() > 2 && says(message, "of pointer type"))
    return Finding{"compile_arrow_needed", {{"name", std::string(quoted[0])}, {"type", plain_type(quoted[2])}}};
  if (!says(message, "no member named '") || says(message, "did you mean '") || quoted.size() < 2) return {};
  const bool name_first = message.starts_with("no member");
  const std::string name(quoted[name_first ? 0 : 1]), type = plain_type(quoted[name_first ? 1 : 0]);
  if (const auto object = pointed_to(type)) return Finding{"compile_arrow_needed", {{"name", name}, {"type", *object}}};
  return Finding{"compile_no_member", {{"name", name}, {"type", type}}};
}

std::optional<Finding> words_for_names(std::string_view message, std::string_view notes) {
  const std::vector<std::string_view> quoted = quoted_in(message);
  if (quoted.empty()) return {};
  if (message.ends_with(" is not a member of 'std'") || message.ends_with(" in namespace 'std'"))
    return Finding{"compile_unknown_std", {{"name", std::string(quoted.front())}}};
  const bool no_member = says(message, "no member named '");
  std::string name = unknown_name(message);
  if (no_member && quoted.size() > 1) name = message.starts_with("no member") ? quoted[0] : quoted[1];
  if (name.empty()) return {};
  if (const auto cpp = in_cpp(name); cpp && !no_member)
    return Finding{"compile_python", {{"name", name}, {"cpp", *cpp}}};
  // The compiler offers MAXFLOAT for MPI_FLOAT.
  if (const std::string near(quoted.back()); says(message, "did you mean '") && (no_member || slips(name, near) <= 2))
    return Finding{"compile_misspelt", {{"name", name}, {"near", near}}};
  // Where several namespaces have the name, notes list them. These are members' names more often.
  const bool is_members = name == "rank" || name == "size" || name == "data";
  if (const std::string in_std = "std::" + name; !no_member && !is_members && says(notes, '\'' + in_std + '\''))
    return Finding{"compile_misspelt", {{"name", name}, {"near", in_std}}};
  return Finding{"compile_unknown_name", {{"name", name}}};
}

/// "odori::X::X(const odori::X&)" or "odori::X::X(odori::X&&)", which nobody calls with a wrong argument on purpose.
bool is_copying(std::string_view signature) {
  const auto type = signature.substr(0, signature.rfind("::", signature.find('(')));
  const auto taken = signature.substr(std::min(signature.find('('), signature.size()));
  return taken == fmt::format("(const {}&)", type) || taken == fmt::format("({}&&)", type);
}

/// A function of the library's that the compiler tried ("candidate: 'void f(int)'"), and why it didn't fit.
struct Candidate {
  std::string_view signature, why;
};

std::optional<Candidate> candidate_in(std::string_view notes) {
  constexpr std::string_view begins = "candidate: '";
  for (auto at = notes.find(begins); at != std::string_view::npos; at = notes.find(begins, at + 1)) {
    const auto signature = first_quoted_in(notes.substr(at, notes.find('\n', at) - at));
    if (!says(signature, "odori::") || is_copying(signature)) continue;
    const auto line = std::min(notes.find('\n', at), notes.size() - 1) + 1;
    return Candidate{signature, notes.substr(line, notes.find('\n', line) - line)};
  }
  return {};
}

std::string number_behind(std::string_view words, std::string_view text) {
  const auto begin = std::min(text.find(words) + words.size(), text.size());
  return std::string(text.substr(begin, text.find(' ', begin) - begin));
}

/// Of "too few arguments to function 'void f(int)'", "in passing argument 1 of 'void f(B)'", "initializing argument 1
/// of 'void f(B)'", and of a candidate "candidate expects 1 argument" or "no known conversion for argument 1 from 'A'
/// to 'B'".
std::optional<Finding> words_for_arguments(std::string_view message, std::string_view notes) {
  const auto wrong = [](std::string_view signature) {
    return Finding{"compile_wrong_arguments", {{"signature", plain_names(signature)}}};
  };
  const auto differs = [](const Conversion& conversion, std::string number, std::string_view signature) {
    return Finding{"compile_argument_differs",
                   {{"argument", std::move(number)},
                    {"wanted", conversion.wanted},
                    {"given", conversion.given},
                    {"signature", plain_names(signature)}}};
  };
  if (says(message, "too few arguments to ") || says(message, "too many arguments to ")) {
    const auto signature = first_quoted_in(message);
    return says(signature, "odori::") ? std::optional(wrong(signature)) : std::nullopt;
  }
  if (const auto tried = candidate_in(notes)) {
    if (says(tried->why, "candidate expects ")) return wrong(tried->signature);
    constexpr std::string_view of_argument = "conversion for argument ";
    const auto conversion = conversion_in(tried->why);
    if (!conversion || !says(tried->why, of_argument)) return {};
    if (auto pointers = words_for_pointers(*conversion, message)) return pointers;
    return differs(*conversion, number_behind(of_argument, tried->why), tried->signature);
  }
  const auto conversion = conversion_in(message);
  if (!conversion || words_for_pointers(*conversion, message)) return {};
  for (const std::string_view words : {"in passing argument ", "initializing argument "})
    if (const auto at = notes.find(words); at != std::string_view::npos)
      if (const auto signature = first_quoted_in(notes.substr(at)); says(signature, "odori::"))
        return differs(*conversion, number_behind(words, notes), signature);
  return {};
}

/// "x" of "redeclaration of 'const int x'", "conflicting declaration 'int x'", and Clang's "redefinition of 'x'".
std::optional<Finding> words_for_declarations(std::string_view message) {
  const bool twice = message.starts_with("redeclaration of '") || message.starts_with("redefinition of '") ||
                     message.starts_with("conflicting declaration '");
  const std::string_view quoted = first_quoted_in(message);
  const std::string_view name = quoted.substr(quoted.find_last_of(" &*") + 1);
  if (!twice || !is_name(name)) return {};
  return Finding{"compile_declared_twice", {{"name", std::string(name)}}};
}

}  // namespace

std::vector<std::string_view> quoted_in(std::string_view message) {
  std::vector<std::string_view> quoted;
  for (std::size_t begin = 0, end; (begin = message.find('\'', begin)) != std::string_view::npos &&
                                   (end = message.find('\'', begin + 1)) != std::string_view::npos;
       begin = end + 1)
    quoted.push_back(message.substr(begin + 1, end - begin - 1));
  return quoted;
}

std::string unknown_name(std::string_view message) {
  const bool complains = says(message, "' was not declared") || says(message, "' has not been declared") ||
                         says(message, "' does not name a type") ||
                         message.starts_with("use of undeclared identifier '");
  const std::string_view name = first_quoted_in(message);
  return complains && is_name(name) ? std::string(name) : std::string();
}

std::optional<Finding> plain_words_for(std::string_view message, std::string_view notes) {
  if (message.starts_with("undefined reference to '"))
    return Finding{"compile_nowhere_defined", {{"name", plain_names(first_quoted_in(message))}}};
  if (says(message, "deleted") && says(message, "unique_ptr<")) return Finding{"compile_move_forgotten"};
  if (auto members = words_for_members(message)) return members;
  if (auto names = words_for_names(message, notes)) return names;
  if (message.starts_with("lvalue required as left operand of assignment") || message == "expression is not assignable")
    return Finding{"compile_equals_doubled"};
  if (auto declarations = words_for_declarations(message)) return declarations;
  if (message.starts_with("cannot bind non-const lvalue reference") && says(message, " to an rvalue"))
    return Finding{"compile_temporary", {{"type", plain_type(first_quoted_in(message))}}};
  if (auto arguments = words_for_arguments(message, notes)) return arguments;
  if (message.starts_with("control reaches end of non-void") || says(message, "does not return a value in all control"))
    return Finding{"compile_no_return"};
  if (message.starts_with("expected ") && says(message.substr(0, message.find(" before ")), "';'"))
    return Finding{"compile_semicolon_missing"};
  if (const auto conversion = conversion_in(message)) {
    if (auto pointers = words_for_pointers(*conversion, message)) return pointers;
    return Finding{"compile_type_differs", {{"wanted", conversion->wanted}, {"given", conversion->given}}};
  }
  while (!notes.empty()) {
    const std::string_view note = notes.substr(0, notes.find('\n'));
    notes.remove_prefix(std::min(note.size() + 1, notes.size()));
    if (const auto conversion = conversion_in(note))
      if (auto pointers = words_for_pointers(*conversion, message)) return pointers;
  }
  return {};
}

}  // namespace odori::grader
