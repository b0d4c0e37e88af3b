// SPDX-License-Identifier: GPL-3.0-or-later
// What a loss or gradient that was not finite came from: the first bad op and its layer, what it
// read and made, the samples of the batch, norms of gradients by layer over the last steps, and the
// ways on.
#pragma once

#include "ui/bridge/run/divergence_record.h"
#include "ui/bridge/run/run_model.h"

#include <QWidget>

class QComboBox;
class QLayout;
class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class FlowLayout;
class ImageGrid;
class NormRows;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class DivergencePanel : public QWidget {
    Q_OBJECT
public:
    explicit DivergencePanel(RunModel& run, QWidget* parent = nullptr);

    /// Nothing can be forked while something trains.
    void setTraining(bool training);
    std::int64_t shownStep() const { return record_.step; }

signals:
    void wayChosen(const weft::train::WayOn& way);

private:
    QLayout* createHead();
    QWidget* createOp();
    QWidget* createSamples();
    QWidget* createNorms();
    QWidget* createWays();
    void update();
    void read(std::int64_t step);
    void show(DivergenceRecord record);
    void showOp();
    void showArrays();
    void showSamples();
    void showWays();
    QWidget* part(const QString& title, QWidget* body);

    RunModel& run_;
    DivergenceRecord record_;
    std::int64_t wanted_ = 0; // step that is being read or shown
    bool training_ = false;
    widgets::TextLabel* message_;
    widgets::TextLabel* outcome_;
    QComboBox* steps_;
    widgets::TextLabel* op_;
    widgets::TextLabel* layer_;
    widgets::FlowLayout* arrays_;
    QWidget* op_part_;
    QWidget* sample_part_;
    widgets::TextLabel* batch_;
    widgets::ImageGrid* pictures_;
    QWidget* texts_;
    QVBoxLayout* text_lines_;
    QWidget* norm_part_;
    widgets::TextLabel* norm_note_;
    widgets::NormRows* norms_;
    QWidget* way_part_;
    widgets::FlowLayout* ways_;
};

} // namespace weft::ui
