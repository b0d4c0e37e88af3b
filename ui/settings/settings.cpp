// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings.h"

#include "ui/bridge/convert.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace weft::ui {
namespace {

using Mode = widgets::ThemeController::Mode;
using widgets::SeriesPalette;

Preferences readPreferences(QSettings& file) {
    Preferences values;
    const QString theme = file.value("theme").toString();
    values.theme = theme == "dark" ? Mode::Dark : theme == "light" ? Mode::Light : Mode::System;
    const double scale = file.value("fontScale", 1.0).toDouble(); // 0 when it is no number
    values.font_scale = scale > 0 ? std::clamp(scale, widgets::kSmallestText, widgets::kLargestText)
                                  : 1.0;
    values.series = file.value("series").toString() == "okabe-ito" ? SeriesPalette::OkabeIto
                                                                   : SeriesPalette::Tuned;
    values.reduced_motion = file.value("reducedMotion", false).toBool();
    values.open_last_page = file.value("openLastPage", true).toBool();
    values.notify = file.value("notify", true).toBool();
    values.keep_awake = file.value("keepAwake", true).toBool();
    values.runs_folder = file.value("runsFolder").toString();
    file.beginGroup("shortcuts");
    const QStringList ids = file.childKeys();
    for (const QString& id : ids) {
        values.shortcuts.insert(id, file.value(id).toString());
    }
    file.endGroup();
    return values;
}

void write(QSettings& file, const Preferences& values) {
    file.setValue("theme", values.theme == Mode::Dark    ? "dark"
                           : values.theme == Mode::Light ? "light"
                                                         : "system");
    file.setValue("fontScale", values.font_scale);
    file.setValue("series", values.series == SeriesPalette::OkabeIto ? "okabe-ito" : "tuned");
    file.setValue("reducedMotion", values.reduced_motion);
    file.setValue("openLastPage", values.open_last_page);
    file.setValue("notify", values.notify);
    file.setValue("keepAwake", values.keep_awake);
    file.setValue("runsFolder", values.runs_folder);
    file.remove("shortcuts");
    file.beginGroup("shortcuts");
    for (auto entry = values.shortcuts.begin(); entry != values.shortcuts.end(); ++entry) {
        file.setValue(entry.key(), entry.value());
    }
    file.endGroup();
}

} // namespace

Settings::Settings(const std::filesystem::path& file, QObject* parent)
    : QObject(parent), file_(file) {
    QSettings stored(pathText(file_), QSettings::IniFormat);
    values_ = readPreferences(stored);
}

QString Settings::set(const Preferences& values) {
    if (values == values_) {
        return {};
    }
    values_ = values;
    QSettings stored(pathText(file_), QSettings::IniFormat);
    write(stored, values_);
    stored.sync();
    emit changed();
    return stored.status() == QSettings::NoError
               ? QString()
               : tr("%1 cannot be written: the settings hold until the studio is closed.")
                     .arg(pathText(file_));
}

} // namespace weft::ui
