# How ./test runs and counts; sourced by it after scripts/lib.sh. Works in the repository's root.
# Reads $filter, $scale (quick or full), $fuzz_seconds and $limit_seconds. Every program's output is in build/log/NAME.log.

passed=0 failed=0 skipped=0 failures=()
shards=$(nproc)
work=$(mktemp -d "${TMPDIR:-/tmp}/stet_test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

pass() { passed=$((passed + 1)); }
flunk() {
  failed=$((failed + 1))
  failures+=("$1")
}

# finish: the failures by name, then the counts as the last line; also when it interrupts a command whose output is
# redirected.
exec 7>&1
finish() {
  exec >&7
  [ ${#failures[@]} -eq 0 ] || printf 'FAILED  %s\n' "${failures[@]}"
  printf '%d passed, %d failed' $passed $failed
  [ $skipped -eq 0 ] || printf ', %d skipped' $skipped
  printf '\n'
  [ $failed -eq 0 ] && [ $passed -gt 0 ]
  exit
}

interrupted() {
  trap '' INT TERM
  kill $(jobs -p) 2>/dev/null
  flunk "interrupted"
  finish
}
trap interrupted INT TERM

# chosen NAME: does the filter let this check or fuzzer run?
chosen() { [ -z "$filter" ] || [[ $1 == *"$filter"* ]]; }

# report NAME START TEXT: one line per program, with the seconds since START.
report() { printf '%-20s %5d s  %s\n' "$1" $((SECONDS - $2)) "$3"; }

# show_log NAME: the end of what a failed program said, without the tests and the inputs that went well.
show_log() {
  grep -avE '^(\[( RUN |       OK|------|=====|  PASSED)|#[0-9]+\s|INFO:|\s+NEW_FUNC|stat::|scripts/testing.sh: line)' "build/log/$1.log" | tail -n 60 | sed 's/^/  | /'
  echo "  All of it: build/log/$1.log"
}

# built PRESET [TARGET...]: builds; a failure counts as one failed test.
built() {
  local start=$SECONDS
  if build "$@"; then
    report "build $1" $start ok
  else
    flunk "build $1"
    report "build $1" $start FAILED
    return 1
  fi
}

# check NAME COMMAND...: a command that counts as one test.
check() {
  local name=$1 start=$SECONDS
  shift
  chosen "$name" || return 0
  if "$@" >"build/log/$name.log" 2>&1; then
    pass
    report "$name" $start ok
  else
    flunk "$name"
    report "$name" $start FAILED
    show_log "$name"
  fi
}

# Whom programs run as; empty: who runs ./test.
as_user=()

# in_test_home NAME COMMAND...: runs a test program as on a new machine, for $limit_seconds at most.
in_test_home() {
  local folder=$work/$1 foreground= symbols
  shift
  mkdir -p "$folder/home" "$folder/tmp"
  [ ${#as_user[@]} -eq 0 ] || { chmod 711 "$work" && chown -R nobody "$folder"; }
  [ -t 0 ] && foreground=--foreground  # Else ^C would not reach it.
  symbols=external_symbolizer_path=$(command -v llvm-symbolizer-19 || command -v addr2line)
  # Descriptor 8 is the lock of ./test: a process left behind must not hold it.
  env -u STET_HOME -u XDG_CACHE_HOME -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_RUNTIME_DIR -u XDG_STATE_HOME \
    HOME="$folder/home" TMPDIR="$folder/tmp" TZ=UTC LC_ALL=C.UTF-8 \
    STET_BIN="$root/build/release/stet" STET_TEST_SCALE="$scale" \
    ASAN_OPTIONS="$symbols" TSAN_OPTIONS="$symbols" UBSAN_OPTIONS="print_stacktrace=1:$symbols" \
    ${as_user[@]+"${as_user[@]}"} timeout $foreground -k 10 "$limit_seconds" "$@" 7>&- 8>&- </dev/null
}

# gtest_pattern: the filter as GoogleTest takes it.
gtest_pattern() {
  case $filter in
    '' | *[*?:-]*) echo "${filter:-*}" ;;
    *) echo "*$filter*" ;;
  esac
}

# read_report XML: prints "PASSED FAILED SKIPPED", then the failed tests by name.
read_report() {
  perl -0777 -ne '
    my ($passed, $skipped, @failed) = (0, 0);
    s/<!\[CDATA\[.*?\]\]>//sg;  # Messages, which may look like anything.
    for (split /<testcase /) {
      my ($name) = /^name="([^"]*)"/ or next;
      my ($class) = /^[^>]*\bclassname="([^"]*)"/ or next;
      next if /^[^>]*\bstatus="notrun"/;
      if (/<failure/) { push @failed, "$class.$name" }
      elsif (/^[^>]*\bresult="skipped"/) { $skipped++ }
      else { $passed++ }
    }
    print "$passed ", scalar(@failed), " $skipped\n", map { "$_\n" } @failed;
  ' "$1"
}

