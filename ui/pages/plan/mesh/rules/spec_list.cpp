// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/spec_list.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kSpecListIconWidth = 24;

} // namespace

SpecRow::SpecRow(std::optional<SpecEntry> entry, SpecWords words, QWidget* parent)
    : QWidget(parent), known_(std::move(entry)), words_(std::move(words)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kTight);
    const auto field = [&](const QString& name, const QString& example, const QString& text,
                           int stretch) {
        auto* made = new QLineEdit(text);
        made->setAccessibleName(name);
        made->setPlaceholderText(example);
        widgets::setCompact(made);
        widgets::setTextStyle(made, TextStyle::MonoSmall);
        connect(made, &QLineEdit::textEdited, this, &SpecRow::typedChanged);
        connect(made, &QLineEdit::editingFinished, this, &SpecRow::finished);
        row->addWidget(made, stretch);
        return made;
    };
    pattern_ = field(tr("Pattern of names"), QStringLiteral("blocks.*.mlp.up.weight"),
                     known_ ? toQString(known_->pattern) : QString(), 3);
    spec_ = field(tr("How it is split"), words_.example(),
                  known_ ? words_.shown(known_->spec) : QString(), 2);
    spec_->setToolTip(tr("P('data', None) or [Shard(0), Replicate()]"));
    remove_ = widgets::iconButton("close", {}, tr("Remove the override"));
    remove_->setToolTip(tr("Remove the override: back to the rule"));
    remove_->setFixedWidth(kSpecListIconWidth);
    connect(remove_, &QPushButton::clicked, this, &SpecRow::removeRequested);
    row->addWidget(remove_);
    column->addLayout(row);
    verdict_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    column->addWidget(verdict_);
}

void SpecRow::setNumber(int number) {
    const QString end = QString::number(number);
    pattern_->setObjectName("specPattern_" + end);
    spec_->setObjectName("specText_" + end);
    verdict_->setObjectName("specWords_" + end);
    remove_->setObjectName("specRemove_" + end);
}

SpecEntry SpecRow::typed() const {
    return {pattern_->text().trimmed().toStdString(),
            words_.kept(spec_->text().trimmed().toStdString())};
}

bool SpecRow::isDirty() const {
    return !known_ || typed().pattern != known_->pattern ||
           (typed().spec != known_->spec && spec_->text() != words_.shown(known_->spec));
}

void SpecRow::setKnown(std::optional<SpecEntry> entry) {
    known_ = std::move(entry);
    if (known_ && typed() == *known_) {
        spec_->setText(words_.shown(known_->spec));
    }
}

void SpecRow::setWords(SpecWords words) {
    const bool dirty = isDirty();
    words_ = std::move(words);
    spec_->setPlaceholderText(words_.example());
    if (!dirty) {
        spec_->setText(words_.shown(known_->spec));
    }
}

void SpecRow::focusPattern() {
    pattern_->setFocus(Qt::OtherFocusReason);
}

void SpecRow::check(const compile::RunConfig& config, const plan::ExecutionPlan& plan) {
    const SpecEntry entry = typed();
    const bool empty = entry.pattern.empty() && entry.spec.empty();
    const QString wrong = empty ? QString() : specProblem(entry, config, plan);
    right_ = wrong.isEmpty() && !empty;
    const int matches = specMatches(entry.pattern, plan);
    verdict_->setText(!wrong.isEmpty() ? wrong
                      : empty          ? tr("A name, * for anything, and a spec")
                      : matches > 0    ? tr("matches %n tensor(s)", nullptr, matches)
                                       : tr("matches no tensor of this model"));
    verdict_->setRole(!wrong.isEmpty()       ? Role::Error
                      : matches > 0 || empty ? Role::Muted
                                             : Role::Warning);
    widgets::setInvalid(spec_, !wrong.isEmpty());
}

