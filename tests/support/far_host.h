// SPDX-License-Identifier: Apache-2.0
// Another host for tests: this machine with another home folder, behind a script in place of ssh.
#pragma once

#include <QStringList>

#include <filesystem>
#include <string>

namespace weft::test {

/// Who has its environment reaches it as "far".
class FarHost {
public:
    /// A folder that it may fill.
    explicit FarHost(std::filesystem::path place);
    /// NAME=value entries on top of the test's own.
    QStringList environment() const;
    /// Its folder of runs.
    std::filesystem::path runs() const { return place_ / "far" / "WeftRuns"; }
    /// Nobody reaches it until it is mended.
    void cut();
    void mend();
    /// A script for sh that is found before programs of that name; `place` is its folder.
    void add_program(const std::string& name, const std::string& script);

private:
    std::filesystem::path place_;
};

} // namespace weft::test
