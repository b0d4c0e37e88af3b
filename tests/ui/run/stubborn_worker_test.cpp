// SPDX-License-Identifier: GPL-3.0-or-later
// A worker that nobody can end, as one inside a driver that hangs: the studio is left all the same.
#include "tests/support/weft_test.h"
#include "tests/ui/again.h"
#include "tests/ui/patience.h"
#include "ui/bridge/run/machine_look.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <unistd.h>

namespace {

using namespace weft;
namespace fs = std::filesystem;

constexpr auto kWorkerVariable = "WEFT_STUBBORN_WORKER";
constexpr int kHeldUpMs = 10000; // a QProcess waits 30 s for what it ends

/// For a user who may not end it: it becomes root's, and says who it is.
fs::path stubborn_worker(const fs::path& folder) {
    fs::copy_file("/usr/bin/setpriv", folder / "setpriv");
    fs::permissions(folder / "setpriv", fs::perms::set_uid, fs::perm_options::add);
    const fs::path script = folder / "weft";
    std::ofstream(script) << "#!/bin/sh\necho $$ > " << (folder / "pid" / "worker").string()
                          << "\nexec " << (folder / "setpriv").string()
                          << " --reuid 0 --clear-groups /bin/sleep 60\n";
    fs::permissions(script, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    fs::create_directory(folder / "pid");
    fs::permissions(folder / "pid", fs::perms::all);
    fs::permissions(folder, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
    return script;
}

pid_t told_in(const fs::path& file) {
    pid_t pid = 0;
    std::ifstream(file) >> pid;
    return pid;
}

} // namespace

class StubbornWorkerTest : public QObject {
    Q_OBJECT

private slots:
    void a_worker_that_cannot_be_ended_keeps_nobody() {
        if (qEnvironmentVariableIsSet(kWorkerVariable)) {
            look(qEnvironmentVariable(kWorkerVariable).toStdString());
            return;
        }
        if (::geteuid() != 0) {
            QSKIP("only root can start what somebody else may not end");
        }
        const QTemporaryDir dir;
        const fs::path worker = stubborn_worker(dir.path().toStdString());
        QProcessEnvironment more;
        more.insert(kWorkerVariable, QString::fromStdString(worker.string()));
        const QString problem = test::run_again("StubbornWorkerTest", more, test::User::nobody);
        const pid_t pid = told_in(worker.parent_path() / "pid" / "worker");
        QVERIFY(pid > 0);
        QCOMPARE(::kill(pid, SIGKILL), 0); // it was there to the end
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
    }

private:
    static void look(const fs::path& worker) {
        auto machine = std::make_unique<ui::MachineLook>(worker);
        machine->look();
        const fs::path said = worker.parent_path() / "pid" / "worker";
        QTRY_VERIFY_WITH_TIMEOUT(told_in(said) > 0, test::kPatienceMs);
        const pid_t pid = told_in(said);
        // Then it is another user's, whom no signal of ours reaches.
        QTRY_VERIFY_WITH_TIMEOUT(::kill(pid, 0) != 0 && errno == EPERM, test::kPatienceMs);
        QElapsedTimer left;
        left.start();
        machine.reset();
        QVERIFY2(left.elapsed() < kHeldUpMs, qPrintable(QString::number(left.elapsed())));
    }
};

WEFT_TEST(StubbornWorkerTest)
#include "stubborn_worker_test.moc"
