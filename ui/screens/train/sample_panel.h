// SPDX-License-Identifier: GPL-3.0-or-later
// What the network says of the same validation samples at each evaluation; wrong ones are framed.
#pragma once

#include "ui/bridge/sample_pictures.h"

#include <QWidget>

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
    /// One prediction of a sample file.
    struct Prediction {
        std::int64_t index = 0; // in the validation split
        int label = -1;
        int predicted = -1;
        double probability = 0;
    };

    static std::vector<Prediction> readFile(const std::filesystem::path& path);
    void fitText();
    void onReset();
    void updateSteps();
    void readSamples();
    /// In the place of the pictures; empty: they are there.
    void say(const QString& hint);
    void show(const std::vector<Prediction>& predictions, const SampleSet& samples);

    RunModel& run_;
    SamplePictures& pictures_;
    std::filesystem::path wanted_; // the sample file that is being read or shown
    widgets::StepDots* steps_;
    widgets::TextLabel* step_;
    widgets::TextLabel* right_;
    widgets::ImageGrid* grid_;
    QWidget* pictures_area_;
    widgets::EmptyState* hint_;
};

} // namespace weft::ui
