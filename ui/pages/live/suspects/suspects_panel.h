// SPDX-License-Identifier: GPL-3.0-or-later
// The view Suspects of Train: training samples that teach wrongly, the worst first, what the
// network says of each, and what a person does about it. The decisions are a list that a fork
// takes.
#pragma once

#include "core/train/record/event.h"
#include "ui/bridge/audit/run_audit.h"
#include "ui/bridge/audit/suspect_looks.h"
#include "ui/pages/live/suspects/suspect_model.h"

#include <QWidget>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class EmptyState;
class ImageGrid;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class SuspectsPanel : public QWidget {
    Q_OBJECT
public:
    SuspectsPanel(RunModel& run, const std::filesystem::path& worker, QWidget* parent = nullptr);

    /// Nothing can be forked while something trains.
    void setTraining(bool training);

signals:
    void forkRequested(const weft::train::WayOn& way);
    void troubled(const QString& problem);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* createHead();
    QWidget* createDetail();
    void update();
    void showRows();
    void showChosen();
    void updateButtons();
    void fit();
    void readPictures();
    const SuspectRow* chosen() const;
    /// About the sample that is chosen; the next one is then.
    void decide(Decision decision);
    void exclude();
    void relabel();
    void keep();
    void undo();

    RunModel& run_;
    RunAudit audit_;
    SuspectLooks looks_;
    SuspectModel model_;
    std::shared_ptr<const train::Audit> shown_; // whose rows these are
    bool training_ = false;
    QStackedWidget* sheets_;
    widgets::EmptyState* empty_;
    QPushButton* begin_;
    widgets::SegmentedControl* filter_;
    widgets::TextLabel* summary_;
    QPushButton* again_;
    QPushButton* fork_;
    QTableView* table_;
    widgets::ImageGrid* pictures_;
    widgets::TextLabel* words_;
    widgets::TextLabel* why_;
    QPushButton* exclude_;
    QComboBox* classes_;
    QPushButton* relabel_;
    QPushButton* keep_;
    QPushButton* undo_;
};

} // namespace weft::ui
