# Shared by ./run, ./test and the scripts; sourced by bash. The caller has set $root (the repository) and $me (its own name).

# say TEXT...: one line for the user. Standard output belongs to the program and the test counts.
say() { printf '%s: %s\n' "$me" "$*" >&2; }

# fail TEXT [HINT...]: what went wrong, then what to do about it.
fail() {
  say "$1"
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# show_end LOG: what matters of a log: from the first failed build step on, without its command line, or the last lines.
show_end() {
  { sed -n '/^FAILED: /,$p' "$1" | head -n 40 | grep . || tail -n 25 "$1"; } | grep -v '^env CCACHE_' | sed 's/^/  | /' >&2
}

# step WHAT LOG COMMAND...: runs a command with its output in build/log/LOG.log. It announces itself only when it takes
# longer than half a second, and shows the end of the log when it fails.
step() {
  local what=$1 log=$root/build/log/$2.log status=0 announcer
  shift 2
  # Neither a lock (8, 9) nor an output that a caller waits for (7) may stay open in the sleeping child.
  { sleep 0.5 >/dev/null 2>&1 && say "$what"; } 7>&- 8>&- 9>&- >/dev/null &
  announcer=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$announcer" 2>/dev/null
  wait "$announcer" 2>/dev/null
  [ "$status" -eq 0 ] && return 0
  say "$what: failed (exit code $status). From ${log#"$PWD"/}:"
  show_end "$log"
  return "$status"
}

# lock_build: makes this process the only one that installs and builds in this clone, until descriptor 9 is closed.
lock_build() {
  make_build_folder
  exec 9>"$root/build/.lock"
  flock -n 9 || { say "waiting for another build in $root" && flock 9; }
}

make_build_folder() {
  mkdir -p "$root/build/log" 2>/dev/null || fail "cannot create $root/build/log" "Is the folder writable for $(id -un)?"
}

# use_ccache_folder: gives ccache a place when there is no usable home.
use_ccache_folder() {
  [ -z "${CCACHE_DIR:-}" ] || return 0
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  if [ -z "$cache" ] || ! mkdir -p "$cache" 2>/dev/null || ! [ -w "$cache" ]; then
    export CCACHE_DIR=$root/build/ccache
  fi
}

# configure PRESET: runs CMake when the preset has no build files, or they are of another folder or another version of
# the presets, or made before the packages of ./test were installed. A change of a CMakeLists.txt is noticed by ninja itself.
configure() {
  local folder=$root/build/$1 key
  key="$root $(cksum <"$root/CMakePresets.json") $(ls -d /usr/include/gtest 2>/dev/null) $(command -v mold)"
  [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/.configured" 2>/dev/null)" = "$key" ] && return 0
  step "configuring $1" "configure-$1" env -C "$root" cmake --fresh --preset "$1" || return 1
  echo "$key" >"$folder/.configured"
}

# build PRESET [TARGET...]: configures and builds; everything when no target is named.
build() {
  local preset=$1 what=$1
  shift
  [ $# -eq 0 ] || what="$preset ($*)"
  use_ccache_folder
  configure "$preset" &&
    step "building $what" "build-$preset" cmake --build "$root/build/$preset" \
      --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" ${1:+--target "$@"}
}
