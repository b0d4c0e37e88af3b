// SPDX-License-Identifier: GPL-3.0-or-later
// One recorded step: what each device, the loader and the host did when.
#pragma once

#include "ui/bridge/profile/open_recording.h"
#include "widgets/controls/card.h"

#include <memory>
#include <vector>

class QPushButton;

namespace weft::widgets {
class EventTimeline;
class ShortSpinBox;
class EventLegend;
} // namespace weft::widgets

namespace weft::ui {

class TimelinePanel : public widgets::Surface {
    Q_OBJECT
public:
    explicit TimelinePanel(QWidget* parent = nullptr);

    /// The step in the middle of all by its time is shown.
    void setRecording(const std::shared_ptr<const OpenRecording>& open);
    /// Calls that stand out, by call.
    void setMarked(std::vector<bool> calls);

signals:
    /// A call of the recording was chosen.
    void callChosen(int call);
    void traceRequested();

private:
    void showStep(std::size_t step, bool keep_time);
    void describe();

    std::shared_ptr<const OpenRecording> open_;
    std::size_t step_ = 0;
    std::vector<bool> marked_;
    widgets::SectionHeader* header_;
    widgets::ShortSpinBox* number_;
    QPushButton* previous_;
    QPushButton* next_;
    QPushButton* median_;
    widgets::EventLegend* legend_;
    widgets::EventTimeline* timeline_;
};

} // namespace weft::ui
