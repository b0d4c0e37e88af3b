// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/group_table.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/forms/field_box.h"
#include "ui/forms/number_input.h"
#include "ui/forms/number_text.h"
#include "ui/forms/problem_lines.h"
#include "ui/forms/table_form.h"
#include "widgets/controls/side_scroll.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QMouseEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;
using widgets::Role;
using widgets::TextLabel;

constexpr int kMostNames = 3;

/// "layers.0.bias\nlayers.1.bias", and of more their number.
QString tensorNames(const GroupCount& count) {
    QStringList lines;
    for (const std::string& name : count.names) {
        lines.append(toQString(name));
    }
    if (const std::int64_t more = count.tensors - static_cast<std::int64_t>(count.names.size());
        more > 0) {
        lines.append(GroupTable::tr("and %n more", nullptr, static_cast<int>(more)));
    }
    return lines.join('\n');
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

bool GroupTable::hasColumn(const std::string& name) {
    return std::find(std::begin(kOwnColumns), std::end(kOwnColumns), name) != std::end(kOwnColumns);
}

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
    const config::Field* field = source_.field(kPointer);
    if (field == nullptr) {
        return Json::array();
    }
    if (source_.given(kPointer) == nullptr) {
        return field->default_value; // as short as the table has it
    }
    const Json now = source_.value(kPointer, *field);
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
        rest_rate_->setText(numberText(optimizer.at("learning_rate")));
        rest_type_->setText(toQString(optimizer.at("type").get<std::string>()));
    }
    place_->setEnabled(source_.isEditable());
    refreshOthers();
    refreshInherited();
    refreshProblems();
    refreshCounts();
}

/// Open where somebody asked for them, or a group gives one.
void GroupTable::refreshOthers() {
    const Json all = groups();
    for (std::size_t i = 0; i + 1 < rows_.size() && i < all.size(); ++i) {
        bool given = false;
        for (const auto& [name, value] : all[i].items()) {
            given = given || (!value.is_null() && !hasColumn(name));
        }
        rows_[i].others->refresh();
        hideForeign(*rows_[i].others, typeOf(all[i]));
        rows_[i].others->setVisible(given || open_.contains(i));
        rows_[i].more->setEnabled(!given); // what is given is always seen
    }
}

/// Of a group, which inherits that of the optimizer.
Json GroupTable::typeOf(const Json& group) const {
    const config::Field* optimizer = source_.field("/optimizer");
    for (const Json& holder : {group, source_.value("/optimizer", *optimizer)}) {
        if (holder.is_object() && holder.contains("type") && holder.at("type").is_string()) {
            return holder.at("type");
        }
    }
    return optimizer->default_value.at("type");
}

/// Settings of other optimizers than the group's, unless it gives them.
void GroupTable::hideForeign(const TableForm& others, const Json& type) {
    std::set<std::string> known;
    std::set<std::string> own;
    for (const config::RecordType& record : source_.field("/optimizer")->records) {
        for (const config::Field& field : record.fields) {
            known.insert(field.name);
            if (type == record.name) {
                own.insert(field.name);
            }
        }
    }
    for (FieldBox* box : others.findChildren<FieldBox*>()) {
        const Json* given = source_.given(box->pointer());
        const std::string& name = box->field().name;
        if (known.contains(name) && !own.contains(name) && (given == nullptr || given->is_null())) {
            box->hide();
        }
    }
}

/// A setting that a group leaves out is that of the optimizer, and is shown so.
void GroupTable::refreshInherited() {
    if (!source_.draft().isValid()) {
        return;
    }
    const std::vector<Json> counts = groupSettings(source_.draft().config());
    for (std::size_t i = 0; i + 1 < rows_.size() && i + 1 < counts.size(); ++i) {
        std::vector<FieldEditor*> editors = rows_[i].editors;
        for (FieldEditor* other : rows_[i].others->findChildren<FieldEditor*>()) {
            editors.push_back(other);
        }
        for (FieldEditor* editor : editors) {
            const auto inherited = counts[i].find(editor->field().name);
            auto* number = editor->findChild<NumberInput*>();
            auto* choice = editor->findChild<QComboBox*>();
            if (inherited != counts[i].end() && inherited->is_number() && number != nullptr) {
                number->setInherited(*inherited);
            } else if (inherited != counts[i].end() && choice != nullptr) {
                choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
                choice->setItemText(0, tr("as above"));
                // The least size that a box has worked out is that of the text before.
                choice->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
            }
        }
    }
}

void GroupTable::refreshProblems() {
    std::vector<ProblemLine> lines;
    for (const config::Diagnostic& one : source_.problems(kPointer, true)) {
        const std::vector<std::string> place = pointerParts(one.pointer);
        if (place.size() < 4 || hasColumn(place[3])) { // others say it themselves
            lines.push_back(problemLine(one));
        }
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
                                             : tensorNames(count));
        rows_[i].parameters->setToolTip(rows_[i].tensors->toolTip());
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

void GroupTable::add() {
    Json all = groups();
    all.push_back({{"match", "*.bias"}, {"weight_decay", 0.0}});
    source_.set(kPointer, all);
    if (auto* match = findChild<QWidget*>(
            "field:" + toQString(config::pointer_to(kPointer, all.size() - 1)) + "/match")) {
        match->setFocus(Qt::TabFocusReason); // all of it is chosen: typing replaces it
    }
}

void GroupTable::remove(std::size_t index) {
    Json all = groups();
    all.erase(index);
    source_.set(kPointer, all);
}

void GroupTable::move(std::size_t from, std::size_t to) {
    Json all = groups();
    if (from >= all.size() || to >= all.size() || from == to) {
        return;
    }
    open_.clear(); // they stand at other places now
    const Json moved = all[from];
    all.erase(from);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(to), moved);
    source_.set(kPointer, all, dragged_ >= 0 ? QStringLiteral("groups") : QString());
}

void GroupTable::exempt() {
    source_.set(kPointer, exemptGroups(source_.draft().config(), counts_));
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
