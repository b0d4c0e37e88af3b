// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/system_theme.h"

#include <QApplication>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QPalette>

namespace weft::widgets {
namespace {

const QString kService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kInterface = QStringLiteral("org.freedesktop.portal.Settings");
const QString kGroup = QStringLiteral("org.freedesktop.appearance");
const QString kKey = QStringLiteral("color-scheme");

// Values of the portal's color-scheme: 0 no preference, 1 dark, 2 light.
constexpr uint kDark = 1;
constexpr uint kLight = 2;

} // namespace

SystemTheme::SystemTheme(const QDBusConnection& bus, QObject* parent) : QObject(parent) {
    const QPalette palette = QApplication::palette();
    palette_is_dark_ = palette.color(QPalette::Window).lightness() <
                       palette.color(QPalette::WindowText).lightness();
    if (bus.isConnected()) {
        ask(bus);
    }
}

void SystemTheme::ask(QDBusConnection bus) {
    QDBusMessage call =
        QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
    call << kGroup << kKey;
    auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher, bus] {
        follow(bus);
        const QDBusPendingReply<QDBusVariant> reply = *watcher;
        if (reply.isValid()) {
            take(reply.value().variant());
        }
        watcher->deleteLater();
    });
}

// After the first answer: before it QtDBus (6.4) does not know the type of the slot's argument, and
// connects nothing. From whoever: QtDBus learns late who owns the service.
void SystemTheme::follow(QDBusConnection bus) {
    bus.connect(QString(), kPath, kInterface, QStringLiteral("SettingChanged"), this,
                SLOT(onSettingChanged(QString, QString, QDBusVariant)));
}

void SystemTheme::onSettingChanged(const QString& group, const QString& key,
                                   const QDBusVariant& value) {
    if (group == kGroup && key == kKey) {
        take(value.variant());
    }
}

void SystemTheme::take(const QVariant& value) {
    // Read wraps the value once more than the signal does.
    const QVariant plain =
        value.canConvert<QDBusVariant>() ? value.value<QDBusVariant>().variant() : value;
    const bool before = isDark();
    const uint scheme = plain.toUInt();
    portal_says_dark_ = scheme == kDark    ? std::optional(true)
                        : scheme == kLight ? std::optional(false)
                                           : std::nullopt;
    if (isDark() != before) {
        emit changed();
    }
}

} // namespace weft::widgets
