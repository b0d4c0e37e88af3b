// SPDX-License-Identifier: GPL-3.0-or-later
// One tag of another program's run: its pictures, sound, histogram, text or curve at a step that
// can be chosen; of histograms how they were spread over the steps, too.
#pragma once

#include "ui/bridge/media/media_values.h"
#include "ui/bridge/newest_job.h"

#include <QWidget>

class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class HistogramView;
class ImageGrid;
class LineChart;
class StepDots;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class MediaCard : public QWidget {
    Q_OBJECT
public:
    MediaCard(std::filesystem::path folder, const train::MediaSeries& series,
              QWidget* parent = nullptr);

    const std::string& tag() const { return series_.tag; }
    train::MediaKind kind() const { return series_.kind; }
    /// The same tag, after the files have grown.
    void setSeries(const train::MediaSeries& series);
    /// What is shown now; empty while it is read.
    const DrawnMedia& drawn() const { return drawn_; }
    /// Writes what is shown: one file to the path `place`, several into the folder; exported()
    /// says how it went.
    void saveTo(const QString& place);

signals:
    void exported(bool well, const QString& text);

private:
    void createBody(QVBoxLayout& column);
    widgets::LineChart* createChart(const QString& x_name, const QString& y_name);
    void read();
    void readSpread();
    void show(DrawnMedia drawn);
    void showSound();
    void showCurve();
    void showSpread(const MediaSpread& spread);
    void askAndSave();
    QString fileStem() const;

    std::filesystem::path folder_;
    train::MediaSeries series_;
    train::MediaPlace place_; // of what is shown, or being read
    DrawnMedia drawn_;
    NewestJob job_{this};
    NewestJob spread_job_{this};
    widgets::TextLabel* step_;
    widgets::StepDots* steps_;
    QPushButton* save_;
    widgets::TextLabel* note_; // what is wrong, or left out
    widgets::TextLabel* text_ = nullptr;
    widgets::ImageGrid* pictures_ = nullptr;
    widgets::HistogramView* histogram_ = nullptr;
    widgets::LineChart* chart_ = nullptr; // a sound, a curve, or the spread of histograms
};

} // namespace weft::ui
