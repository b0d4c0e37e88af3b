// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/training/group_table.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/forms/field_box.h"
#include "ui/forms/number_input.h"
#include "ui/forms/number_text.h"
#include "ui/forms/problem_lines.h"
#include "widgets/icon.h"
#include "widgets/painting.h"
#include "widgets/side_scroll.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;
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
    GroupTableUpColumn,
    GroupTableRemoveColumn
};
constexpr const char* kGroupTablePointer = "/optimizer/groups";
constexpr int kGroupTableButton = 20;
constexpr int kMostNames = 3;
constexpr int kMatchWidth = 80;          // at least
constexpr int kGroupTableCharacters = 5; // of its numbers

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

QPushButton* groupButton(const char* icon, const QString& id, const QString& name) {
    auto* button = new QPushButton(widgets::icon(icon), {});
    button->setObjectName(id);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setFixedWidth(kGroupTableButton);
    widgets::setButtonKind(button, widgets::ButtonKind::Flat);
    widgets::setCompact(button);
    return button;
}

/// "wte.weight, wpe.weight", and of more their number.
QString some(const std::vector<std::string>& patterns) {
    QStringList out;
    for (const std::string& one : patterns) {
        if (out.size() == kMostNames) {
            out.append(QStringLiteral("…"));
            break;
        }
        out.append(toQString(one));
    }
    return out.join(QStringLiteral(", "));
}

} // namespace

GroupTable::GroupTable(FormSource& source, RunOutlook& outlook, QWidget* parent)
    : QWidget(parent), source_(source), outlook_(outlook), scroll_(new widgets::SideScroll),
      problems_(new ProblemLines), warning_(new ProblemLines),
      exempt_(new QPushButton(tr("Exempt them"))) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(scroll_);
    column->addWidget(problems_);
    auto* foot = new QHBoxLayout;
    foot->setSpacing(widgets::space::kControl);
    warning_->setObjectName("decayWarning");
    foot->addWidget(warning_, 1);
    foot->addStretch();
    exempt_->setObjectName("exemptGroups");
    exempt_->setToolTip(tr("Adds groups without weight decay for them"));
    widgets::setCompact(exempt_);
    connect(exempt_, &QPushButton::clicked, this, &GroupTable::exempt);
    foot->addWidget(exempt_, 0, Qt::AlignTop);
    auto* add = new QPushButton(widgets::icon("plus"), tr("Add group"));
    add->setObjectName("addGroup");
    widgets::setCompact(add);
    connect(add, &QPushButton::clicked, this, &GroupTable::add);
    foot->addWidget(add, 0, Qt::AlignTop);
    column->addLayout(foot);
    connect(&source_, &FormSource::changed, this, &GroupTable::refresh);
    connect(&outlook_, &RunOutlook::changed, this, &GroupTable::refreshCounts);
    refresh();
}

Json GroupTable::groups() const {
    const config::Field* field = source_.field(kGroupTablePointer);
    if (field == nullptr) {
        return Json::array();
    }
    if (source_.given(kGroupTablePointer) == nullptr) {
        return field->default_value; // as short as the table has it
    }
    const Json now = source_.value(kGroupTablePointer, *field);
    return now.is_array() ? now : Json::array();
}

void GroupTable::refresh() {
    const std::size_t count = groups().size();
    if (!built_ || count + 1 != rows_.size()) {
        rebuild(count);
    }
    for (const Row& row : rows_) {
        for (FieldEditor* editor : row.editors) {
            editor->refresh();
            editor->setInvalid(!source_.problems(editor->pointer(), true).empty());
        }
    }
    if (source_.draft().isValid()) {
        const Json& optimizer = source_.draft().config().section("optimizer");
        const auto decay = optimizer.find("weight_decay");
        rest_decay_->setText(decay == optimizer.end() ? QString("–") : numberText(*decay));
        rest_type_->setText(toQString(optimizer.at("type").get<std::string>()));
    }
    place_->setEnabled(source_.isEditable());
    refreshProblems();
    refreshCounts();
}

