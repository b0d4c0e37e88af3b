// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings.h"

#include "ui/bridge/convert.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace weft::ui {
namespace {

using Mode = widgets::ThemeController::Mode;
using sharding::SpecDialect;
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
    values.specs =
        file.value("specs").toString() == "dtensor" ? SpecDialect::dtensor : SpecDialect::jax;
    values.runs_folder = file.value("runsFolder").toString();
    file.beginGroup("shortcuts");
    const QStringList ids = file.childKeys();
    for (const QString& id : ids) {
        values.shortcuts.insert(id, file.value(id).toString());
    }
    file.endGroup();
    return values;
}

QString themeName(Mode mode) {
    return mode == Mode::Dark ? "dark" : mode == Mode::Light ? "light" : "system";
}

QString seriesName(SeriesPalette series) {
    return series == SeriesPalette::OkabeIto ? "okabe-ito" : "tuned";
}

QString dialectName(SpecDialect specs) {
    return specs == SpecDialect::dtensor ? "dtensor" : "jax";
}

/// What is otherwise than before: another studio may have changed the rest of the file.
void writeChanges(QSettings& file, const Preferences& before, const Preferences& now) {
    const auto put = [&file](const QString& key, const auto& old, const auto& value) {
        if (old != value) {
            file.setValue(key, value);
        }
    };
    put("theme", themeName(before.theme), themeName(now.theme));
    put("fontScale", before.font_scale, now.font_scale);
    put("series", seriesName(before.series), seriesName(now.series));
    put("reducedMotion", before.reduced_motion, now.reduced_motion);
    put("openLastPage", before.open_last_page, now.open_last_page);
    put("notify", before.notify, now.notify);
    put("keepAwake", before.keep_awake, now.keep_awake);
    put("specs", dialectName(before.specs), dialectName(now.specs));
    put("runsFolder", before.runs_folder, now.runs_folder);
    file.beginGroup("shortcuts");
    for (auto entry = before.shortcuts.begin(); entry != before.shortcuts.end(); ++entry) {
        if (!now.shortcuts.contains(entry.key())) {
            file.remove(entry.key());
        }
    }
    for (auto entry = now.shortcuts.begin(); entry != now.shortcuts.end(); ++entry) {
        if (before.shortcuts.value(entry.key(), QString()) != entry.value() ||
            !before.shortcuts.contains(entry.key())) {
            file.setValue(entry.key(), entry.value());
        }
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
    QSettings stored(pathText(file_), QSettings::IniFormat);
    writeChanges(stored, values_, values);
    values_ = values;
    stored.sync(); // under a lock, into what the file says by now
    emit changed();
    return stored.status() == QSettings::NoError
               ? QString()
               : tr("%1 cannot be written: the settings hold until the studio is closed.")
                     .arg(pathText(file_));
}

} // namespace weft::ui
