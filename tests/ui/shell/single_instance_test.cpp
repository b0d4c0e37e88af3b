// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/shell/launch_queue.h"
#include "ui/shell/single_instance.h"

#include <QDialog>
#include <QLocalSocket>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThread>

#include <memory>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using weft::test::kPatienceMs;
using weft::ui::LaunchRequest;
using weft::ui::SingleInstance;
using Role = SingleInstance::Role;

namespace {

/// A claim from elsewhere: it waits for the first, which lives on this thread.
Role claimElsewhere(const QString& path, const LaunchRequest& request) {
    Role role = Role::Alone;
    const std::unique_ptr<QThread> thread(
        QThread::create([&] { role = SingleInstance(path).claim(request); }));
    thread->start();
    [&] { QTRY_VERIFY_WITH_TIMEOUT(thread->isFinished(), kPatienceMs); }();
    thread->wait();
    return role;
}

} // namespace

class SingleInstanceTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;

private slots:
    void a_second_start_hands_over_what_it_was_asked_for() {
        const QString path = dir_.filePath("first");
        SingleInstance first(path);
        QCOMPARE(first.claim({}), Role::First);
        struct stat status {};
        QCOMPARE(::stat(qPrintable(path), &status), 0);
        QCOMPARE(status.st_mode & 077, mode_t{0}); // nobody else's business
        LaunchRequest heard;
        connect(&first, &SingleInstance::requested, this,
                [&](const LaunchRequest& request) { heard = request; });
        const LaunchRequest request{{"/tmp/ein Läufchen.json", "/b"}, "page.train", "token-7"};
        QCOMPARE(claimElsewhere(path, request), Role::Forwarded);
        QCOMPARE(heard.files, request.files);
        QCOMPARE(heard.action, request.action);
        QCOMPARE(heard.token, request.token);
    }

    void a_dialog_that_a_request_opens_does_not_hold_its_connection() {
        const QString path = dir_.filePath("dialog");
        SingleInstance first(path);
        QCOMPARE(first.claim({}), Role::First);
        QLocalSocket client;
        client.connectToServer(path);
        QVERIFY(client.waitForConnected());
        int served = 0;
        bool answered_again = false;
        connect(&first, &SingleInstance::requested, this, [&] {
            if (++served != 2) {
                return;
            }
            // As a dialog does, this waits in an event loop of its own.
            client.readAll();
            client.write("{}\n");
            answered_again =
                QTest::qWaitFor([&] { return client.bytesAvailable() > 0; }, kPatienceMs);
            client.abort();
        });
        client.write("{}\n"); // taken with the connection itself
        QTRY_COMPARE_WITH_TIMEOUT(served, 1, kPatienceMs);
        client.write("{}\n");
        QTRY_COMPARE_WITH_TIMEOUT(served, 3, kPatienceMs);
        QVERIFY(answered_again);
    }

    void what_another_start_asks_for_waits_until_no_dialog_is_open() {
        weft::test::StudioFixture fixture;
        weft::ui::LaunchQueue launches(fixture.window(), fixture.studio().draft());
        QDialog dialog(&fixture.window());
        dialog.open();
        launches.add({{}, "page.runs", {}});
        launches.add({{}, "page.data", {}});
        QCoreApplication::processEvents();
        QCOMPARE(fixture.window().currentPage(), QString("home"));
        QSignalSpy runs(fixture.window().actions().find("page.runs"), &QAction::triggered);
        dialog.reject();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("data"), kPatienceMs);
        QCOMPARE(runs.count(), 1);
        launches.add({{}, "page.runs", {}});
        QCOMPARE(fixture.window().currentPage(), QString("runs"));
    }

    void a_socket_that_a_killed_studio_left_is_replaced() {
        const QString path = dir_.filePath("stale");
        const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        qstrncpy(address.sun_path, qPrintable(path), sizeof address.sun_path);
        QCOMPARE(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address),
                 0);
        ::close(descriptor);
        SingleInstance first(path);
        QCOMPARE(first.claim({}), Role::First);
        QCOMPARE(claimElsewhere(path, {}), Role::Forwarded);
    }

    void a_studio_that_ended_makes_room() {
        const QString path = dir_.filePath("ended");
        QCOMPARE(std::make_unique<SingleInstance>(path)->claim({}), Role::First);
        QCOMPARE(SingleInstance(path).claim({}), Role::First);
    }

    void one_that_does_not_answer_is_said_and_costs_a_moment() {
        const QString path = dir_.filePath("hung");
        QLocalServer hung; // listens and reads nothing
        QVERIFY(hung.listen(path));
        SingleInstance second(path);
        QCOMPARE(second.claim({}), Role::Alone);
        QVERIFY(second.problem().contains("does not answer"));
    }

    void rubbish_is_no_request() {
        const QString path = dir_.filePath("rubbish");
        SingleInstance first(path);
        QCOMPARE(first.claim({}), Role::First);
        QSignalSpy requested(&first, &SingleInstance::requested);
        QLocalSocket flood;
        flood.connectToServer(path);
        QVERIFY(flood.waitForConnected());
        QSignalSpy cut_off(&flood, &QLocalSocket::disconnected);
        flood.write(QByteArray(4 << 20, 'x'));
        QTRY_COMPARE_WITH_TIMEOUT(cut_off.count(), 1, kPatienceMs);
        QLocalSocket rubbish;
        rubbish.connectToServer(path);
        QVERIFY(rubbish.waitForConnected());
        rubbish.write("rubbish\n");
        QTRY_COMPARE_WITH_TIMEOUT(requested.count(), 1, kPatienceMs);
        QVERIFY(requested.at(0).at(0).value<LaunchRequest>().files.isEmpty());
    }
};

WEFT_TEST(SingleInstanceTest)
#include "single_instance_test.moc"
