// SPDX-License-Identifier: GPL-3.0-or-later
// What the network says of the same validation samples after each evaluation; wrong ones are
// framed.
#pragma once

#include "ui/bridge/run_model.h"

#include <QWidget>

namespace weft::data {
class Source;
}
namespace weft::widgets {
class EmptyState;
class ImageGrid;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

/// One prediction of a sample file.
struct SamplePrediction {
    std::int64_t index = 0; // in the validation split
    int label = -1;
    int predicted = -1;
    double probability = 0;
};

class SamplePanel : public QWidget {
    Q_OBJECT
public:
    explicit SamplePanel(RunModel& run, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fitText();
    void onReset();
    void readSamples();
    void openData();
    void show(const std::vector<SamplePrediction>& predictions);

    RunModel& run_;
    std::shared_ptr<const data::Source> validation_;
    bool opening_ = false;
    std::vector<SamplePrediction> shown_;
    widgets::SectionHeader* header_;
    widgets::ImageGrid* grid_;
    widgets::TextLabel* hint_;
};

} // namespace weft::ui
