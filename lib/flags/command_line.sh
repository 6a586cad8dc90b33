# SPDX-License-Identifier: Apache-2.0
# What the driver and its scripts share: the language that they speak, refusals, and the word that was probably meant.
# To be sourced. lib/flags/command_line.h does the same for programs.

# Sets `language` (en or ja), `keep_language` (what a suggested command needs to keep it), and `arguments`: all others.
# --lang counts wherever it stands; without it, LC_ALL, LC_MESSAGES or LANG. What is started from here on has --lang's value as
# ODORI_LANG (lib/errors/language.h).
take_language() {
  local asked=${ODORI_LANG:-} environment=${LC_ALL:-${LC_MESSAGES:-${LANG:-}}}
  if [[ $environment == ja* ]]; then environment=ja; else environment=en; fi
  [[ $asked == en || $asked == ja ]] || asked=""
  language=${asked:-$environment} keep_language="" arguments=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --lang | --lang=*)
        if [[ $1 == --lang ]]; then asked=${2:-}; else asked=${1#*=}; fi
        [[ -n $asked ]] || refuse "--lang needs a value: en or ja." "--lang には値（en か ja）が必要です。"
        [[ $1 != --lang ]] || shift
        ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  [[ -n $asked ]] || return 0
  [[ $asked == en || $asked == ja ]] || refuse "--lang takes en or ja, not \"$asked\".$(did_you_mean "$asked" en ja)" \
    "--lang に指定できるのは en か ja です（\"$asked\" は使えません）。$(did_you_mean "$asked" en ja)"
  [[ $asked == "$environment" ]] || keep_language=" --lang $asked"
  language=$asked
  export ODORI_LANG=$asked
}

say() { # ENGLISH JAPANESE
  if [[ $language == ja ]]; then printf '%s\n' "$2"; else printf '%s\n' "$1"; fi
}

# What the driver says with help: lib/flags/help.md, and help.ja.md.
help_file() {
  local folder=${BASH_SOURCE[0]%/*}
  say "$folder/help.md" "$folder/help.ja.md"
}

# COMMAND SUMMARY, a line for each.
help_summaries() { awk '/^## / { name = $2; next } name != "" && NF { print name, $0; name = "" }' "$(help_file)"; }

help_text() { # COMMAND: without its summary
  awk -v title="## $1" '
    /^## / { inside = $0 == title; line = 0; next }
    inside && ++line > 2 { if (NF) { for (; blank > 0; --blank) print ""; print } else ++blank }' "$(help_file)"
}

refuse() { # ENGLISH JAPANESE
  printf 'odori: %s\n' "$(say "$@")" >&2
  exit 2
}

# " Did you mean check?", if one of the known words is near.
did_you_mean() { # WORD KNOWN...
  local near
  near=$(nearest "$@")
  [[ -z $near ]] || say " Did you mean ${near// / or }?" "${near// /、} のことですか。"
}

refuse_task() { # COMMAND TASK KNOWN...: of ./odori COMMAND TASK
  local command=$1 task=$2 near
  shift 2
  [[ -n $task ]] || refuse "./odori $command needs a task: $*. See ./odori $command --help" \
    "./odori $command にはタスクの指定が必要です: $*。./odori $command --help を見てください。"
  if [[ " $(exercises | paste -sd ' ') " == *" $task "* ]]; then
    refuse "./odori $command isn't for $task. It takes $*." "./odori $command は $task には使えません。使えるタスクは $* です。"
  fi
  near=$(did_you_mean "$task" "$@")
  refuse "There is no task \"$task\".${near:- The tasks are $*.}" "\"$task\" というタスクはありません。${near:-タスクは $* です。}"
}

# Of the known words, the nearest to this one, at most three; as nearest() of lib/errors/nearest.h.
nearest() { # WORD KNOWN...
  awk -- '
    function plain(word) { word = tolower(word); gsub(/[-_]/, "", word); return word }
    function is_part(part, whole) {
      return (length(part) >= 2 && index(whole, part) == 1) || (length(part) >= 3 && index(whole, part) > 0)
    }
    function edits(a, b, i, j, least, table) {
      for (i = 0; i <= length(a); ++i)
        for (j = 0; j <= length(b); ++j) {
          if (i == 0 || j == 0) { table[i, j] = i + j; continue }
          least = table[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1))
          if (table[i - 1, j] + 1 < least) least = table[i - 1, j] + 1
          if (table[i, j - 1] + 1 < least) least = table[i, j - 1] + 1
          if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1) &&
              table[i - 2, j - 2] + 1 < least) least = table[i - 2, j - 2] + 1
          table[i, j] = least
        }
      return table[length(a), length(b)]
    }
    function distance(a, b, longer, apart) {
      if (a == b) return 0
      if (is_part(a, b) || is_part(b, a)) return 1
      longer = length(a) > length(b) ? length(a) : length(b)
      apart = edits(a, b)
      if (apart > 1 && apart > int((longer + 1) / 3)) return -1
      return longer <= 3 && substr(a, 1, 1) != substr(b, 1, 1) ? -1 : apart
    }
    BEGIN {
      word = plain(ARGV[1]); least = -1
      if (word == "" || length(word) > 64) exit
      for (k = 2; k < ARGC; ++k) {
        apart = distance(word, plain(ARGV[k]))
        if (apart < 0 || (least >= 0 && apart > least)) continue
        if (apart != least) n = 0
        least = apart; found[++n] = ARGV[k]
      }
      for (i = 1; i <= n && i <= 3; ++i) printf "%s%s", (i > 1 ? " " : ""), found[i]
    }' "$@"
}
