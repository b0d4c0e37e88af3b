// SPDX-License-Identifier: GPL-3.0-or-later
// The confusion matrix of a checkpoint over the validation split, and the samples of a cell. The
// studio counts it in the background when the tab is opened; training is not asked.
#pragma once

#include "ui/bridge/run/sample_pictures.h"
#include "ui/bridge/run/trial_host.h"

#include <QTimer>
#include <QWidget>

class QPushButton;
class QScrollArea;

namespace weft::widgets {
class ConfusionView;
class ImageGrid;
class ProgressLine;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class CheckpointChoice;

class ConfusionPanel : public QWidget {
    Q_OBJECT
public:
    ConfusionPanel(RunModel& run, TrialHost& host, SamplePictures& pictures,
                   QWidget* parent = nullptr);

signals:
    /// Something could not be written.
    void failed(const QString& problem);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void onReset();
    void count();
    void cancel();
    void show(std::shared_ptr<const Confusion> confusion);
    void showCell(int cell);
    void reveal();
    void say(const QString& words);
    void updateButton();
    void exportMatrix();

    RunModel& run_;
    TrialHost& host_;
    SamplePictures& pictures_;
    std::shared_ptr<const Confusion> confusion_;
    bool counting_ = false;
    CheckpointChoice* checkpoint_;
    widgets::SegmentedControl* form_;
    QPushButton* count_;
    QPushButton* export_;
    widgets::ProgressLine* progress_;
    widgets::TextLabel* summary_;
    widgets::ConfusionView* view_;
    widgets::TextLabel* cell_;
    widgets::ImageGrid* images_;
    QScrollArea* scroll_;
    QTimer revealing_; // for a moment images stay in view while the page grows
};

} // namespace weft::ui
