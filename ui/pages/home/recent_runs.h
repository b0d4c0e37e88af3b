// SPDX-License-Identifier: GPL-3.0-or-later
// The newest runs: curve, state, best, and one action each.
#pragma once

#include "core/train/record/run_summary.h"
#include "widgets/look/number_style.h"

#include <QWidget>

#include <map>
#include <string>

class QGridLayout;
class QPushButton;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class Actions;
class Studio;

class RecentRuns : public QWidget {
    Q_OBJECT
public:
    RecentRuns(Studio& studio, Actions& actions, QWidget* parent = nullptr);

    /// As narrow as the page: columns leave, the least telling first.
    QSize minimumSizeHint() const override;

signals:
    void openRequested(const QString& folder);
    void resumeRequested(const QString& folder);
    void checkpointsRequested(const QString& folder);
    /// What cannot be read may lie at another place by now, or is looked at among all runs.
    void locateRequested(const QString& opened);
    void runsRequested();
    /// A folder that the user had opened was closed.
    void closed(const QString& text);

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct MovingLabels {
        widgets::TextLabel* step = nullptr;
        widgets::TextLabel* time = nullptr;
    };

    QPushButton* createRecentButton(Actions& actions);
    void rebuild();
    /// A run that trains: its row stays, with what has the focus in it.
    void follow(const train::RunSummary& run);
    void fitColumns();
    void chooseStyles();
    void addHeader();
    void addRow(int row, const train::RunSummary& run);
    void addAction(int row, const train::RunSummary& run);
    void addUnreadable(int row, const train::RunSummary& run);
    QPushButton* createButton(const QString& text, const train::RunSummary& run);
    void addMessage(const QString& text);

    Studio& studio_;
    QWidget* table_ = nullptr;
    QGridLayout* grid_ = nullptr;
    std::map<int, std::filesystem::path> folders_; // of the rows
    std::map<std::filesystem::path, MovingLabels> moving_;
    std::map<std::string, widgets::NumberStyle> styles_; // by metric
};

} // namespace weft::ui
