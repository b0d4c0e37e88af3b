// SPDX-License-Identifier: GPL-3.0-or-later
// What the draft's mesh would read of a checkpoint that another mesh saved: every array with its
// pieces, its parts and what goes where. Nothing is read but the checkpoint's manifest.
#pragma once

#include "ui/bridge/newest_job.h"
#include "ui/bridge/plan/reshard_map.h"
#include "ui/bridge/run/run_index.h"
#include "ui/pages/plan/plan_panel.h"

class QComboBox;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class Banner;
class ElidedLabel;
class EmptyState;
class ProgressLine;
class ReshardView;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ReaderModel;
class ReshardModel;

class CheckpointPanel : public PlanPanel {
    Q_OBJECT
public:
    /// `index` must outlive the panel.
    explicit CheckpointPanel(RunIndex& index, QWidget* parent = nullptr);

    /// How specs are written.
    void setDialect(sharding::SpecDialect dialect);
    /// A checkpoint folder, or a run folder for its newest one.
    void open(const std::filesystem::path& folder);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    // Looks into checkpoints only while somebody looks.
    void showEvent(QShowEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createContent();
    QWidget* createList();
    QWidget* createTotals();
    void listRuns();
    bool isOfThisModel(const train::RunSummary& run) const;
    void chooseRun();
    void listCheckpoints(const std::filesystem::path& run,
                         const std::vector<checkpoint::Entry>& entries);
    void look();
    void take(ReshardMap map);
    void update();
    void showTensor();
    QString arrayText() const;
    void fillTotals();

    RunIndex& index_;
    bool wanted_ = false;  // there is something new to look at
    sharding::SpecDialect dialect_ = sharding::SpecDialect::jax;
    NewestJob looking_{this};
    std::filesystem::path folder_; // of the checkpoint
    config::Json mesh_;            // that was looked for last
    config::Json model_section_;   // of run_, whose checkpoints are listed
    ReshardMap map_;
    widgets::SectionHeader* header_;
    QComboBox* runs_;
    QComboBox* steps_;
    widgets::ProgressLine* progress_;
    widgets::Banner* trouble_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    QLineEdit* filter_;
    ReshardModel* model_;
    QSortFilterProxyModel* proxy_;
    QTableView* table_;
    widgets::ReshardView* view_;
    widgets::ElidedLabel* band_;
    widgets::TextLabel* totals_;
    ReaderModel* readers_;
    QTableView* reader_table_;
};

} // namespace weft::ui
