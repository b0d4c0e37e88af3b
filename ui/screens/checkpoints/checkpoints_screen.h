// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints: runs at the left, one run's curve, files and table in the middle, what a resume would
// do at the right. Selecting never changes what Start does; resuming is a deliberate click.
#pragma once

#include "ui/bridge/run_model.h"
#include "ui/screens/screen.h"

#include <filesystem>

class QListWidget;
class QListWidgetItem;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class CheckpointTimeline;
class LineChart;
class SectionHeader;
} // namespace weft::widgets

namespace weft::checkpoint {
struct Entry;
}

namespace weft::ui {

class CheckpointModel;
class ResumePanel;

class CheckpointsScreen : public Screen {
    Q_OBJECT
public:
    CheckpointsScreen(Studio& studio, Actions& actions);

    void activated() override;
    /// The run whose checkpoints are shown; empty when none.
    const std::filesystem::path& shownRun() const { return folder_; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* createHeader(Actions& actions);
    QWidget* createRunList();
    QWidget* createMiddle();
    void fillRunList();
    void selectRun(const std::filesystem::path& folder, std::int64_t step = -1);
    void showEntries(const std::filesystem::path& folder,
                     const std::vector<checkpoint::Entry>& entries);
    void drawCurve();
    void selectRow(int row);
    void resume();
    void fork();
    void verify();

    Studio& studio_;
    RunModel shown_; // the selected run, read from its folder; not the one on the Train page
    std::filesystem::path folder_;
    std::int64_t wanted_step_ = -1;
    QListWidget* runs_;
    QStackedWidget* stack_;
    widgets::SectionHeader* run_header_;
    widgets::SectionHeader* table_header_;
    widgets::LineChart* curve_;
    widgets::CheckpointTimeline* timeline_;
    CheckpointModel* model_;
    QTableView* table_;
    ResumePanel* panel_;
};

} // namespace weft::ui
