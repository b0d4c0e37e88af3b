// SPDX-License-Identifier: GPL-3.0-or-later
// Memory against time: how much the backward pass computes again, as a curve whose points can be
// looked at and applied; and on request the best of every combination of precision, recompute and
// micro batch.
#pragma once

#include <QWidget>

#include <string>
#include <vector>

class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class SectionHeader;
class TextLabel;
class TradeOffChart;
} // namespace weft::widgets

namespace weft::ui {

class PlanPreview;

class TradeOffPanel : public QWidget {
    Q_OBJECT
public:
    explicit TradeOffPanel(PlanPreview& preview, QWidget* parent = nullptr);

signals:
    /// The user wants these "--set" assignments in the draft.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

private:
    void updateAdvise();
    void updateCurve();
    void updateAdvice();
    void showPoint(int index);
    int currentPoint() const;

    PlanPreview& preview_;
    widgets::SectionHeader* header_;
    widgets::TradeOffChart* chart_;
    widgets::TextLabel* state_;
    QWidget* point_line_;
    widgets::TextLabel* point_;
    QPushButton* apply_;
    std::vector<int> order_; // curve index of each point of the chart
    int shown_ = -1;         // curve index
    QPushButton* advise_;
    widgets::TextLabel* advice_state_;
    QVBoxLayout* advice_;
};

} // namespace weft::ui