SpecList::SpecList(QWidget* parent) : QWidget(parent) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    outer->addWidget(panel);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Overrides"));
    header->setSubtitle(tr("before any rule; the first match counts"));
    add_ = new QPushButton(widgets::icon("plus"), tr("override"));
    add_->setObjectName("specAdd");
    add_->setAccessibleName(tr("Add an override"));
    add_->setEnabled(false); // until there is a mesh to split over
    widgets::setCompact(add_);
    connect(add_, &QPushButton::clicked, this, [this] {
        SpecRow* row = addRow(std::nullopt);
        rows_.push_back(row);
        arrange();
        check(row);
        row->focusPattern();
    });
    header->addControl(add_);
    column->addWidget(header);
    auto* holder = new QWidget;
    column_ = new QVBoxLayout(holder);
    column_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                                widgets::space::kGroup, widgets::space::kTight);
    column_->setSpacing(widgets::space::kTight);
    nothing_ = new widgets::TextLabel(
        tr("None. Drop an axis onto a dimension of a tensor, or name tensors here."),
        TextStyle::Caption, Role::Muted);
    nothing_->setWordWrap(true);
    column_->addWidget(nothing_);
    column_->addStretch(1);
    column->addWidget(widgets::verticalScroll(holder), 1);
}

SpecRow* SpecList::addRow(std::optional<SpecEntry> entry) {
    auto* row = new SpecRow(std::move(entry), SpecWords(*config_, dialect_));
    connect(row, &SpecRow::typedChanged, this, [this, row] { check(row); });
    connect(row, &SpecRow::finished, this, [this, row] { finish(row); });
    connect(row, &SpecRow::removeRequested, this, [this, row] { remove(row); });
    return row;
}

void SpecList::show(std::shared_ptr<const compile::RunConfig> config,
                    std::shared_ptr<const PlanDigest> digest) {
    config_ = std::move(config);
    digest_ = std::move(digest);
    add_->setEnabled(true);
    const std::vector<SpecEntry> wanted = specEntries(*config_);
    const SpecWords words(*config_, dialect_);
    std::vector<SpecRow*> old;
    old.swap(rows_);
    const auto take = [&](const auto& fits) -> SpecRow* {
        const auto found = std::ranges::find_if(old, fits);
        SpecRow* out = found == old.end() ? nullptr : *found;
        if (out != nullptr) {
            old.erase(found);
        }
        return out;
    };
    for (const SpecEntry& entry : wanted) {
        SpecRow* row = take([&](const SpecRow* one) { return one->known() == entry; });
        if (row == nullptr) { // typed here and now in the draft
            row = take([&](const SpecRow* one) { return one->typed() == entry; });
        }
        row = row == nullptr ? addRow(entry) : row;
        row->setKnown(entry);
        row->setWords(words);
        rows_.push_back(row);
    }
    for (SpecRow* row : old) {
        if (row->isDirty()) { // what is typed stays, for the draft it is new
            row->setKnown(std::nullopt);
            row->setWords(words);
            rows_.push_back(row);
        } else {
            row->setParent(nullptr);
            row->deleteLater();
        }
    }
    arrange();
    for (SpecRow* row : rows_) {
        check(row);
    }
}

void SpecList::setDialect(sharding::SpecDialect dialect) {
    dialect_ = dialect;
    if (config_) {
        for (SpecRow* row : rows_) {
            row->setWords(SpecWords(*config_, dialect_));
        }
    }
}

void SpecList::arrange() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i]->setNumber(static_cast<int>(i));
        if (column_->indexOf(rows_[i]) != static_cast<int>(i) + 1) {
            column_->insertWidget(static_cast<int>(i) + 1, rows_[i]); // behind the words
        }
    }
    nothing_->setVisible(rows_.empty());
}

void SpecList::check(SpecRow* row) {
    if (digest_) {
        row->check(*config_, *digest_->plan);
    }
}

std::vector<SpecEntry> SpecList::entries() const {
    std::vector<SpecEntry> out;
    for (const SpecRow* row : rows_) {
        if (row->isRight()) {
            out.push_back(row->typed());
        } else if (row->known()) {
            out.push_back(*row->known());
        }
    }
    return out;
}

void SpecList::finish(SpecRow* row) {
    if (!digest_ || !row->isDirty()) {
        return;
    }
    check(row);
    if (row->isRight()) {
        emit adopted(
            {specsAssignment(entries())},
            tr("%1 as %2").arg(toQString(row->typed().pattern), toQString(row->typed().spec)));
    }
}

void SpecList::remove(SpecRow* row) {
    const auto known = row->known();
    std::erase(rows_, row);
    row->setParent(nullptr);
    row->deleteLater();
    arrange();
    if (known) {
        emit adopted({specsAssignment(entries())},
                     tr("no override for %1").arg(toQString(known->pattern)));
    }
}

} // namespace weft::ui
