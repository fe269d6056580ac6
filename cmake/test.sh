#!/bin/sh
# Runs CTest and closes with one line that counts the cases of all programs:
#   test.sh BUILD_DIR [ctest options]
set -eu

build=$1
shift
log=$build/Testing/Temporary/LastTest.log
failures=$build/Testing/Temporary/LastTestsFailed.log
mkdir -p "$build/Testing/Temporary"
: >"$log"
: >"$failures"
result=0
ctest --test-dir "$build" -j2 --output-on-failure --no-tests=error "$@" || result=$?

# cmocka writes "[       OK ] name" for a case; "SKIPPED: reason" before that makes it skipped. A program
# without cases counts as one, and so does one that fails without naming a case (a crash, a time limit).
[ -e "$failures" ] || : >"$failures"
awk -v result="$result" '
    FILENAME == ARGV[1]        { sub(/^[0-9]+:/, ""); broken[$0]; next }
    /^[0-9]+\/[0-9]+ Testing: /{ name = $3; ok = bad = skips = reason = lone = 0; split("", seen) }
    /^\[ RUN      \]/          { reason = 0 }
    /^SKIPPED: /               { told[++tellings] = name ": " $0; reason = lone = 1 }
    /^\[       OK \]/          { if (reason) skips++; else ok++ }
    /^\[  SKIPPED \] [^0-9]/   { if (!($4 in seen)) skips++; seen[$4] }
    /^\[  FAILED  \] [^0-9]/   { if (!($4 in seen)) bad++; seen[$4] }
    /^\[  ERROR   \] [^-]/     { if (!($4 in seen)) bad++; seen[$4] }
    /^Test (Passed|Failed)\./  {
        if (name in broken) { if (!bad) bad = 1 }
        else if (!ok && !skips) { if (lone) skips = 1; else ok = 1 }
        passed += ok; failed += bad; skipped += skips
    }
    END {
        for (i = 1; i <= tellings; i++) print told[i]
        if (result != 0 && !failed) failed = 1
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0
    }' "$failures" "$log"
