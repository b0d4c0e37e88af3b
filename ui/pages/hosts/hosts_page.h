// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts: other machines that are reached by ssh, what each lacks, and its runs: begun, followed,
// told, and their checkpoints fetched.
#pragma once

#include "ui/bridge/hosts/host_book.h"
#include "ui/pages/page.h"

#include <map>

class QComboBox;
class QProgressBar;
class QStackedWidget;
class QTableView;
class QTimer;
class QVBoxLayout;

namespace weft::widgets {
class EmptyState;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class HostCard;
class HostChecks;
class HostRunModel;
class UndoNote;

class HostsPage : public Page {
    Q_OBJECT
public:
    HostsPage(Studio& studio, Actions& actions);

    void activated() override;
    const HostBook& book() const { return book_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* createHeader();
    QWidget* createHosts();
    QWidget* createRuns();
    QWidget* createFetching();
    QPushButton* addRunButton(const char* name, const QString& text, const QString& tooltip);
    void refresh();
    void refreshCards();
    void refreshRuns();
    void refreshChecks();
    void refreshFetching();
    void updateButtons();
    void choose(const QString& name);
    void addHost();
    void removeHost();
    void startDraft();
    void startWithData();
    void tell(const std::string& order);
    void fetch();
    const hosts::RemoteRun* chosenRun() const; // null: none

    Studio& studio_;
    HostBook book_;
    HostRunModel* model_;
    UndoNote* undo_;
    QString chosen_;     // host
    std::string wanted_; // a run that is to be selected once it is listed
    std::map<QString, HostCard*> cards_;
    widgets::SectionHeader* header_;
    widgets::SectionHeader* runs_header_;
    QPushButton* add_;
    QPushButton* start_;
    QPushButton* start_with_data_;
    QPushButton* again_;
    QPushButton* remove_;
    QPushButton* follow_;
    QPushButton* pause_;
    QPushButton* save_;
    QPushButton* stop_;
    QComboBox* which_;
    QPushButton* fetch_;
    QStackedWidget* stack_;
    QStackedWidget* run_stack_;
    widgets::EmptyState* message_;
    QVBoxLayout* card_column_;
    QTableView* table_;
    HostChecks* checks_;
    QWidget* fetching_;
    widgets::TextLabel* fetched_of_;
    QProgressBar* progress_;
    QTimer* fetching_look_;
};

} // namespace weft::ui
