// SPDX-License-Identifier: GPL-3.0-or-later
// What a new run begins with: data of one's own, a preset, a configuration, or nothing.
#pragma once

#include "ui/bridge/draft/preset_list.h"

#include <QDialog>

#include <functional>

class QComboBox;

namespace weft::widgets {
class ElidedLabel;
}

namespace weft::ui {

class Actions;
class Studio;

class NewRunDialog : public QDialog {
    Q_OBJECT
public:
    NewRunDialog(Studio& studio, Actions& actions, QWidget* parent = nullptr);

    /// Asks for data of one's own; tests replace the dialog by an answer.
    std::function<QString(bool folder)> askForData;

signals:
    /// A preset, or data to look at.
    void chosen(const QString& path);
    /// A draft of nothing has begun.
    void begun();

private:
    QWidget* createData();
    QWidget* createPreset();
    QWidget* createFile(Actions& actions);
    QWidget* createEmpty();
    void fillPresets(std::vector<PresetInfo> presets);
    void sayPreset();

    Studio& studio_;
    QComboBox* presets_;
    widgets::ElidedLabel* note_;
    std::vector<PresetInfo> known_;
};

} // namespace weft::ui
