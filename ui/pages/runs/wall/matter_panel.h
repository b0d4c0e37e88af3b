// SPDX-License-Identifier: GPL-3.0-or-later
// What mattered: for each setting in which the runs of the table differ, the share of a metric's
// variance that lies between its values, and which of them was best. A click groups the runs by it.
#pragma once

#include "core/compare/explain.h"
#include "ui/models/wall/run_looks.h"
#include "ui/models/wall/run_settings.h"
#include "widgets/controls/card.h"

class QComboBox;

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class MatterView;
struct ReportBlock;

class MatterPanel : public widgets::Surface {
    Q_OBJECT
public:
    MatterPanel(const RunLooks& looks, const RunSettings& settings, QWidget* parent = nullptr);

    std::string metric() const;
    const std::vector<compare::Explained>& explained() const { return explained_; }
    /// The same as a table of a report.
    ReportBlock block() const;
    QSize sizeHint() const override { return {320, 190}; }

signals:
    void settingChosen(const QString& path);
    void metricChanged();

private:
    void followRuns();
    void explain();

    const RunLooks& looks_;
    const RunSettings& settings_;
    std::vector<std::string> metrics_;
    std::vector<compare::Explained> explained_;
    QComboBox* metric_;
    widgets::TextLabel* basis_;
    MatterView* view_;
};

} // namespace weft::ui
