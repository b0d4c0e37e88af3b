// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep of the queue: its trials as a table and as parallel coordinates.
#pragma once

#include "ui/bridge/run/queue_index.h"
#include "widgets/controls/card.h"

#include <string>

class QComboBox;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class ParallelView;
class SectionHeader;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class SweepModel;

class SweepPanel : public widgets::Surface {
    Q_OBJECT
public:
    explicit SweepPanel(QWidget* parent = nullptr);

    /// The sweep that is shown stays, where it is still there.
    void setLook(const std::shared_ptr<const QueueLook>& look);
    void showSweep(const QString& name);
    QString sweep() const { return name_; }

signals:
    void runRequested(const std::filesystem::path& run);
    void stopRequested(const QString& sweep);
    void removeRequested(const QString& sweep);
    void exported(bool well, const QString& text);

private:
    QWidget* createHeader();
    void createTable();
    void fillChooser();
    void refresh();
    void showParallel(const queue::SweepTable& table);

    std::shared_ptr<const QueueLook> look_;
    QString name_;
    std::string drawn_; // what the picture shows
    widgets::SectionHeader* header_;
    widgets::TextLabel* summary_;
    QComboBox* chooser_;
    widgets::SegmentedControl* views_;
    QPushButton* export_;
    QPushButton* stop_;
    QPushButton* remove_;
    QStackedWidget* stack_;
    SweepModel* model_;
    QSortFilterProxyModel* sorted_;
    QTableView* table_;
    widgets::ParallelView* parallel_;
};

} // namespace weft::ui
