// SPDX-License-Identifier: GPL-3.0-or-later
// The view Inside of Train: weights, gradients, updates or activations by layer at a step, and how
// the numbers of one array were spread over the steps.
#pragma once

#include "ui/bridge/inside/inside_looks.h"
#include "ui/pages/live/inside/layer_model.h"
#include "ui/pages/live/inside/spread_columns.h"

#include <QWidget>

class QLayout;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class ElidedLabel;
class EmptyState;
class SegmentedControl;
class SpreadMap;
class StepDots;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class InsidePanel : public QWidget {
    Q_OBJECT
public:
    explicit InsidePanel(RunModel& run, QWidget* parent = nullptr);

    /// A run that trains can be told to look.
    void setTraining(bool training);
    /// The look nearest to a step.
    void showStep(std::int64_t step);

signals:
    /// The run shall look every so many steps; 0: no more.
    void lookRequested(std::int64_t every);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QLayout* createHead();
    QWidget* createMap();
    void update();
    void showState();
    void showRows();
    void showMap();
    InsideKind kind() const;

    RunModel& run_;
    InsideLooks looks_;
    LayerModel model_;
    bool training_ = false;
    QString chosen_; // name of the row whose map is shown
    QStackedWidget* sheets_;
    widgets::EmptyState* empty_;
    QPushButton* begin_;
    widgets::SegmentedControl* kinds_;
    widgets::StepDots* steps_;
    widgets::TextLabel* step_;
    QPushButton* stop_;
    QTableView* table_;
    widgets::TextLabel* array_;
    widgets::ElidedLabel* figures_;
    widgets::SegmentedControl* axis_;
    widgets::SpreadMap* map_;
    widgets::TextLabel* pointed_;
};

} // namespace weft::ui
