// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/again.h"

#include <QCoreApplication>
#include <QProcess>

#include <grp.h>
#include <unistd.h>

namespace weft::test {
namespace {

constexpr int kClassPatienceMs = 240000; // for a loaded machine
constexpr uid_t kNobody = 65534;         // Debian Policy 9.2.2

} // namespace

QString run_again(const QString& test_class, const QProcessEnvironment& more, User user) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(more);
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::MergedChannels);
    if (user == User::nobody) {
        process.setChildProcessModifier([] {
            if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
                ::_exit(EXIT_FAILURE);
            }
        });
    }
    process.start(QCoreApplication::applicationFilePath(), {test_class, "-nocrashhandler"});
    const bool ended = process.waitForFinished(kClassPatienceMs);
    const QString output = QString::fromUtf8(process.readAll());
    if (!ended) {
        process.kill();
        process.waitForFinished();
    }
    const bool well =
        ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    return well ? QString() : process.errorString() + '\n' + output;
}

} // namespace weft::test
