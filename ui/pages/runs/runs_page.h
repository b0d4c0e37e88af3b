// SPDX-License-Identifier: GPL-3.0-or-later
// Runs: every run on disk in one table, to filter, sort, tag, note, archive and throw away; below
// it the chosen ones beside each other. Choosing a run here changes nothing of what Start does.
#pragma once

#include "ui/bridge/run/run_curves.h"
#include "ui/bridge/run/run_trash.h"
#include "ui/models/run_table_filter.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/page.h"

#include <QTimer>

#include <functional>

class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace weft::widgets {
class EmptyState;
class SectionHeader;
class TextLabel;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class ComparePanel;
class RunsTable;
class UndoNote;

class RunsPage : public Page {
    Q_OBJECT
public:
    RunsPage(Studio& studio, Actions& actions);
    ~RunsPage() override;

    void activated() override;
    /// The chosen runs, in the order of the table.
    std::vector<train::RunSummary> selectedRuns() const;

private:
    QWidget* createHeader(Actions& actions);
    QWidget* createTable();
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
    void annotate(const std::vector<train::RunSummary>& runs,
                  const std::function<void(train::Annotations&)>& edit, const QString& done);
    struct Annotated {
        std::filesystem::path run;
        train::AnnotationChange change;
    };
    /// Says what was done to them, with the way back.
    void offerUndo(std::vector<Annotated> changed, const QString& done);

    Studio& studio_;
    RunCurves curves_;
    RunTableModel* model_;
    RunTableFilter* filtered_;
    UndoNote* undo_;
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
    QPushButton* clear_filter_;
    QSplitter* splitter_;
    RunsTable* table_;
    QPushButton* open_;
    QPushButton* checkpoints_;
    QPushButton* tag_;
    QPushButton* archive_;
    QPushButton* trash_;
    ComparePanel* compare_;
};

} // namespace weft::ui
