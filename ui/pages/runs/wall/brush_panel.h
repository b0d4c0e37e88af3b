// SPDX-License-Identifier: GPL-3.0-or-later
// Settings against results of all runs of the table, as parallel coordinates or a scatter, with a
// brush that chooses runs: which then alone are drawn on the wall.
#pragma once

#include "ui/models/wall/run_looks.h"
#include "ui/models/wall/run_settings.h"
#include "widgets/controls/card.h"

class QComboBox;
class QPushButton;
class QStackedWidget;

namespace weft::widgets {
class EmptyState;
class ParallelView;
class ScatterView;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class BrushPanel : public widgets::Surface {
    Q_OBJECT
public:
    BrushPanel(RunLooks& looks, const RunSettings& settings, QWidget* parent = nullptr);

    /// The result whose axis stands last.
    void setMetric(const std::string& metric);
    /// Runs that pass the brush, where there is one.
    std::vector<std::filesystem::path> brushed() const;
    QSize sizeHint() const override { return {640, 240}; }

signals:
    void exported(bool well, const QString& text);

private:
    QWidget* createHeader();
    void refresh();
    void showParallel();
    void showScatter();
    void fillSettings();
    bool hasBrush() const;
    void showBrushed();
    void keepBrushed();
    bool isKnown() const;

    RunLooks& looks_;
    const RunSettings& settings_;
    std::string metric_;
    widgets::SectionHeader* header_;
    QComboBox* setting_;
    QPushButton* keep_;
    QPushButton* all_;
    QPushButton* export_;
    widgets::SegmentedControl* form_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    widgets::ParallelView* parallel_;
    widgets::ScatterView* scatter_;
};

} // namespace weft::ui
