// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the desktop asks for a dark look. Qt 6.4 does not say, so the desktop portal is asked
// (org.freedesktop.appearance color-scheme) and its changes are followed; without a portal, or when
// it has no preference, the platform's own palette tells by its lightness. GUI thread; never
// blocks.
#pragma once

#include <QDBusConnection>
#include <QDBusVariant>
#include <QObject>

#include <optional>

namespace weft::widgets {

class SystemTheme : public QObject {
    Q_OBJECT
public:
    /// `bus`: the session bus; a test gives its own.
    explicit SystemTheme(const QDBusConnection& bus, QObject* parent = nullptr);

    bool isDark() const { return portal_says_dark_.value_or(palette_is_dark_); }

signals:
    void changed();

private slots:
    void onSettingChanged(const QString& group, const QString& key, const QDBusVariant& value);

private:
    void ask(QDBusConnection bus);
    void follow(QDBusConnection bus);
    void take(const QVariant& value);

    bool palette_is_dark_ = false;
    std::optional<bool> portal_says_dark_;
};

} // namespace weft::widgets
