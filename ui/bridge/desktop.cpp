// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/desktop.h"

#include <QCoreApplication>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QVariantMap>

namespace weft::ui {

Desktop::Desktop(QDBusConnection session, QDBusConnection system, QObject* parent)
    : QObject(parent), session_(std::move(session)), system_(std::move(system)) {}

void Desktop::keepAwake(bool on, const QString& why) {
    if (on == wanted_) {
        return;
    }
    wanted_ = on;
    if (!on) {
        lock_ = QDBusUnixFileDescriptor(); // closing it is how logind is told
        return;
    }
    if (!system_.isConnected()) { // such a call would never be answered
        emit logged(tr("the computer may fall asleep while training: there is no system bus"));
        return;
    }
    QDBusMessage call =
        QDBusMessage::createMethodCall("org.freedesktop.login1", "/org/freedesktop/login1",
                                       "org.freedesktop.login1.Manager", "Inhibit");
    call << QStringLiteral("sleep:idle") << QCoreApplication::applicationName() << why
         << QStringLiteral("block");
    auto* watcher = new QDBusPendingCallWatcher(system_.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        watcher->deleteLater();
        const QDBusPendingReply<QDBusUnixFileDescriptor> reply = *watcher;
        if (reply.isError()) {
            emit logged(
                tr("the computer may fall asleep while training: %1").arg(reply.error().message()));
        } else if (wanted_) {
            lock_ = reply.value();
            emit logged(tr("the computer stays awake while training"));
        }
    });
}

void Desktop::notify(const QString& title, const QString& text, bool urgent) {
    if (!session_.isConnected()) {
        emit logged(tr("the desktop shows no notification: there is no session bus"));
        return;
    }
    QDBusMessage call = QDBusMessage::createMethodCall("org.freedesktop.Notifications",
                                                       "/org/freedesktop/Notifications",
                                                       "org.freedesktop.Notifications", "Notify");
    const QVariantMap hints{{"urgency", QVariant::fromValue(static_cast<uchar>(urgent ? 2 : 1))},
                            {"desktop-entry", QStringLiteral("io.github.weft_studio.WeftStudio")}};
    call << QCoreApplication::applicationName() << 0U
         << QStringLiteral("io.github.weft_studio.WeftStudio") << title << text << QStringList()
         << hints << -1;
    auto* watcher = new QDBusPendingCallWatcher(session_.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        watcher->deleteLater();
        const QDBusPendingReply<uint> reply = *watcher;
        if (reply.isError()) {
            emit logged(tr("the desktop shows no notification: %1").arg(reply.error().message()));
        }
    });
}

} // namespace weft::ui
