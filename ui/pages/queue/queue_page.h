// SPDX-License-Identifier: GPL-3.0-or-later
// Queue: runs that wait for their turn, in order, and sweeps with their trials. What trains them is
// a process of its own, which outlives the studio.
#pragma once

#include "ui/bridge/run/queue_index.h"
#include "ui/pages/page.h"

class QSplitter;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class EmptyState;
class SectionHeader;
} // namespace weft::widgets

namespace weft::ui {

class QueueModel;
class SweepPanel;
class UndoNote;

class QueuePage : public Page {
    Q_OBJECT
public:
    QueuePage(Studio& studio, Actions& actions);

    void activated() override;
    const QueueIndex& queue() const { return index_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createEntries();
    QWidget* createSweep();
    QPushButton* addTableButton(const char* name, const QString& text, const QString& tooltip,
                                void (QueuePage::*slot)());
    void refresh();
    void updateButtons();
    void updateDraft();
    void addDraft();
    void addSweep();
    void runOrStop();
    void showRun();
    void holdOrRelease();
    void moveUp();
    void moveDown();
    void stopEntries();
    void removeEntries();
    void stopSweep(const QString& name);
    void removeSweep(const QString& name);
    std::vector<const queue::Entry*> chosen() const;
    void choose(const std::vector<std::int64_t>& ids);
    /// Does the same to all that are chosen.
    void changeChosen(const std::function<void(queue::Book&, std::int64_t)>& edit);

    Studio& studio_;
    QueueIndex index_;
    QueueModel* model_;
    UndoNote* undo_;
    bool choosing_ = false; // the selection is put back, not chosen
    widgets::SectionHeader* header_;
    widgets::SectionHeader* table_header_;
    QPushButton* add_;
    QPushButton* add_first_;
    QPushButton* add_sweep_;
    QPushButton* add_sweep_first_;
    QPushButton* run_;
    QPushButton* show_;
    QPushButton* hold_;
    QPushButton* up_;
    QPushButton* down_;
    QPushButton* stop_;
    QPushButton* remove_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QSplitter* splitter_;
    QTableView* table_;
    SweepPanel* sweep_;
};

} // namespace weft::ui
