// SPDX-License-Identifier: GPL-3.0-or-later
// The verdict: does it fit, how long does a step take and what says so; when it does not fit, what
// would make it fit, each one click.
#pragma once

#include "core/plan/plan.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QVBoxLayout;

namespace weft::widgets {
class IconLabel;
class MemoryBar;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

struct PlanDigest;
class PlanPreview;

/// One line for an alternative: its change, memory, step time and a button. `now_ms`: the draft's.
QWidget* alternativeRow(const plan::Alternative& alternative, std::optional<double> now_ms,
                        const QString& button, const std::function<void()>& apply);

class VerdictPanel : public QWidget {
    Q_OBJECT
public:
    explicit VerdictPanel(PlanPreview& preview, QWidget* parent = nullptr);

signals:
    /// The user wants these "--set" assignments in the draft.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

private:
    bool isCurrent() const;
    void update();
    void updateTime(const PlanDigest& digest);
    void updateFixes();

    PlanPreview& preview_;
    widgets::IconLabel* icon_;
    widgets::TextLabel* verdict_;
    widgets::MemoryBar* bar_;
    widgets::TextLabel* room_;
    widgets::TextLabel* time_;
    widgets::TextLabel* basis_;
    widgets::TextLabel* fixes_title_;
    QVBoxLayout* fixes_;
};

} // namespace weft::ui
