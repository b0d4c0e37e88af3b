// SPDX-License-Identifier: Apache-2.0
// Requests, and programs that the tests have written down and run.
#pragma once

#include "core/launch/member.h"
#include "core/launch/request.h"

#include <QProcess>
#include <QStringList>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {

/// Words that a shell would take apart, expand or run.
std::vector<std::string> awkward_words();

/// Two hosts with two ranks and one, and awkward names.
launch::LaunchRequest some_request();

/// Writes a program for sh.
std::string write_program(const std::filesystem::path& path, const std::string& body);

struct Ran {
    int code = -1;
    std::string out;
    std::string error;
};
/// Runs words to the end with `in` as stdin; `path` goes before PATH. `later` follows on stdin once
/// something was printed.
Ran run_words(const std::vector<std::string>& words, const std::string& in = {},
              const std::filesystem::path& path = {}, const QStringList& variables = {},
              const std::optional<std::string>& later = {});

} // namespace weft::test
