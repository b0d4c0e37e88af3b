// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/emulated/emulated_weft.h"

#include "core/base/file.h"

#include <QProcess>
#include <QTest>

namespace weft::test {

EmulatedWeft::Ended EmulatedWeft::weft(const QStringList& arguments,
                                       const QStringList& variables) const {
    constexpr int kLimitMs = 120000;
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("WEFT_MODULES", WEFT_EMULATED_MODULES);
    environment.insert("XDG_CACHE_HOME", text("cache"));
    environment.insert("WEFT_RUNS", text("runs"));
    for (const QString& variable : variables) {
        environment.insert(variable.section('=', 0, 0), variable.section('=', 1));
    }
    process.setProcessEnvironment(environment);
    process.start(WEFT_PROGRAM, arguments);
    const bool done = process.waitForFinished(kLimitMs);
    return {done ? process.exitCode() : -1, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

void EmulatedWeft::succeeds(const QStringList& arguments) const {
    constexpr int kStopped = 75;
    const Ended ended = weft(arguments);
    QVERIFY2(ended.code == 0 || ended.code == kStopped, ended.err.constData());
}

QString EmulatedWeft::config(const QString& name, const std::string& document) const {
    std::filesystem::create_directories(path("configs"));
    File file(path("configs") / (name.toStdString() + ".json"), File::Mode::write);
    file.write(document);
    file.close();
    return text("configs/" + name + ".json");
}

} // namespace weft::test
