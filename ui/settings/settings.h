// SPDX-License-Identifier: GPL-3.0-or-later
// What a user prefers, apart from any run: one value, kept in one file that may be edited by hand.
#pragma once

#include "core/sharding/spec_text.h"
#include "widgets/look/theme_controller.h"

#include <QMap>
#include <QObject>
#include <QString>

#include <filesystem>

namespace weft::ui {

struct Preferences {
    widgets::ThemeController::Mode theme = widgets::ThemeController::Mode::System;
    double font_scale = 1.0; // widgets::kSmallestText to kLargestText
    widgets::SeriesPalette series = widgets::SeriesPalette::Tuned;
    bool reduced_motion = false;
    bool open_last_page = true;       // and the run on it, at start; otherwise Home
    bool notify = true;               // by the desktop, when a run ends or fails
    bool keep_awake = true;           // the computer does not go to sleep while a run trains
    sharding::SpecDialect specs = sharding::SpecDialect::jax;
    QString runs_folder;              // empty: the default; taken at start
    QMap<QString, QString> shortcuts; // action id -> keys in portable text, where not the default

    bool operator==(const Preferences&) const = default;
};

class Settings : public QObject {
    Q_OBJECT
public:
    /// Reads `file`; values that make no sense become the defaults.
    explicit Settings(const std::filesystem::path& file, QObject* parent = nullptr);

    const std::filesystem::path& file() const { return file_; }
    const Preferences& values() const { return values_; }
    /// Takes over and writes new values. Returns what is wrong with the file, or an empty string;
    /// the values hold for this session in any case.
    QString set(const Preferences& values);

signals:
    void changed();

private:
    std::filesystem::path file_;
    Preferences values_;
};

} // namespace weft::ui
