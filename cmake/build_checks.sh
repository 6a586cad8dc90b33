# SPDX-License-Identifier: Apache-2.0
# What keeps a folder from being built in, said in a sentence: CMake and Ninja name no cause, or only "Permission denied".
# Sourced by the driver, whose `stop`, `say` and `root` these functions use.
#   check_build FOLDER                before each build: stops with 20
#   is_built FOLDER TARGET...         whether nothing would be built
#   build_targets FOLDER TARGET...    builds them
#   use_without_writing FOLDER TARGET...    a folder of somebody else: stops with 20 if something would have to be built there
#   check_runs_programs FOLDER        stops with 20 where no program can be started from this folder
#   why_build_failed FOLDER           prints a sentence, or nothing

# All that CMake's files are in.
cmake_files=(CMakeLists.txt CMakePresets.json cmake datasets exercises grader jobscripts lib slides/CMakeLists.txt solutions)

# Ninja by itself would first let CMake look for new source files, each time. Here the dates tell whether CMake has to run: those of the
# folders, and of all that CMake read. The date of odori_looked is that of its last look.
is_built() { # FOLDER TARGET...
  local folder=$1 looked=$1/odori_looked input
  shift
  [[ -f $folder/build.ninja && -e $looked ]] && command -v find >/dev/null || return 1
  [[ -z $(cd "$root" && find "${cmake_files[@]}" -type d -newer "$looked" -print -quit) ]] || return 1
  while read -r input; do
    [[ $input == "$folder"/* || ! $input -nt $looked ]] || return 1 # in the folder are CMake's own
  done < <(ninja -C "$folder" -t query build.ninja 2>/dev/null | sed -n 's/^    |* *\//\//p')
  ninja -C "$folder" -f "$(cd "$folder" && pwd)/build.ninja" -n "$@" 2>/dev/null | grep -q 'no work to do'
}

build_targets() { # FOLDER TARGET...
  local folder=$1
  shift
  touch "$folder/odori_looks"
  cmake --build "$folder" --parallel "$(usable_compilers)" ${1:+--target "$@"} && mv "$folder/odori_looks" "$folder/odori_looked"
}

use_without_writing() {
  local owner
  is_built "$@" && return 0
  owner=$(stat -c %U "$1")
  stop "the build in $1 belongs to $owner, you may not write there, and it is not up to date for this command. $owner can bring it up to date: ./odori setup. Or build one of your own: ODORI_BUILD=\$HOME/odori-build ./odori ..." \
    "$1 のビルドは $owner のもので、書き込めません。このコマンドには更新が必要です。$owner が ./odori setup で更新できます。自分用にビルドするには: ODORI_BUILD=\$HOME/odori-build ./odori ..."
}

check_build() {
  local name value future
  while IFS='=' read -r name value; do
    [[ $value != /* || -e $value ]] ||
      stop "the build in $1 was made with $value, which is not there now. Load the module that it belongs to; or begin again with what is there: rm -r $1; ./odori setup" \
        "$1 のビルドに使った $value が見つかりません。そのモジュールをロードするか、今あるものでやり直してください: rm -r $1; ./odori setup"
  done < <(grep -sE '^(CMAKE_(COMMAND|MAKE_PROGRAM|CXX_COMPILER)|MPIEXEC_EXECUTABLE):' "$1/CMakeCache.txt")
  # CMake would run again and again.
  command -v find >/dev/null && [[ -e $1/CMakeCache.txt ]] || return 0
  future=$(cd "$root" && find "${cmake_files[@]}" \( -name 'CMake*' -o -name '*.cmake' \) -newermt '1 minute' -print -quit 2>/dev/null) || true
  [[ -z $future ]] ||
    stop "$future was changed at $(date -r "$root/$future" '+%F %T'), and here it is $(date '+%F %T'): the clock of this machine or of its file server is wrong. Set it, or give the files today's date: find $root -newermt '1 minute' -exec touch {} +" \
      "$future の更新日時は $(date -r "$root/$future" '+%F %T') ですが、現在は $(date '+%F %T') です。このマシンかファイルサーバの時計が合っていません。時計を合わせるか、更新日時を今日にしてください: find $root -newermt '1 minute' -exec touch {} +"
}

check_runs_programs() {
  printf '#!/bin/sh\n' >"$1/odori_try" && chmod +x "$1/odori_try" && "$1/odori_try" 2>/dev/null && rm "$1/odori_try" || {
    rm -f "$1/odori_try"
    stop "programs can't be started from $1: its file system is full or mounted with noexec. Build in another folder: ODORI_BUILD=FOLDER ./odori ..." \
      "$1 のプログラムを起動できません。ファイルシステムが満杯か、noexec でマウントされています。別のフォルダにビルドしてください: ODORI_BUILD=フォルダ ./odori ..."
  }
}

why_build_failed() {
  local tool free foreign
  for tool in cmake ninja "${CXX:-c++}"; do
    ! command -v "$tool" >/dev/null || "$tool" --version >/dev/null 2>&1 ||
      { say "$(command -v "$tool") does not start by itself ($tool --version); load the module of its libraries, or take another one." \
        "$(command -v "$tool") が起動しません（$tool --version）。ライブラリのモジュールをロードするか、別のものを使ってください。" && return; }
  done
  free=$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')
  [[ -z $free || $free -gt 10240 ]] || { say "The file system of $1 is full: $free KiB are free, and a build needs 3 GB." \
    "$1 のファイルシステムの空きが足りません（空き $free KiB、ビルドには 3 GB が必要）。" && return; }
  foreign=$(find "$1" ! -writable -print -quit 2>/dev/null) || true
  [[ -z $foreign ]] || say "$foreign belongs to $(stat -c %U "$foreign") and you may not write it. Was ./odori called with sudo? sudo chown -R $(id -un) $1" \
    "$foreign は $(stat -c %U "$foreign") のもので、書き込めません。./odori を sudo で実行しませんでしたか。sudo chown -R $(id -un) $1"
}
