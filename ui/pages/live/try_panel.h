// SPDX-License-Identifier: GPL-3.0-or-later
// Try it: give the model of a checkpoint something and see what it makes of it, also while it
// trains.
#pragma once

#include "ui/bridge/run/sample_pictures.h"
#include "ui/bridge/run/trial_host.h"

#include <QTimer>
#include <QWidget>

#include <array>

class QPushButton;

namespace weft::data {
class Encoding;
struct SampleInfo;
} // namespace weft::data
namespace weft::widgets {
class ProbabilityBars;
class ProgressLine;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class CheckpointChoice;
class TryBoard;
class TryInput;
class TrySamples;
class TryText;

class TryPanel : public QWidget {
    Q_OBJECT
public:
    TryPanel(RunModel& run, TrialHost& host, SamplePictures& pictures, QWidget* parent = nullptr);

    /// Whether what layers make of an input is on screen: it follows the input.
    void setLooking(bool looking);

signals:
    /// The layers are looked at; what they make comes by TrialHost::looked.
    void lookRequested();

protected:
    void showEvent(QShowEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    enum class Takes : std::uint8_t { Unknown, Numbers, Text, Seeds, Board, Other };

    void onReset();
    void learnInput();
    void takeInfo(const data::SampleInfo& info, std::shared_ptr<const data::Encoding> table);
    void openTable(const data::SampleInfo& info);
    void takeProblem(const QString& problem);
    void predictSoon();
    void predict();
    void look();
    void updateLook();
    void showMade(const std::vector<QImage>& pictures, qint64 step);
    void showPrediction(const TrialPrediction& prediction);
    /// Of which one is shown at a time.
    std::array<QWidget*, 4> inputs() const;
    void updateState();
    void say(const QString& words, bool wrong = false);

    RunModel& run_;
    TrialHost& host_;
    SamplePictures& pictures_;
    Takes takes_ = Takes::Unknown;
    bool learning_ = false;
    bool looking_ = false;
    QTimer soon_;
    CheckpointChoice* checkpoint_;
    QPushButton* look_;
    widgets::ProgressLine* loading_;
    TryInput* input_;
    TryText* text_;
    TrySamples* samples_;
    TryBoard* board_;
    QWidget* result_;
    widgets::TextLabel* answer_;
    widgets::ProbabilityBars* bars_;
    widgets::TextLabel* note_;
};

} // namespace weft::ui
