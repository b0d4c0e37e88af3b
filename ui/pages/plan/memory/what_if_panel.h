// SPDX-License-Identifier: GPL-3.0-or-later
// What if: one switch per thing that could be otherwise, each with what it alone would change; what
// is switched on is planned together and compared with the draft, and adopted with one click.
#pragma once

#include <QWidget>

#include <optional>
#include <string>
#include <vector>

class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class TextLabel;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class PlanPreview;
struct PlanChange;
struct PlanOutcome;

class WhatIfPanel : public QWidget {
    Q_OBJECT
public:
    explicit WhatIfPanel(PlanPreview& preview, QWidget* parent = nullptr);

signals:
    /// The user wants these "--set" assignments in the draft.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void changeEvent(QEvent* event) override;

private:
    struct Row {
        QString id;
        widgets::ToggleSwitch* toggle;
        widgets::TextLabel* memory;
        widgets::TextLabel* cost;
    };

    void rebuild();
    void update();
    void updateRow(const Row& row, const std::optional<PlanOutcome>& outcome);
    void updateComparison();
    void alignFigures();
    void adopt();

    PlanPreview& preview_;
    QVBoxLayout* rows_layout_;
    widgets::TextLabel* memory_title_;
    widgets::TextLabel* cost_title_;
    std::vector<Row> rows_;
    widgets::TextLabel* comparison_;
    QPushButton* adopt_;
    QPushButton* clear_;
};

} // namespace weft::ui
