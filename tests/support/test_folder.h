// SPDX-License-Identifier: Apache-2.0
// A folder that goes with the test, and names in it: as a base of a test class.
#pragma once

#include <QTemporaryDir>

#include <filesystem>

namespace weft::test {

class TestFolder {
protected:
    std::filesystem::path path(const char* name) const {
        return std::filesystem::path(dir_.path().toStdString()) / name;
    }
    QString text(const QString& name) const { return dir_.filePath(name); }

private:
    QTemporaryDir dir_;
};

} // namespace weft::test
