#include "report/html.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"

namespace odori::html {
namespace {

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string fill(std::string_view page, const std::map<std::string, std::string, std::less<>>& values) {
  std::string text;
  for (std::size_t begin; (begin = page.find("{{")) != std::string_view::npos;) {
    const std::size_t end = page.find("}}", begin);
    text.append(page.substr(0, begin)).append(values.at(std::string(page.substr(begin + 2, end - begin - 2))));
    page.remove_prefix(end + 2);
  }
  return text.append(page);
}

std::string json_in_script(const nlohmann::json& json) { return replace_all(json.dump(), "<", "\\u003c"); }

std::string code_in_script(const std::string& code) { return replace_all(code, "</script", "<\\/script"); }

std::string read_library(const char* variable, const char* file) {
  const char* named = std::getenv(variable);
  std::ifstream stream(named ? named : file);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  require(!named || !text.str().empty(), "{} names {}, which can't be read. Name the library's JavaScript file.",
          variable, named ? named : "");
  return text.str();
}

}  // namespace odori::html
