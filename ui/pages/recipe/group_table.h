// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer's groups: pattern, what it matches now, and the settings that differ. The first
// match wins, so rows are moved: by their handle, or by their arrow buttons.
#pragma once

#include "ui/bridge/draft/group_counts.h"
#include "ui/bridge/draft/run_outlook.h"
#include "ui/forms/field_editor.h"

#include <set>

class QGridLayout;
class QPushButton;

namespace weft::widgets {
class SideScroll;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ProblemLines;
class TableForm;

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
        QPushButton* more = nullptr;
        TableForm* others = nullptr; // settings that have no column
    };

    static constexpr const char* kPointer = "/optimizer/groups";
    /// Settings with a column of their own.
    static constexpr const char* kOwnColumns[] = {"match", "weight_decay", "learning_rate", "type"};

    static bool hasColumn(const std::string& name);
    config::Json groups() const;
    void refresh();
    void refreshCounts();
    void refreshProblems();
    void refreshOthers();
    config::Json typeOf(const config::Json& group) const;
    void hideForeign(const TableForm& others, const config::Json& type);
    void refreshInherited();
    void rebuild(std::size_t count);
    void addRow(std::size_t index);
    void addEditors(Row& row, const std::string& at, int line);
    void addOthers(Row& row, std::size_t index, int line);
    void addButtons(Row& row, std::size_t index, int line);
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
    std::vector<Row> rows_;      // the last: everything else
    std::set<std::size_t> open_; // groups whose other settings were asked for
    bool built_ = false;
    widgets::TextLabel* rest_decay_ = nullptr;
    widgets::TextLabel* rest_rate_ = nullptr;
    widgets::TextLabel* rest_type_ = nullptr;
    ProblemLines* problems_;
    ProblemLines* warning_;
    QPushButton* exempt_;
    GroupCounts counts_;
    int dragged_ = -1;
};

} // namespace weft::ui
