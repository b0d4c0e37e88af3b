// SPDX-License-Identifier: GPL-3.0-or-later
// What may change while the run on screen trains: its learning rate, how often it is evaluated,
// saved and printed, which layers are frozen; and what can be asked of it now.
#pragma once

#include "core/train/control/live_settings.h"
#include "ui/bridge/run/run_model.h"

#include <QDialog>

#include <optional>

class QComboBox;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class RunControl;

class LiveSettingsDialog : public QDialog {
    Q_OBJECT
public:
    LiveSettingsDialog(RunModel& run, RunControl& control, QWidget* parent = nullptr);

private:
    struct CadenceRow {
        QLineEdit* amount = nullptr;
        QComboBox* unit = nullptr;
        config::Json shown; // null: never
    };
    QLayout* createFields();
    QWidget* createRate();
    QWidget* createCadence(CadenceRow& row, const char* name, const QString& accessible,
                           bool may_be_none);
    QWidget* createLayers();
    QWidget* createButtons();
    void fillLayers();
    void showSettings();
    void showCadence(CadenceRow& row, const config::Json& value);
    std::optional<config::Json> typedCadence(const CadenceRow& row, const QString& what);
    std::optional<double> typedRate();
    std::optional<std::int64_t> typedSteps();
    void scaleRate(double factor);
    void apply();
    void takeAnswer(const train::CommandEvent& answer);
    void complain(const QString& text);
    double baseRate() const;
    QString rateText() const;
    std::optional<config::Json> changedLayers() const;

    RunModel& run_;
    RunControl& control_;
    QLineEdit* rate_;
    widgets::TextLabel* rate_note_;
    CadenceRow evaluate_, save_;
    QLineEdit* log_;
    QListWidget* layers_;
    widgets::TextLabel* layers_note_;
    widgets::TextLabel* outcome_;
    QPushButton* apply_;
    QPushButton* evaluate_now_;
    QPushButton* save_now_;
    train::LiveSettings shown_;
};

} // namespace weft::ui
