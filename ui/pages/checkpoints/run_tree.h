// SPDX-License-Identifier: GPL-3.0-or-later
// Where checkpoints lie: the folder of runs, then what the user opened elsewhere, files of weights
// among it.
#pragma once

#include "core/train/record/run_summary.h"

#include <QTreeWidget>

namespace weft::ui {

class RunIndex;

class RunTree : public QTreeWidget {
    Q_OBJECT
public:
    explicit RunTree(RunIndex& index, QWidget* parent = nullptr);

    /// Takes the list anew; what is selected stays, without a signal.
    void fill();
    /// Selects without a signal.
    void select(const std::filesystem::path& path);
    /// Only what has this in its name is shown.
    void setFilter(const QString& text);

signals:
    void runChosen(const std::filesystem::path& folder);
    void weightsChosen(const std::filesystem::path& file);
    /// A folder or file that the user had opened was closed.
    void closed(const QString& text);

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    QTreeWidgetItem* addGroup(const QString& title, const std::filesystem::path& folder);
    void addRun(QTreeWidgetItem& group, const train::RunSummary& run);
    void applyFilter();

    RunIndex& index_;
    std::filesystem::path selected_;
    QString filter_;
};

} // namespace weft::ui
