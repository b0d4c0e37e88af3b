// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/run_views.h"

#include "ui/bridge/convert.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>
#include <QUrl>

#include <algorithm>

namespace weft::ui {
namespace {

const QString kViewsGroup = QStringLiteral("views");

QString key_of_view(const QString& name) {
    return QString::fromLatin1(QUrl::toPercentEncoding(name));
}

QByteArray text_of_view(const RunView& view) {
    const WallState& wall = view.wall;
    const QJsonObject object{
        {"name", view.name},
        {"filter", view.filter},
        {"group_by", view.group_by},
        {"columns", QJsonArray::fromStringList(view.columns)},
        {"mode", view.mode},
        {"charts", wall.search},
        {"folded", QJsonArray::fromStringList(wall.folded)},
        {"axis", static_cast<int>(wall.axis)},
        {"smoothing", wall.smoothing},
        {"log", wall.log},
        {"outliers_clipped", wall.outliers_clipped},
        {"lines", wall.lines},
    };
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

QStringList strings_of(const QJsonValue& value) {
    QStringList out;
    for (const QJsonValue& one : value.toArray()) {
        out << one.toString();
    }
    return out;
}

/// What is missing or wrong is as at first.
RunView view_of_text(const QByteArray& text) {
    const QJsonObject object = QJsonDocument::fromJson(text).object();
    RunView view;
    view.name = object["name"].toString();
    view.filter = object["filter"].toString();
    view.group_by = object["group_by"].toString();
    view.columns = strings_of(object["columns"]);
    view.mode = object["mode"].toInt();
    view.wall.search = object["charts"].toString();
    view.wall.folded = strings_of(object["folded"]);
    const int axis = object["axis"].toInt();
    view.wall.axis = axis >= 0 && axis <= static_cast<int>(XAxis::RelativeStep)
                         ? static_cast<XAxis>(axis)
                         : XAxis::Step;
    view.wall.smoothing = std::clamp(object["smoothing"].toDouble(view.wall.smoothing), 0.0, 0.99);
    view.wall.log = object["log"].toBool();
    view.wall.outliers_clipped = object["outliers_clipped"].toBool();
    view.wall.lines = object["lines"].toInt();
    return view;
}

} // namespace

std::vector<RunView> RunViews::all() const {
    QSettings settings(pathText(file_), QSettings::IniFormat);
    settings.beginGroup(kViewsGroup);
    std::vector<RunView> out;
    for (const QString& key : settings.childKeys()) {
        RunView view = view_of_text(settings.value(key).toString().toUtf8());
        if (!view.name.isEmpty()) {
            out.push_back(std::move(view));
        }
    }
    std::sort(out.begin(), out.end(), [](const RunView& a, const RunView& b) {
        return QString::localeAwareCompare(a.name, b.name) < 0;
    });
    return out;
}

void RunViews::save(const RunView& view) const {
    QSettings settings(pathText(file_), QSettings::IniFormat);
    settings.beginGroup(kViewsGroup);
    settings.setValue(key_of_view(view.name), QString::fromUtf8(text_of_view(view)));
}

void RunViews::remove(const QString& name) const {
    QSettings settings(pathText(file_), QSettings::IniFormat);
    settings.beginGroup(kViewsGroup);
    settings.remove(key_of_view(name));
}

} // namespace weft::ui
