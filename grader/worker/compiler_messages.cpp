#include "worker/compiler_messages.h"

#include <utility>

#include "core/text.h"
#include "exercise/lexer.h"

namespace odori::grader {
namespace {

bool is_name(std::string_view word) {
  const std::vector<Token> tokens = tokens_of({std::string(word)}).all;
  return tokens.size() == 1 && tokens[0].is_word();
}

bool says(std::string_view message, std::string_view words) { return message.find(words) != std::string_view::npos; }

/// Names as learners write them.
std::string plain_names(std::string_view text) {
  return replaced(replaced(std::string(text), "odori::", ""), "std::__cxx11::basic_string<char>", "std::string");
}

/// "odori::Communicator&" is "Communicator".
std::string plain_type(std::string_view type) {
  std::string plain = replaced(plain_names(type), "const ", "");
  while (plain.ends_with('&') || plain.ends_with(' ')) plain.pop_back();
  return plain;
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
      if (types.size() >= 2) return Conversion{plain_type(types.front()), plain_type(types.back())};
    }
  return {};
}

std::optional<Finding> words_for_pointers(const Conversion& conversion) {
  const auto wanted = pointed_to(conversion.wanted), given = pointed_to(conversion.given);
  if (given && !wanted && *given == conversion.wanted)
    return Finding{"compile_star_forgotten", {{"type", conversion.wanted}}};
  if (!wanted || given) return {};
  std::string type = conversion.given;
  while (type.ends_with('*') || type.ends_with(' ')) type.pop_back();
  return Finding{"compile_make_unique_forgotten",
                 {{"wanted", conversion.wanted}, {"given", conversion.given}, {"type", type}}};
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
  if (says(message, "did you mean '"))
    return Finding{"compile_misspelt", {{"name", name}, {"near", std::string(quoted.back())}}};
  // Where several namespaces have the name, notes list them.
  if (const std::string in_std = "std::" + name; !no_member && says(notes, '\'' + in_std + '\''))
    return Finding{"compile_misspelt", {{"name", name}, {"near", in_std}}};
  return Finding{"compile_unknown_name", {{"name", name}}};
}

/// "void f(int)" of "too few arguments to function 'void f(int)'", and of a note, "candidate: 'void f(int)'", behind
/// which "candidate expects 1 argument" stands.
std::optional<Finding> words_for_arguments(std::string_view message, std::string_view notes) {
  std::string_view signature;
  if (says(message, "too few arguments to ") || says(message, "too many arguments to ")) {
    if (const auto quoted = quoted_in(message); !quoted.empty()) signature = quoted.front();
  } else if (const auto expects = notes.find("candidate expects "); expects != std::string_view::npos) {
    const auto candidate = notes.substr(0, expects).rfind("candidate: '");
    if (candidate != std::string_view::npos)
      if (const auto quoted = quoted_in(notes.substr(candidate)); !quoted.empty()) signature = quoted.front();
  }
  if (!says(signature, "odori::")) return {};
  return Finding{"compile_wrong_arguments", {{"signature", plain_names(signature)}}};
}

/// "x" of "redeclaration of 'const int x'", "conflicting declaration 'int x'", and Clang's "redefinition of 'x'".
std::optional<Finding> words_for_declarations(std::string_view message) {
  const bool twice = message.starts_with("redeclaration of '") || message.starts_with("redefinition of '") ||
                     message.starts_with("conflicting declaration '");
  const std::vector<std::string_view> quoted = quoted_in(message);
  if (!twice || quoted.empty()) return {};
  const std::string_view name = quoted[0].substr(quoted[0].find_last_of(" &*") + 1);
  if (!is_name(name)) return {};
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
  const auto quoted = quoted_in(message);
  if (!complains || quoted.empty() || !is_name(quoted[0])) return {};
  return std::string(quoted[0]);
}

std::optional<Finding> plain_words_for(std::string_view message, std::string_view notes) {
  if (says(message, "deleted") && says(message, "unique_ptr<")) return Finding{"compile_move_forgotten"};
  if (auto names = words_for_names(message, notes)) return names;
  if (auto declarations = words_for_declarations(message)) return declarations;
  if (auto arguments = words_for_arguments(message, notes)) return arguments;
  if (message.starts_with("control reaches end of non-void") || says(message, "does not return a value in all control"))
    return Finding{"compile_no_return"};
  if (message.starts_with("expected ") && says(message, "';'")) return Finding{"compile_semicolon_missing"};
  if (const auto conversion = conversion_in(message)) {
    if (auto pointers = words_for_pointers(*conversion)) return pointers;
    return Finding{"compile_type_differs", {{"wanted", conversion->wanted}, {"given", conversion->given}}};
  }
  while (!notes.empty()) {
    const std::string_view note = notes.substr(0, notes.find('\n'));
    notes.remove_prefix(std::min(note.size() + 1, notes.size()));
    if (const auto conversion = conversion_in(note))
      if (auto pointers = words_for_pointers(*conversion)) return pointers;
  }
  return {};
}

}  // namespace odori::grader
