// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/table_form.h"

#include "core/base/check.h"
#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {

TableForm::TableForm(FormSource& source, const config::FieldTable& table, std::string pointer,
                     std::vector<std::string> skip, const std::vector<std::string>& guests,
                     QWidget* parent)
    : QWidget(parent), source_(source), table_(table), pointer_(std::move(pointer)),
      unknown_(new ProblemLines) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    connect(unknown_, &ProblemLines::removeRequested, this,
            [this](const QString& wrong) { source_.reset(wrong.toStdString()); });
    int experts = 0;
    const auto add = [&](bool expert) {
        for (const config::Field& field : table_) {
            const bool skipped = std::find(skip.begin(), skip.end(), field.name) != skip.end();
            if (!skipped && field.expert == expert) {
                addField(field, config::pointer_to(pointer_, field.name), expert);
                experts += expert ? 1 : 0;
            }
        }
    };
    add(false);
    for (const std::string& guest : guests) {
        const config::Field* field = source.field(guest);
        WEFT_CHECK(field != nullptr, "the table has the fields that pages name");
        addField(*field, guest, false);
    }
    column->addWidget(unknown_);
    if (std::any_of(table_.begin(), table_.end(), [](const auto& field) { return field.expert; })) {
        more_ = new QPushButton;
        more_->setObjectName("experts:" + toQString(pointer_));
        widgets::setButtonKind(more_, widgets::ButtonKind::Flat);
        widgets::setCompact(more_);
        column->addWidget(more_, 0, Qt::AlignLeft);
        connect(more_, &QPushButton::clicked, this, [this] { setExpert(!expert_); });
    }
    add(true);
    if (more_ != nullptr) {
        more_->setText(tr("%n advanced field(s)", nullptr, experts));
        more_->setAccessibleName(more_->text());
    }
    setExpert(false);
}

void TableForm::addField(const config::Field& field, const std::string& at, bool expert) {
    if (isSmall(field)) {
        if (parts_.empty() || parts_.back().group == nullptr || parts_.back().expert != expert) {
            parts_.push_back({new FieldGroup(source_), nullptr, nullptr, expert});
            layout()->addWidget(parts_.back().group);
        }
        parts_.back().group->add(field, at);
        return;
    }
    Part part{nullptr, new FieldBox(source_, field, at), new ProblemLines, expert};
    layout()->addWidget(part.box);
    layout()->addWidget(part.lines);
    parts_.push_back(part);
}

void TableForm::setExpert(bool expert) {
    expert_ = expert;
    if (more_ != nullptr) {
        more_->setIcon(widgets::icon(expert ? "chevron-up" : "chevron-down"));
    }
    refresh();
}

void TableForm::refresh() {
    const auto seen = [&](const FieldBox* box, bool expert) {
        return !expert || expert_ || box->isGiven() || !box->problems().empty();
    };
    for (const Part& part : parts_) {
        if (part.group != nullptr) {
            part.group->refresh();
            for (FieldBox* box : part.group->boxes()) {
                box->setVisible(seen(box, part.expert));
            }
            part.group->setVisible(
                std::any_of(part.group->boxes().begin(), part.group->boxes().end(),
                            [&](const FieldBox* box) { return seen(box, part.expert); }));
            continue;
        }
        part.box->refresh();
        part.box->setVisible(seen(part.box, part.expert));
        part.lines->setLines(part.box->problems());
    }
    unknown_->setLines(unknownFields());
}

std::vector<ProblemLine> TableForm::unknownFields() const {
    std::vector<ProblemLine> out;
    for (const config::Diagnostic& one : source_.problems(pointer_, true)) {
        const std::vector<std::string> parts = pointerParts(one.pointer);
        const std::size_t depth = pointerParts(pointer_).size();
        if (parts.size() <= depth) {
            continue; // of the table as a whole: the form around says it
        }
        const bool known = parts[depth] == "type" ||
                           std::any_of(table_.begin(), table_.end(), [&](const auto& field) {
                               return field.name == parts[depth];
                           });
        if (!known) {
            ProblemLine line = problemLine(one);
            line.pointer = toQString(one.pointer);
            out.push_back(line);
        }
    }
    return out;
}

} // namespace weft::ui