void GroupTable::refreshProblems() {
    std::vector<ProblemLine> lines;
    for (const config::Diagnostic& one : source_.problems(kGroupTablePointer, true)) {
        lines.push_back(problemLine(one));
    }
    problems_->setLines(lines);
}

void GroupTable::refreshCounts() {
    const auto digest = outlook_.digest();
    const bool known = digest && source_.draft().isValid();
    counts_ = known ? countGroups(source_.draft().config(), *digest->plan) : GroupCounts{};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const bool has = i < counts_.groups.size();
        const GroupCount count = has ? counts_.groups[i] : GroupCount{};
        rows_[i].tensors->setText(has ? formatCount(count.tensors) : QString("–"));
        rows_[i].parameters->setText(has ? formatCount(count.parameters) : QString("–"));
        const bool nothing = has && count.tensors == 0 && i + 1 < rows_.size();
        rows_[i].tensors->setRole(nothing ? Role::Warning : Role::Text);
        rows_[i].tensors->setToolTip(nothing ? tr("No parameter that an earlier group left matches")
                                             : QString());
    }
    std::vector<ProblemLine> lines;
    if (counts_.warns()) {
        std::vector<std::string> names = patternsOf(counts_.decayed_embeddings);
        for (const std::string& one : patternsOf(counts_.decayed_vectors)) {
            names.push_back(one);
        }
        const QString what = counts_.decayed_embeddings.empty() ? tr("biases and norms")
                             : counts_.decayed_vectors.empty()  ? tr("embeddings")
                                                               : tr("embeddings, biases and norms");
        lines.push_back({false,
                         tr("Decay %1 also reaches %2; most recipes exempt %3.")
                             .arg(numberText(counts_.decay), some(names), what),
                         QString()});
    }
    warning_->setLines(lines);
    exempt_->setVisible(!lines.empty());
}

void GroupTable::rebuild(std::size_t count) {
    built_ = true;
    rows_.clear();
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
    const int line = static_cast<int>(index) + 1;
    const std::string at = config::pointer_to(kGroupTablePointer, index);
    Row row;
    row.grip = new GripMark;
    row.grip->setObjectName("groupGrip" + QString::number(index));
    row.grip->installEventFilter(this);
    grid_->addWidget(row.grip, line, GroupTableGripColumn);
    for (const auto& [column, name] : {std::pair(GroupTableMatchColumn, "match"),
                                       std::pair(GroupTableDecayColumn, "weight_decay"),
                                       std::pair(GroupTableRateColumn, "learning_rate"),
                                       std::pair(GroupTableTypeColumn, "type")}) {
        const std::string pointer = config::pointer_to(at, name);
        const config::Field* field =
            source_.field(kGroupTablePointer)->item.front().type == config::FieldType::object
                ? config::find_field(source_.field(kGroupTablePointer)->item.front().fields, name)
                : nullptr;
        if (field == nullptr) {
            continue; // no optimizer of this version has it
        }
        FieldEditor* editor = createEditor(source_, *field, pointer);
        editor->setToolTip(toQString(field->help));
        if (auto* number = editor->findChild<NumberInput*>()) {
            number->setCharacters(kGroupTableCharacters);
        }
        if (column == GroupTableMatchColumn) {
            editor->findChild<QLineEdit*>()->setMinimumWidth(kMatchWidth);
        }
        connect(editor, &FieldEditor::typing, problems_, &ProblemLines::hold);
        connect(editor, &FieldEditor::settled, problems_, &ProblemLines::release);
        grid_->addWidget(editor, line, column);
        row.editors.push_back(editor);
    }
    row.tensors = monoLabel({});
    row.parameters = monoLabel({});
    grid_->addWidget(row.tensors, line, GroupTableTensorsColumn);
    grid_->addWidget(row.parameters, line, GroupTableParametersColumn);
    if (index > 0) {
        auto* up = groupButton("chevron-up", "groupUp" + QString::number(index),
                               tr("Move group %1 up").arg(index));
        connect(up, &QPushButton::clicked, this, [this, index] { move(index, index - 1); });
        grid_->addWidget(up, line, GroupTableUpColumn);
    }
    auto* remove = groupButton("close", "groupRemove" + QString::number(index),
                               tr("Remove group %1").arg(index));
    connect(remove, &QPushButton::clicked, this, [this, index] { this->remove(index); });
    grid_->addWidget(remove, line, GroupTableRemoveColumn);
    rows_.push_back(std::move(row));
}

