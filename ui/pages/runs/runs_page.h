// SPDX-License-Identifier: GPL-3.0-or-later
// Runs: every run on disk in one table, to filter, sort, group, tag, note, archive and throw away;
// below it the chosen ones beside each other, or beside it the wall of their charts. Choosing a run
// here changes nothing of what Start does.
#pragma once

#include "ui/bridge/run/run_curves.h"
#include "ui/bridge/run/run_trash.h"
#include "ui/models/run_table_filter.h"
#include "ui/models/run_table_model.h"
#include "ui/models/wall/run_looks.h"
#include "ui/models/wall/run_settings.h"
#include "ui/pages/page.h"
#include "ui/pages/runs/run_views.h"

#include <QTimer>

#include <functional>

class QComboBox;
class QLineEdit;
class QMenu;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace weft::widgets {
class EmptyState;
class SectionHeader;
class SegmentedControl;
class TextLabel;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class BrushPanel;
class ComparePanel;
class MatterPanel;
class ReportPanel;
class RunsTable;
class UndoNote;
class WallCell;
class WallPanel;

class RunsPage : public Page {
    Q_OBJECT
public:
    RunsPage(Studio& studio, Actions& actions);
    ~RunsPage() override;

    void activated() override;
    /// The chosen runs, in the order of the table.
    std::vector<train::RunSummary> selectedRuns() const;

    enum Mode { TableMode, ChartsMode, ReportMode };
    void setMode(int mode);
    /// Null until charts were asked for.
    WallPanel* wall() const { return wall_; }
    RunLooks& looks() { return *looks_; }
    RunView view() const;
    void setView(const RunView& view);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createHeader(Actions& actions);
    QWidget* createTable(Actions& actions);
    void createTableActions();
    void showRowMenu(const QPoint& at);
    QPushButton* addButton(const QString& name, const QString& text, const QString& tooltip);
    void refresh();
    /// Selects the runs of a folder that was opened, once they are listed.
    void showOpened(const std::filesystem::path& folder,
                    const std::vector<std::filesystem::path>& runs);
    void selectOpened();
    void applyFilter();
    void updateSelection();
    void updateComparison();
    void openSelected();
    void showCheckpoints();
    void tagSelected();
    void archiveSelected();
    void trashSelected();
    void moveToTrash(std::vector<std::filesystem::path> folders);
    void bringBackFromTrash(const std::vector<Trashed>& trashed);
    void noteSelected();
    void exportCsv();
    void chooseColumns();
    void annotate(const std::vector<train::RunSummary>& runs,
                  const std::function<void(train::Annotations&)>& edit, const QString& done);
    struct Annotated {
        std::filesystem::path run;
        train::AnnotationChange change;
    };
    // runs_page_charts.cpp
    void createCharts();
    void showMode();
    void createReport();
    void addToReport(const std::vector<WallCell*>& cells);
    void addTableToReport();
    void fillGroups();
    void toggleEyes();
    void highlightHovered(const QModelIndex& index);
    void showTitle();
    void fillViews(QMenu& menu);
    void saveView();
    std::vector<train::RunSummary> listedRuns() const;

    /// Says what was done to them, with the way back.
    void offerUndo(std::vector<Annotated> changed, const QString& done);

    Studio& studio_;
    RunCurves curves_;
    RunTableModel* model_;
    RunTableFilter* filtered_;
    UndoNote* undo_;
    RunLooks* looks_;
    RunSettings* settings_;
    RunViews views_;
    QTimer reread_;                             // while another program writes
    std::vector<std::filesystem::path> opened_; // to be selected
    QLineEdit* filter_;
    widgets::TextLabel* filter_problem_;
    widgets::ToggleSwitch* archived_;
    widgets::SectionHeader* page_header_;
    widgets::SectionHeader* table_header_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QPushButton* go_home_;
    QPushButton* log_recipe_;
    QPushButton* clear_filter_;
    QSplitter* splitter_;
    QSplitter* left_;        // table, what mattered
    QStackedWidget* beside_; // comparison, charts
    QStackedWidget* whole_;  // those, the report
    widgets::SegmentedControl* modes_;
    QComboBox* group_;
    QPushButton* views_button_;
    QPushButton* add_to_report_;
    QPushButton* open_folder_;
    RunsTable* table_;
    QPushButton* open_;
    QPushButton* checkpoints_;
    QPushButton* tag_;
    QPushButton* notes_;
    QPushButton* csv_;
    QPushButton* archive_;
    QPushButton* trash_;
    ComparePanel* compare_;
    WallPanel* wall_ = nullptr;
    MatterPanel* matter_ = nullptr;
    BrushPanel* brush_ = nullptr;
    ReportPanel* report_ = nullptr;
};

} // namespace weft::ui
