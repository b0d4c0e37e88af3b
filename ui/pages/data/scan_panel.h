// SPDX-License-Identifier: GPL-3.0-or-later
// Reads every sample once, the way training does, and says what is wrong with which.
#pragma once

#include "core/data/scan.h"
#include "ui/bridge/data/data_preview.h"
#include "ui/bridge/newest_job.h"

#include <QWidget>

class QListWidget;
class QPushButton;

namespace weft::widgets {
class ProgressLine;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ScanPanel : public QWidget {
    Q_OBJECT
public:
    explicit ScanPanel(DataPreview& preview, QWidget* parent = nullptr);

signals:
    /// A bad sample was chosen: it should be shown.
    void sampleChosen(DataSplit split, std::int64_t index);

private:
    struct Outcome {
        std::optional<data::ScanReport> report; // none: stopped, or failed
        QString problem;
    };
    void update();
    void start();
    void stop();
    void advance(const data::ScanProgress& progress);
    void show(const Outcome& outcome);
    void addBad(const data::ScanReport& report);

    DataPreview& preview_;
    config::Json scanned_; // the section of the report
    NewestJob job_{this};
    widgets::SectionHeader* header_;
    QPushButton* button_;
    widgets::ProgressLine* progress_;
    widgets::TextLabel* verdict_;
    QListWidget* list_;
};

} // namespace weft::ui
