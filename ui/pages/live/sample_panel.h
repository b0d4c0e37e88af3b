// SPDX-License-Identifier: GPL-3.0-or-later
// What the network says of the same validation samples at each evaluation: pictures, of which wrong
// ones are framed, or texts and numbers, those of two steps beside each other. Of a model that
// makes samples: samples of the data, what it gives back of them, and what it makes of the same
// latents.
#pragma once

#include "ui/bridge/run/sample_pictures.h"
#include "ui/pages/live/sample_words.h"

#include <QWidget>

class QComboBox;

namespace weft::widgets {
class EmptyState;
class ImageGrid;
class StepDots;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class SamplePanel : public QWidget {
    Q_OBJECT
public:
    SamplePanel(RunModel& run, SamplePictures& pictures, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fitText();
    void onReset();
    void updateSteps();
    void readSamples();
    void updateBeside();
    QString hintWithout() const;
    /// In the place of the samples; empty: they are there.
    void say(const QString& hint);
    void show(const std::vector<SampleWords::Said>& said);
    void showPictures(const std::vector<SaidClass>& said, const SampleSet& samples);
    void showMade(const std::vector<MadePicture>& pictures);
    void showWords(std::vector<SampleWords::Said> said, const SampleSet& samples);

    RunModel& run_;
    SamplePictures& pictures_;
    std::vector<std::filesystem::path> wanted_; // the sample files that are being read or shown
    widgets::StepDots* steps_;
    widgets::TextLabel* step_;
    widgets::TextLabel* right_;
    QWidget* beside_line_;
    QComboBox* beside_; // another step
    SampleWords* words_;
    widgets::ImageGrid* grid_;
    QWidget* pictures_area_;
    widgets::EmptyState* hint_;
};

} // namespace weft::ui
