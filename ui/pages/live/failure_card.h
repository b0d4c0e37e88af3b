// SPDX-License-Identifier: GPL-3.0-or-later
// What ended a run: cause, place, what was kept, and up to three ways on. Each way is a fork that
// changes something: an exact resume would meet the same end.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QWidget>

class QGridLayout;

namespace weft::widgets {
class FlowLayout;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class FailureCard : public QWidget {
    Q_OBJECT
public:
    explicit FailureCard(RunModel& run, QWidget* parent = nullptr);

    /// Shows the failure of the run, or hides where there is none. While something trains the ways
    /// on are disabled.
    void showFailure(bool training);

signals:
    void wayChosen(const weft::train::WayOn& way);
    /// Go on as it was: what failed may be over.
    void resumeRequested();
    /// Show the checkpoint of this step.
    void checkpointRequested(std::int64_t step);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Fact {
        widgets::TextLabel* name;
        widgets::TextLabel* text;
        void show(const QString& words) const;
    };

    Fact addFact(QGridLayout* facts, const QString& name, const char* object_name);

    RunModel& run_;
    widgets::TextLabel* title_;
    widgets::TextLabel* message_;
    Fact where_;
    Fact kept_;
    Fact hint_;
    widgets::TextLabel* ways_name_;
    widgets::FlowLayout* ways_;
};

} // namespace weft::ui
