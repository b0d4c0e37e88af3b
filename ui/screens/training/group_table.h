// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer's groups: pattern, what it matches now, and the settings that differ. The first
// match wins, so rows are moved: by their handle, or by their arrow buttons.
#pragma once

#include "ui/bridge/group_counts.h"
#include "ui/bridge/run_outlook.h"
#include "ui/forms/field_editor.h"

class QGridLayout;
class QPushButton;

namespace weft::widgets {
class SideScroll;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ProblemLines;

class GroupTable : public QWidget {
    Q_OBJECT
public:
    GroupTable(FormSource& source, RunOutlook& outlook, QWidget* parent = nullptr);

    /// Puts the group at `from` to the place `to`.
    void move(std::size_t from, std::size_t to);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Row {
        QWidget* grip = nullptr;
        widgets::TextLabel* tensors = nullptr;
        widgets::TextLabel* parameters = nullptr;
        std::vector<FieldEditor*> editors;
    };

    config::Json groups() const;
    void refresh();
    void refreshCounts();
    void refreshProblems();
    void rebuild(std::size_t count);
    void addRow(std::size_t index);
    void addRest(std::size_t row);
    void add();
    void remove(std::size_t index);
    void exempt();
    std::size_t rowAt(int y) const;

    FormSource& source_;
    RunOutlook& outlook_;
    widgets::SideScroll* scroll_;
    QWidget* place_ = nullptr; // the rows
    QGridLayout* grid_ = nullptr;
    std::vector<Row> rows_; // the last: everything else
    bool built_ = false;
    widgets::TextLabel* rest_decay_ = nullptr;
    widgets::TextLabel* rest_type_ = nullptr;
    ProblemLines* problems_;
    ProblemLines* warning_;
    QPushButton* exempt_;
    GroupCounts counts_;
    int dragged_ = -1;
};

} // namespace weft::ui
