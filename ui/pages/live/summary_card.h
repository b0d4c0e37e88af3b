// SPDX-License-Identifier: GPL-3.0-or-later
// What a run came to that is finished: length, time, best and last metrics, those of the test
// split; as text on the clipboard or as a file. Of one that was stopped: how far it came. What
// comes next stands first: to go on with a stopped run, to try what a finished one learned.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QWidget>

#include <array>
#include <optional>
#include <vector>

class QGridLayout;
class QPushButton;

namespace weft::widgets {
class ElidedLabel;
}

namespace weft::ui {

class Actions;

class SummaryCard : public QWidget {
    Q_OBJECT
public:
    SummaryCard(RunModel& run, Actions& actions, QWidget* parent = nullptr);

    /// Shows the end of the run, or hides: it has not ended well, or the card was closed.
    void showSummary();
    /// As it stands on the card, line by line.
    QString text() const;
    /// The same as a document with full precision.
    config::Json json() const;
    /// By the name's ending: JSON, else text. False when it cannot be written.
    bool save(const QString& path) const;

signals:
    void resumeRequested();
    void closed();
    void failed(const QString& problem);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Row {
        std::string metric;
        std::optional<double> best, last, test;
    };
    std::vector<Row> rows() const;
    /// Best, last, test.
    static std::array<QString, 3> figuresOf(const Row& row);
    /// The test split is measured at the end of a run, and some runs have none.
    static bool hasTest(const std::vector<Row>& rows);
    QString headline() const;
    bool isTriable() const;
    void fillTable();
    void fillTable(int lines);
    void saveAs();

    RunModel& run_;
    std::filesystem::path closed_; // the run whose card was closed
    widgets::ElidedLabel* title_;
    QWidget* table_;
    QPushButton* resume_;
    QPushButton* try_;
    QPushButton* longer_;
    QPushButton* copy_;
    QPushButton* save_;
};

} // namespace weft::ui
