// SPDX-License-Identifier: Apache-2.0
// The real `weft` with emulated GPUs as its module, in folders of its own.
#pragma once

#include "tests/support/test_folder.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <string>

namespace weft::test {

class EmulatedWeft : protected TestFolder {
protected:
    struct Ended {
        int code = -1; // -1: it did not end in time
        QByteArray out, err;
    };
    /// Runs to the end; `variables` are "NAME=value" (kernels/emulation/module).
    Ended weft(const QStringList& arguments, const QStringList& variables = {}) const;
    /// Fails the test unless it ends well, or stops where it can go on.
    void succeeds(const QStringList& arguments) const;
    /// A file with this document.
    QString config(const QString& name, const std::string& document) const;
};

} // namespace weft::test