void GroupTable::addRest(std::size_t row) {
    const int line = static_cast<int>(row) + 1;
    Row rest;
    grid_->addWidget(new TextLabel(tr("everything else"), TextStyle::Body, Role::Muted), line,
                     GroupTableMatchColumn);
    rest.tensors = monoLabel({});
    rest.tensors->setObjectName("restTensors");
    rest.parameters = monoLabel({});
    rest_decay_ = monoLabel({}, Role::Muted);
    rest_decay_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    rest_type_ = monoLabel({}, Role::Muted);
    rest_type_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    for (TextLabel* label : {rest_decay_, rest_type_}) {
        label->setIndent(widgets::space::kControl);
    }
    grid_->addWidget(rest.tensors, line, GroupTableTensorsColumn);
    grid_->addWidget(rest.parameters, line, GroupTableParametersColumn);
    grid_->addWidget(rest_decay_, line, GroupTableDecayColumn);
    grid_->addWidget(rest_type_, line, GroupTableTypeColumn);
    grid_->setRowMinimumHeight(line, widgets::size::kRowHeight);
    rows_.push_back(std::move(rest));
}

void GroupTable::add() {
    Json all = groups();
    all.push_back({{"match", "*.bias"}, {"weight_decay", 0.0}});
    source_.set(kGroupTablePointer, all);
    if (auto* match = findChild<QWidget*>(
            "field:" + toQString(config::pointer_to(kGroupTablePointer, all.size() - 1)) +
            "/match")) {
        match->setFocus(Qt::TabFocusReason); // all of it is chosen: typing replaces it
    }
}

void GroupTable::remove(std::size_t index) {
    Json all = groups();
    all.erase(index);
    source_.set(kGroupTablePointer, all);
}

void GroupTable::move(std::size_t from, std::size_t to) {
    Json all = groups();
    if (from >= all.size() || to >= all.size() || from == to) {
        return;
    }
    const Json moved = all[from];
    all.erase(from);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(to), moved);
    source_.set(kGroupTablePointer, all, dragged_ >= 0 ? QStringLiteral("groups") : QString());
}

void GroupTable::exempt() {
    source_.set(kGroupTablePointer, exemptGroups(source_.draft().config(), counts_));
}

/// The row of a group at this height of the table.
std::size_t GroupTable::rowAt(int y) const {
    for (std::size_t i = 0; i + 1 < rows_.size(); ++i) {
        if (y < rows_[i].grip->geometry().bottom() + widgets::space::kTight) {
            return i;
        }
    }
    return rows_.size() < 2 ? 0 : rows_.size() - 2;
}

bool GroupTable::eventFilter(QObject* watched, QEvent* event) {
    auto* grip = static_cast<QWidget*>(watched);
    if (event->type() == QEvent::MouseButtonPress) {
        for (std::size_t i = 0; i + 1 < rows_.size(); ++i) {
            dragged_ = rows_[i].grip == grip ? static_cast<int>(i) : dragged_;
        }
        return true;
    }
    if (event->type() == QEvent::MouseMove && dragged_ >= 0) {
        const QPoint at = grip->mapTo(place_, static_cast<QMouseEvent*>(event)->pos());
        const std::size_t target = rowAt(at.y());
        move(static_cast<std::size_t>(dragged_), target); // the rows show it at once
        dragged_ = static_cast<int>(target);
        return true;
    }
    if (event->type() == QEvent::MouseButtonRelease && dragged_ >= 0) {
        dragged_ = -1;
        source_.endMerge();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weft::ui
