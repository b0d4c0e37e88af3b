// SPDX-License-Identifier: GPL-3.0-or-later
// Against services of our own on a private bus: the desktop stays awake while a run trains, and
// hears of its end.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/shell/desktop_link.h"

#include <QDBusUnixFileDescriptor>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace {

using namespace weft;
using test::kPatienceMs;

/// org.freedesktop.login1: hands out the writing end of a pipe, as logind does.
class SleepManager : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.login1.Manager")
public:
    int inhibited = 0;
    QString what;
    QString mode;

    /// The other side has closed its end.
    bool released() const {
        pollfd polled{reader_, 0, 0};
        return ::poll(&polled, 1, 0) == 1 && (polled.revents & POLLHUP) != 0;
    }
    ~SleepManager() override {
        if (reader_ >= 0) {
            ::close(reader_);
        }
    }

public slots:
    QDBusUnixFileDescriptor Inhibit(const QString& asked, const QString&, const QString&,
                                    const QString& how) {
        ++inhibited;
        what = asked;
        mode = how;
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC) != 0) {
            return {};
        }
        if (reader_ >= 0) {
            ::close(reader_);
        }
        reader_ = ends[0];
        QDBusUnixFileDescriptor lock;
        lock.giveFileDescriptor(ends[1]);
        return lock;
    }

private:
    int reader_ = -1;
};

/// org.freedesktop.Notifications
class Notifications : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")
public:
    QStringList titles;
    QStringList texts;

public slots:
    uint Notify(const QString&, uint, const QString&, const QString& title, const QString& text,
                const QStringList&, const QVariantMap&, int) {
        titles << title;
        texts << text;
        return 1;
    }
};

} // namespace

class DesktopServicesTest : public QObject {
    Q_OBJECT

    QProcess daemon_;
    QString address_;

    QDBusConnection bus(const QString& name) {
        return QDBusConnection::connectToBus(address_, name);
    }

private slots:
    void initTestCase() {
        if (QStandardPaths::findExecutable("dbus-daemon").isEmpty()) {
            QSKIP("dbus-daemon is not installed");
        }
        daemon_.start("dbus-daemon", {"--session", "--nofork", "--print-address"});
        QVERIFY(daemon_.waitForStarted());
        QVERIFY(daemon_.waitForReadyRead());
        address_ = QString::fromLatin1(daemon_.readLine()).trimmed();
    }

    void cleanupTestCase() {
        for (const char* name : {"services", "studio"}) {
            QDBusConnection::disconnectFromBus(name);
        }
        daemon_.kill();
        daemon_.waitForFinished();
    }

    void the_computer_is_awake_while_a_run_computes_and_hears_of_its_end() {
        SleepManager sleep;
        Notifications notifications;
        QDBusConnection services = bus("services");
        QVERIFY(services.registerObject("/org/freedesktop/login1", &sleep,
                                        QDBusConnection::ExportAllSlots));
        QVERIFY(services.registerObject("/org/freedesktop/Notifications", &notifications,
                                        QDBusConnection::ExportAllSlots));
        QVERIFY(services.registerService("org.freedesktop.login1"));
        QVERIFY(services.registerService("org.freedesktop.Notifications"));
        test::StudioFixture fixture;
        ui::Desktop desktop(bus("studio"), bus("studio"));
        const ui::DesktopLink link(fixture.studio(), desktop);
        fixture.studio().draft().open(fixture.preset());
        QVERIFY(fixture.studio().control().startDraft().started);
        QTRY_VERIFY_WITH_TIMEOUT(desktop.isKeptAwake(), kPatienceMs);
        QVERIFY(sleep.what.contains("sleep"));
        QCOMPARE(sleep.mode, QString("block"));
        // A paused run computes nothing.
        fixture.studio().control().pause();
        QTRY_VERIFY_WITH_TIMEOUT(sleep.released(), kPatienceMs);
        fixture.studio().control().resume();
        QTRY_COMPARE_WITH_TIMEOUT(sleep.inhibited, 2, kPatienceMs);
        // Who does not want it switches it off.
        ui::Preferences changed = fixture.studio().settings().values();
        changed.keep_awake = false;
        QCOMPARE(fixture.studio().settings().set(changed), QString());
        QTRY_VERIFY_WITH_TIMEOUT(sleep.released(), kPatienceMs);
        fixture.window().hide(); // nobody looks
        fixture.studio().link().post(train::CommandKind::set,
                                     {{"path", "training.length"}, {"value", {{"steps", 1}}}});
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(notifications.titles.size(), 1, kPatienceMs);
        QVERIFY2(notifications.titles.front().contains("finished"),
                 qPrintable(notifications.titles.front()));
        services.unregisterService("org.freedesktop.login1");
        services.unregisterService("org.freedesktop.Notifications");
    }

    void a_run_that_pauses_itself_is_told_and_shown_until_it_goes_on() {
        Notifications notifications;
        QDBusConnection services = bus("services");
        QVERIFY(services.registerObject("/org/freedesktop/Notifications", &notifications,
                                        QDBusConnection::ExportAllSlots));
        QVERIFY(services.registerService("org.freedesktop.Notifications"));
        test::StudioFixture fixture;
        ui::Desktop desktop(bus("studio"), bus("studio"));
        const ui::DesktopLink link(fixture.studio(), desktop);
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("training.length", config::Json{{"steps", 100000000}});
        fixture.studio().draft().setField("checkpoint.every", nullptr);
        QVERIFY(fixture.studio().control().startDraft().started);
        const ui::RunModel& run = fixture.studio().run();
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > 0, kPatienceMs);
        // What somebody asked for is no news.
        fixture.studio().control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), train::RunState::paused, kPatienceMs);
        QVERIFY(fixture.find("runBanner")->isHidden());
        fixture.studio().control().resume();
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), train::RunState::running, kPatienceMs);
        QVERIFY(notifications.titles.isEmpty());
        const std::filesystem::path folder = run.folder();
        const std::filesystem::path elsewhere = fixture.root() / "elsewhere";
        fixture.window().hide(); // nobody looks
        std::filesystem::rename(folder, elsewhere);
        QTRY_COMPARE_WITH_TIMEOUT(notifications.titles.size(), 1, kPatienceMs);
        QVERIFY(notifications.titles.front().contains("paused itself"));
        QVERIFY(notifications.texts.front().contains("deleted or moved"));
        fixture.window().show();
        QVERIFY(fixture.find("runBanner")->isVisible());
        const QString said = fixture.find("runBanner")->accessibleName();
        QVERIFY2(said.contains("paused itself") && said.contains("deleted or moved") &&
                     said.contains("Put it back"),
                 qPrintable(said));
        std::filesystem::rename(elsewhere, folder);
        fixture.click("resumePaused");
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), train::RunState::running, kPatienceMs);
        QTRY_VERIFY(fixture.find("runBanner")->isHidden());
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QCOMPARE(notifications.titles.size(), 1);
        services.unregisterService("org.freedesktop.Notifications");
    }

    void a_desktop_without_services_is_a_line_in_the_log() {
        ui::Desktop desktop(bus("studio"), QDBusConnection("no such connection"));
        QSignalSpy logged(&desktop, &ui::Desktop::logged);
        desktop.keepAwake(true, "a run trains");
        desktop.notify("title", "text", false);
        QTRY_COMPARE_WITH_TIMEOUT(logged.count(), 2, kPatienceMs);
        QVERIFY(!desktop.isKeptAwake());
        desktop.keepAwake(false);
    }
};

WEFT_TEST(DesktopServicesTest)
#include "desktop_services_test.moc"
