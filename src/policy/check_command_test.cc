#include "policy/check_command.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

TEST(CheckCommandTest, TestsAreTests) {
  for (const char* command : {"./test",
                              "ctest --output-on-failure",
                              "make test",
                              "make -j2 check",
                              "pytest -n 4",
                              "python3 -m pytest tests",
                              "npm test",
                              "npm run test:unit",
                              "cargo test --all",
                              "go test ./...",
                              "./gradlew test",
                              "mvn -q verify",
                              "meson test -C build",
                              "bazel test //...",
                              "tox",
                              "npx jest",
                              "vitest run",
                              "cd build && ctest",
                              "ninja -C build && ctest -R \"a|b\" 2>&1",
                              "CI=1 timeout 60 pytest",
                              "uv run pytest -q",
                              "cmake --build build --target test"})
    EXPECT_EQ(CheckKindOf(command), CheckKind::kTest) << command;
}

TEST(CheckCommandTest, BuildsAreBuilds) {
  for (const char* command :
       {"make", "make -j$(nproc)", "ninja -C build/dev unit_tests", "cmake --build build -j 8",
        "cargo build --release", "go build ./cmd/x", "npm run build", "gradle assemble",
        "mvn package", "nice -n 5 ninja", "/usr/bin/make", "tsc -p .", "make > log.txt 2>&1"})
    EXPECT_EQ(CheckKindOf(command), CheckKind::kBuild) << command;
}

TEST(CheckCommandTest, WhatHidesTheExitCodeOrRunsNothingProvesNothing) {
  for (const char* command : {"",
                              "ls",
                              "make test || true",
                              "make test | tail",
                              "make test; true",
                              "make test &",
                              "make test\ntrue",
                              "(make test)",
                              "make -n test",
                              "ctest -N",
                              "pytest --collect-only",
                              "make clean",
                              "echo make test",
                              "make test && echo ok",
                              "cat 'pytest'",
                              "! make test",
                              "git commit -m \"make test\"",
                              "cmake -S . -B build",
                              "pytest 'unclosed",
                              "`make`",
                              "cargo run",
                              "npm install test",
                              "bash -c 'make test'",
                              "make test # ok"})
    EXPECT_EQ(CheckKindOf(command), std::nullopt) << command;
}

}  // namespace
}  // namespace stet::policy