# holds_chosen PROGRAM: does a source of this test program hold a test that the filter lets run?
holds_chosen() {
  local folders
  case $1 in
    unit_tests) folders="src tests/unit" ;;
    *) folders=tests/${1%_tests} ;;
  esac
  [ -n "$filter" ] || return 0
  # A test with parameters has a name in front and behind; a pattern that only leaves tests out leaves some in everywhere.
  PATTERN=$(gtest_pattern) perl -0777 -ne '
    BEGIN {
      my ($wanted) = split /-/, $ENV{PATTERN}, 2;
      @wanted = map { my $p = quotemeta; $p =~ s/\\\*/.*/g; $p =~ s/\\\?/./g; qr/^$p$/s } split /:/, $wanted || "*";
    }
    while (/^(?:TYPED_)?TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\)/mg) {
      my ($kind, $name) = ($1 // "", "$2.$3");
      for my $p (@wanted) {
        if ($name =~ $p || ($kind eq "_P" && $ENV{PATTERN} =~ m{/})) { $found = 1 }
      }
    }
    END { exit !$found }' $(find $folders -name '*_test.cc')
}

# run_shard NAME PROGRAM PATTERN NUMBER: one half of its tests; leaves a report in $work/NAME.NUMBER.xml.
run_shard() {
  [ ${#as_user[@]} -eq 0 ] || { : >"$work/$1.$4.xml" && chown nobody "$work/$1.$4.xml"; }
  GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$4 in_test_home "$1.$4" "$2" --gtest_filter="$3" \
    --gtest_output="xml:$work/$1.$4.xml" >"build/log/$1.$4.log" 2>&1
}

# count_shard NAME NUMBER STATUS: adds the counts of a shard that ended with STATUS to good and skips, and flunks what failed.
count_shard() {
  local name=$1 log=build/log/$1.$2.log xml=$work/$1.$2.xml status=$3 ok=0 bad=0 skip=0 names=() test
  if [ -s "$xml" ]; then
    { read -r ok bad skip && mapfile -t names; } < <(read_report "$xml")
    for test in ${names[@]+"${names[@]}"}; do flunk "$name: $test"; done
    # No test failed, and yet: a leak found at the end, a crash in a destructor.
    [ $status -eq 0 ] || [ "$bad" -gt 0 ] || flunk "$name: exit code $status after its last test"
  else
    # It died: what it did until then counts, and the test it was in is to blame.
    ok=$(grep -ac '^\[       OK \]' "$log")
    while read -r test; do flunk "$name: $test"; done < <(sed -n 's/^\[  FAILED  \] \(.*\) (.*/\1/p' "$log")
    test=$(grep -a '^\[ RUN  ' "$log" | tail -n 1 | sed 's/.*\] //')
    [ $status -ne 124 ] && [ $status -ne 137 ] || status="$status, limit of $limit_seconds s"
    flunk "$name: died in ${test:-its start} (exit code $status)"
  fi
  good=$((good + ok)) skips=$((skips + skip))
}

# run_tests NAME PROGRAM [PATTERN]: runs a GoogleTest program in as many shards as there are processors, side by side,
# and adds its counts.
run_tests() {
  local name=$1 program=$2 pattern=${3:-$(gtest_pattern)} start=$SECONDS
  local shard pids=() statuses=() worst=0 good=0 skips=0
  for ((shard = 0; shard < shards; shard++)); do
    run_shard "$name" "$program" "$pattern" $shard &
    pids+=($!)
  done
  for ((shard = 0; shard < shards; shard++)); do
    statuses[shard]=0
    wait "${pids[shard]}" || statuses[shard]=$?
    count_shard "$name" $shard "${statuses[shard]}"
    [ "${statuses[shard]}" -eq 0 ] || worst=${statuses[shard]}
  done
  passed=$((passed + good)) skipped=$((skipped + skips))
  if [ $worst -eq 0 ]; then
    report "$name" $start "$good passed"
    return
  fi
  report "$name" $start "FAILED (exit code $worst)"
  for ((shard = 0; shard < shards; shard++)); do
    [ "${statuses[shard]}" -eq 0 ] || show_log "$name.$shard"
  done
}

# run_tests_as_user NAME PROGRAM PATTERN: the same as an ordinary user, when ./test is run by root and the build can be
# reached by others. The system gives root and others different means.
run_tests_as_user() {
  [ "$(id -u)" -eq 0 ] || return 0
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if "${as_user[@]}" test -x "$root/build/release/stet" -a -x "$2"; then
    run_tests "$@"
  else
    say "$1: not run, because an ordinary user cannot reach $root/build"
  fi
  as_user=()
}

# fuzz NAME: runs one fuzzer. New inputs are kept in build/corpus, failing ones in build/crashes and tried again next time.
fuzz() {
  local corpus=build/corpus/$1 crashes=build/crashes/$1 seeds=()
  mkdir -p "$corpus" "$crashes"
  [ -d "fuzz/corpus/$1" ] && seeds=("fuzz/corpus/$1")
  in_test_home "$1" "build/asan/fuzz/$1" -max_total_time="$fuzz_seconds" -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$crashes/" "$corpus" "$crashes" ${seeds[@]+"${seeds[@]}"} >"build/log/$1.log" 2>&1
}

# run_fuzzers NAME...: each counts as one test; as many at a time as there are processors.
run_fuzzers() {
  local name batch start pids
  while [ $# -gt 0 ]; do
    batch=("${@:1:$(nproc)}") start=$SECONDS pids=()
    shift ${#batch[@]}
    for name in "${batch[@]}"; do
      fuzz "$name" &
      pids+=($!)
    done
    for name in "${batch[@]}"; do
      if wait "${pids[0]}"; then
        pass
        report "$name" $start "ok, $(sed -n 's/^stat::number_of_executed_units: *//p' "build/log/$name.log") inputs"
      else
        flunk "$name (inputs in build/crashes/$name)"
        report "$name" $start FAILED
        show_log "$name"
      fi
      pids=("${pids[@]:1}")
    done
  done
}
