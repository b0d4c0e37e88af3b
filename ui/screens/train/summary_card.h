// SPDX-License-Identifier: GPL-3.0-or-later
// What a finished run came to: length, time, best and last metrics, those of the test split; as
// text on the clipboard or as a file.
#pragma once

#include "ui/bridge/run_model.h"

#include <QWidget>

class QGridLayout;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class SummaryCard : public QWidget {
    Q_OBJECT
public:
    explicit SummaryCard(RunModel& run, QWidget* parent = nullptr);

    /// Shows the end of the run, or hides: it has not finished, or the card was closed.
    void showSummary();
    /// As it stands on the card, line by line.
    QString text() const;
    /// The same as a document with full precision.
    config::Json json() const;
    /// By the name's ending: JSON, else text. False when it cannot be written.
    bool save(const QString& path) const;

signals:
    void failed(const QString& problem);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Row {
        std::string metric;
        std::optional<double> best, last, test;
    };
    std::vector<Row> rows() const;
    QString headline() const;
    void saveAs();

    RunModel& run_;
    std::filesystem::path closed_; // the run whose card was closed
    widgets::TextLabel* title_;
    QWidget* table_;
};

} // namespace weft::ui
