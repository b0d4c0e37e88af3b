// SPDX-License-Identifier: GPL-3.0-or-later
// Why it is slow: the largest cause in one sentence with a button for what helps, the next ones
// beside it, and the parts of a step.
#pragma once

#include "ui/bridge/profile/open_recording.h"
#include "ui/bridge/profile/profile_fix.h"
#include "widgets/controls/card.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class ElidedLabel;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Draft;
class RunModel;

class CausePanel : public widgets::Surface {
    Q_OBJECT
public:
    /// Of recordings of `run`; what helps is set in `draft`.
    CausePanel(RunModel& run, Draft& draft, QWidget* parent = nullptr);

    /// `before`: null where nothing stands beside it.
    void setRecordings(const std::shared_ptr<const OpenRecording>& now,
                       const std::shared_ptr<const OpenRecording>& before);

signals:
    /// Another page shows what helps.
    void pageRequested(const QString& id);

private:
    void update();
    void showCauses();
    QString partsText() const;
    QString changeText() const;
    void arrangeFix(QPushButton* button, const std::optional<ProfileFix>& fix);

    RunModel& run_;
    Draft& draft_;
    int cores_;
    std::shared_ptr<const OpenRecording> now_;
    std::shared_ptr<const OpenRecording> before_;
    std::vector<std::optional<ProfileFix>> fixes_; // by button
    widgets::TextLabel* sentence_;
    widgets::TextLabel* advice_;
    widgets::TextLabel* parts_;
    QPushButton* fix_;
    struct Line {
        QWidget* row;
        widgets::ElidedLabel* text;
        QPushButton* fix;
    };
    std::vector<Line> lines_;
    QWidget* others_;
};

} // namespace weft::ui
