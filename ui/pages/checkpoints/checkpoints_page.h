// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints: folders at the left, one run's curve, files and table in the middle, what a resume
// would do at the right. Selecting never changes what Start does; resuming is a deliberate click.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "ui/bridge/run/run_reader.h"
#include "ui/pages/page.h"

#include <filesystem>

class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace weft::widgets {
class SectionHeader;
}

namespace weft::ui {

class CheckpointActions;
class CheckpointCurve;
class CheckpointModel;
class CheckpointTable;
class ResumePanel;
class RunTree;
class WeightsView;

class CheckpointsPage : public Page {
    Q_OBJECT
public:
    CheckpointsPage(Studio& studio, Actions& actions);

    void activated() override;
    bool leads() const override;
    /// The run whose checkpoints are shown; empty when none.
    const std::filesystem::path& shownRun() const { return folder_; }

private:
    QWidget* createHeader(Actions& actions);
    QWidget* createTree();
    QWidget* createMiddle();
    void fillTree();
    void clearShown();
    void showWeights(const std::filesystem::path& file);
    void startFromWeights(const std::filesystem::path& file);
    void updateChosen();
    void selectRun(const std::filesystem::path& folder, std::int64_t step = -1);
    const RunModel& run() const;
    void followModel(RunModel& model);
    void followSelected();
    void refresh();
    void describeRun();
    void selectRow(int row);
    void resume();
    void fork();
    void forkBy(const train::WayOn& way);

    Studio& studio_;
    std::filesystem::path folder_; // of the selected run
    RunModel other_;               // the selected run when it is not the one on the Train page
    RunReader reader_;             // fills it
    std::vector<checkpoint::Entry> entries_;
    QTimer reread_; // several checkpoints of one moment cause one look into the folder
    std::filesystem::path opened_; // what the user opened and what is shown lies in; or empty
    std::int64_t wanted_step_ = -1;
    RunTree* tree_;
    QLineEdit* filter_;
    WeightsView* weights_;
    CheckpointActions* actions_;
    QStackedWidget* stack_;
    widgets::SectionHeader* run_header_;
    QPushButton* whole_run_; // hidden where nothing is left to train
    widgets::SectionHeader* table_header_;
    CheckpointCurve* curve_;
    CheckpointModel* model_;
    CheckpointTable* table_;
    ResumePanel* panel_;
};

} // namespace weft::ui
