// SPDX-License-Identifier: GPL-3.0-or-later
// What happens if one resumes: step, what is left, what is restored, the learning rate it re-enters
// at, and which fields of the draft could come along.
#pragma once

#include "core/compile/config/run_config.h"
#include "widgets/controls/card.h"

class QGridLayout;
class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class LrCurve;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class Draft;
class DraftChanges;
class RunModel;
struct CheckpointRow;

class ResumePanel : public widgets::Surface {
    Q_OBJECT
public:
    explicit ResumePanel(QWidget* parent = nullptr);

    /// `draft` says which fields a fork with its settings would change.
    void show(const CheckpointRow& row, const RunModel& run, const Draft& draft);
    void clear();
    /// While a run trains nothing can be resumed; the buttons say so.
    void setTraining(bool training);
    void focusResume();
    /// The run can go on from what is shown.
    bool canResume() const { return usable_ && newest_ && !complete_ && !training_; }

signals:
    void resumeRequested();
    void forkRequested();
    void offerChanged();

private:
    void setFact(int row, const QString& name, const QString& value, bool good = false);
    void drawRate(const CheckpointRow& row, const RunModel& run);
    void updateButtons();

    widgets::SectionHeader* header_;
    widgets::TextLabel* from_to_;
    widgets::TextLabel* goes_on_;
    QGridLayout* facts_;
    widgets::SectionHeader* rate_header_;
    widgets::LrCurve* rate_;
    DraftChanges* changes_;
    QPushButton* resume_;
    QPushButton* fork_;
    widgets::TextLabel* note_;
    bool usable_ = false;
    QString problem_; // why it is not usable, unless it is merely gone
    bool newest_ = false;
    bool complete_ = false;
    bool training_ = false;
};

} // namespace weft::ui
