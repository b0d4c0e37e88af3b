// SPDX-License-Identifier: GPL-3.0-or-later
// Against a portal of our own on a private bus.
#include "tests/support/weft_test.h"
#include "widgets/look/system_theme.h"

#include <QDBusMessage>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>

namespace {

using weft::widgets::SystemTheme;

constexpr uint kNoPreference = 0;
constexpr uint kDark = 1;
constexpr uint kLight = 2;

/// org.freedesktop.portal.Settings with one setting.
class Portal : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")
public:
    uint scheme = kNoPreference;

public slots:
    QDBusVariant Read(const QString& group, const QString& key) {
        Q_ASSERT(group == "org.freedesktop.appearance" && key == "color-scheme");
        return QDBusVariant(
            QVariant::fromValue(QDBusVariant(scheme))); // wrapped twice, as portals do
    }
};

} // namespace

class SystemThemeTest : public QObject {
    Q_OBJECT

    QProcess daemon_;
    QString address_;
    Portal portal_;

    QDBusConnection bus(const QString& name) {
        return QDBusConnection::connectToBus(address_, name);
    }

    void announce(const QString& group, const QString& key, uint value) {
        QDBusMessage signal = QDBusMessage::createSignal(
            "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings", "SettingChanged");
        signal << group << key << QVariant::fromValue(QDBusVariant(value));
        QVERIFY(bus("portal").send(signal));
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
        QVERIFY(bus("portal").registerObject("/org/freedesktop/portal/desktop", &portal_,
                                             QDBusConnection::ExportAllSlots));
        QVERIFY(bus("portal").registerService("org.freedesktop.portal.Desktop"));
    }

    void cleanupTestCase() {
        for (const char* name : {"portal", "studio"}) {
            QDBusConnection::disconnectFromBus(name);
        }
        daemon_.kill();
        daemon_.waitForFinished();
    }

    void the_portal_is_asked_and_its_changes_are_followed() {
        portal_.scheme = kDark;
        SystemTheme theme(bus("studio"));
        QVERIFY(!theme.isDark()); // the palette of tests is light, and nobody waits for the answer
        QSignalSpy changed(&theme, &SystemTheme::changed);
        QTRY_COMPARE(changed.count(), 1);
        QVERIFY(theme.isDark());
        announce("org.freedesktop.appearance", "color-scheme", kLight);
        QTRY_COMPARE(changed.count(), 2);
        QVERIFY(!theme.isDark());
    }

    void other_settings_mean_nothing_and_no_preference_leaves_it_to_the_palette() {
        portal_.scheme = kDark;
        SystemTheme theme(bus("studio"));
        QTRY_VERIFY(theme.isDark());
        announce("org.gnome.desktop.interface", "color-scheme", kLight);
        announce("org.freedesktop.appearance", "contrast", kLight);
        announce("org.freedesktop.appearance", "color-scheme", kNoPreference);
        QTRY_VERIFY(!theme.isDark());
    }

    void without_a_bus_the_palette_decides() {
        const SystemTheme theme(QDBusConnection("no such connection"));
        QVERIFY(!theme.isDark());
    }
};

WEFT_TEST(SystemThemeTest)
#include "system_theme_test.moc"
