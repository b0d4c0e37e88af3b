// SPDX-License-Identifier: GPL-3.0-or-later
// The view on a sample that was tried: the layers of the model, and what the chosen one makes of
// it.
#pragma once

#include "ui/bridge/run/trial_host.h"
#include "ui/pages/live/sample_look/look_model.h"

#include <QWidget>

#include <memory>

class QStackedWidget;
class QTableView;

namespace weft::widgets {
class ElidedLabel;
class EmptyState;
class ProgressLine;
} // namespace weft::widgets

namespace weft::ui {

class AttentionPart;
class FeaturePart;

class LookPanel : public QWidget {
    Q_OBJECT
public:
    explicit LookPanel(TrialHost& host, QWidget* parent = nullptr);

    /// A look is on its way.
    void expect();
    /// Forgets what was seen: another run is on screen.
    void clear();

private:
    void showLook(std::shared_ptr<const LookedInside> looked);
    void showProblem(const QString& problem);
    void showRow();

    std::shared_ptr<const LookedInside> looked_;
    LookModel model_;
    LookRow chosen_;
    QStackedWidget* sheets_;
    widgets::EmptyState* empty_;
    widgets::ProgressLine* busy_;
    QTableView* table_;
    widgets::ElidedLabel* name_;
    QStackedWidget* parts_;
    AttentionPart* attention_;
    FeaturePart* features_;
    widgets::ElidedLabel* pointed_;
};

} // namespace weft::ui
