// SPDX-License-Identifier: GPL-3.0-or-later
// What the desktop does for a training run, over D-Bus: it stays awake, and it tells about the end.
// A desktop without such services is no fault; the log says so.
#pragma once

#include <QDBusConnection>
#include <QDBusUnixFileDescriptor>
#include <QObject>

namespace weft::ui {

class Desktop : public QObject {
    Q_OBJECT
public:
    /// Notifications are a service of the session's bus, sleep is one of the system's.
    Desktop(QDBusConnection session, QDBusConnection system, QObject* parent = nullptr);

    /// Keeps the computer from sleeping until it is called with false.
    void keepAwake(bool on, const QString& why = {});
    bool isKeptAwake() const { return lock_.isValid(); }
    void notify(const QString& title, const QString& text, bool urgent);

signals:
    /// For the console, at level debug.
    void logged(const QString& text);

private:
    QDBusConnection session_;
    QDBusConnection system_;
    QDBusUnixFileDescriptor lock_; // of logind: sleep is blocked while it is open
    bool wanted_ = false;
};

} // namespace weft::ui
