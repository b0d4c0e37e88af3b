// SPDX-License-Identifier: Apache-2.0
// What ptxas says of kernels.
#pragma once

#include "tests/support/weft_test.h"

#include <map>

namespace weft::test {

/// What a kernel needs on one architecture.
struct Usage {
    int registers = 0, stack = 0, spilled = 0, shared = 0;
};
/// [name]
using Usages = std::map<QString, Usage>;

/// Adds what a report tells to [architecture].
void add_usages(const QString& report, std::map<QString, Usages>& all);

/// Prints the row, which -v2 shows, and returns what is wrong with it, if anything.
QString wrong_with(const QString& architecture, const QString& name, const Usage& usage);

} // namespace weft::test
