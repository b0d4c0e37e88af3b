// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the table of groups.
#include "ui/pages/recipe/group_table.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "ui/forms/problem_lines.h"
#include "ui/forms/table_form.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/side_scroll.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

enum GroupTableColumn {
    GroupTableGripColumn,
    GroupTableMatchColumn,
    GroupTableTensorsColumn,
    GroupTableParametersColumn,
    GroupTableDecayColumn,
    GroupTableRateColumn,
    GroupTableTypeColumn,
    GroupTableButtonsColumn
};
constexpr int kGroupTableButton = 20;
constexpr int kMatchWidth = 64;          // at least
constexpr int kGroupTableCharacters = 7; // of its numbers

/// Six dots: something to take hold of.
class GripMark : public QWidget {
public:
    GripMark() {
        setFixedSize(14, widgets::size::kControlHeight);
        setCursor(Qt::OpenHandCursor);
        setToolTip(GroupTable::tr("Drag to another place: the first match wins"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(widgets::Theme::current().color(Role::Faint));
        for (int i = 0; i < 6; ++i) {
            painter.drawEllipse(QPointF(4 + 5 * (i % 2), height() / 2.0 - 5 + 5 * (i / 2)), 1.2,
                                1.2);
        }
    }
};

TextLabel* monoLabel(const QString& text, Role role = Role::Text) {
    auto* label = new TextLabel(text, TextStyle::Mono, role);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

/// The line of a group in the grid; its other settings stand on the next one.
int lineOf(std::size_t group) {
    return 2 * static_cast<int>(group) + 1;
}

} // namespace

void GroupTable::rebuild(std::size_t count) {
    built_ = true;
    rows_.clear();
    open_.clear();
    auto* fresh = new QWidget;
    grid_ = new QGridLayout(fresh);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(widgets::space::kControl);
    grid_->setVerticalSpacing(widgets::space::kTight);
    grid_->setColumnStretch(GroupTableMatchColumn, 1);
    const auto head = [&](int column, const QString& text, Qt::Alignment alignment) {
        auto* label = new TextLabel(text, TextStyle::Caption, Role::Muted);
        label->setAlignment(alignment);
        grid_->addWidget(label, 0, column);
    };
    head(GroupTableMatchColumn, tr("groups, first match wins"), Qt::AlignLeft);
    head(GroupTableTensorsColumn, tr("tensors"), Qt::AlignRight);
    head(GroupTableParametersColumn, tr("parameters"), Qt::AlignRight);
    head(GroupTableDecayColumn, "weight_decay", Qt::AlignLeft);
    head(GroupTableRateColumn, "learning_rate", Qt::AlignLeft);
    head(GroupTableTypeColumn, "type", Qt::AlignLeft);
    for (std::size_t i = 0; i < count; ++i) {
        addRow(i);
    }
    addRest(count);
    scroll_->setContent(fresh);
    place_ = fresh;
}

void GroupTable::addRow(std::size_t index) {
    const int line = lineOf(index);
    Row row;
    row.grip = new GripMark;
    row.grip->setObjectName("groupGrip" + QString::number(index));
    row.grip->installEventFilter(this);
    grid_->addWidget(row.grip, line, GroupTableGripColumn);
    addEditors(row, config::pointer_to(kPointer, index), line);
    row.tensors = monoLabel({});
    row.tensors->setObjectName("groupTensors" + QString::number(index));
    row.parameters = monoLabel({});
    grid_->addWidget(row.tensors, line, GroupTableTensorsColumn);
    grid_->addWidget(row.parameters, line, GroupTableParametersColumn);
    addButtons(row, index, line);
    addOthers(row, index, line + 1);
    rows_.push_back(std::move(row));
}

void GroupTable::addEditors(Row& row, const std::string& at, int line) {
    constexpr GroupTableColumn kPlaces[] = {GroupTableMatchColumn, GroupTableDecayColumn,
                                            GroupTableRateColumn, GroupTableTypeColumn};
    const config::FieldTable& fields = source_.field(kPointer)->item.front().fields;
    for (std::size_t i = 0; i < std::size(kPlaces); ++i) {
        const config::Field* field = config::find_field(fields, kOwnColumns[i]);
        if (field == nullptr) {
            continue; // no optimizer of this version has it
        }
        FieldEditor* editor = createEditor(source_, *field, config::pointer_to(at, kOwnColumns[i]));
        editor->setToolTip(helpText(*field));
        if (auto* number = editor->findChild<NumberInput*>()) {
            number->setCharacters(kGroupTableCharacters);
        }
        if (kPlaces[i] == GroupTableMatchColumn) {
            editor->findChild<QLineEdit*>()->setMinimumWidth(kMatchWidth);
        }
        connect(editor, &FieldEditor::typing, problems_, &ProblemLines::hold);
        connect(editor, &FieldEditor::settled, problems_, &ProblemLines::release);
        grid_->addWidget(editor, line, kPlaces[i]);
        row.editors.push_back(editor);
    }
}

void GroupTable::addOthers(Row& row, std::size_t index, int line) {
    row.others = new TableForm(source_, source_.field(kPointer)->item.front().fields,
                               config::pointer_to(kPointer, index),
                               {std::begin(kOwnColumns), std::end(kOwnColumns)});
    row.others->setObjectName("groupOthers" + QString::number(index));
    grid_->addWidget(row.others, line, GroupTableMatchColumn, 1,
                     GroupTableButtonsColumn - GroupTableMatchColumn);
}

void GroupTable::addButtons(Row& row, std::size_t index, int line) {
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(0);
    const QString number = QString::number(index);
    row.more = widgets::iconButton("more", "groupMore" + number,
                                   tr("Other settings of group %1").arg(index));
    connect(row.more, &QPushButton::clicked, this, [this, index] {
        if (open_.erase(index) == 0) {
            open_.insert(index);
        }
        refresh();
    });
    QPushButton* up =
        widgets::iconButton("chevron-up", "groupUp" + number, tr("Move group %1 up").arg(index));
    up->setEnabled(index > 0);
    connect(up, &QPushButton::clicked, this, [this, index] { move(index, index - 1); });
    QPushButton* remove =
        widgets::iconButton("close", "groupRemove" + number, tr("Remove group %1").arg(index));
    connect(remove, &QPushButton::clicked, this, [this, index] { this->remove(index); });
    for (QPushButton* button : {row.more, up, remove}) {
        button->setFixedWidth(kGroupTableButton);
        buttons->addWidget(button);
    }
    grid_->addLayout(buttons, line, GroupTableButtonsColumn);
}

void GroupTable::addRest(std::size_t row) {
    const int line = lineOf(row);
    Row rest;
    grid_->addWidget(new TextLabel(tr("everything else"), TextStyle::Body, Role::Muted), line,
                     GroupTableMatchColumn);
    rest.tensors = monoLabel({});
    rest.tensors->setObjectName("restTensors");
    rest.parameters = monoLabel({});
    for (TextLabel** label : {&rest_decay_, &rest_rate_, &rest_type_}) {
        *label = monoLabel({}, Role::Muted);
        (*label)->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        (*label)->setIndent(widgets::space::kControl);
    }
    grid_->addWidget(rest.tensors, line, GroupTableTensorsColumn);
    grid_->addWidget(rest.parameters, line, GroupTableParametersColumn);
    grid_->addWidget(rest_decay_, line, GroupTableDecayColumn);
    grid_->addWidget(rest_rate_, line, GroupTableRateColumn);
    grid_->addWidget(rest_type_, line, GroupTableTypeColumn);
    grid_->setRowMinimumHeight(line, widgets::size::kRowHeight);
    rows_.push_back(std::move(rest));
}

} // namespace weft::ui
