// SPDX-License-Identifier: GPL-3.0-or-later
// This test program once more, in a process of its own: on another screen, or as another user.
#pragma once

#include <QProcessEnvironment>
#include <QString>

namespace weft::test {

enum class User { same, nobody };

/// Runs one test class, with these variables on top of the environment's own. Returns what it wrote
/// when a test failed, and nothing when all is well.
QString run_again(const QString& test_class, const QProcessEnvironment& more = {},
                  User user = User::same);

} // namespace weft::test
