// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/list_editor.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

using config::Json;

constexpr int kListEditorButton = 24;

QPushButton* addButton(const FieldEditor& editor, const QString& what) {
    auto* button = new QPushButton(widgets::icon("plus"), what);
    button->setObjectName("add:" + toQString(editor.pointer()));
    button->setProperty("isData", true); // the name of a field
    button->setAccessibleName(FieldEditor::tr("Add to %1").arg(toQString(editor.field().name)));
    widgets::setCompact(button);
    return button;
}

/// The first type that is complete by itself and not there yet; else one that is complete.
std::string newType(const config::Field& item, const Json& others) {
    const auto complete = [](const config::RecordType& type) {
        return std::none_of(type.fields.begin(), type.fields.end(),
                            [](const config::Field& field) { return field.required; });
    };
    const auto unused = [&](const config::RecordType& type) {
        return std::none_of(others.begin(), others.end(), [&](const Json& other) {
            return other.is_object() && other.value("type", Json()) == Json(type.name);
        });
    };
    const auto& types = item.records;
    auto found = std::find_if(types.begin(), types.end(),
                              [&](const auto& type) { return complete(type) && unused(type); });
    found = found == types.end() ? std::find_if(types.begin(), types.end(), complete) : found;
    return (found == types.end() ? types.front() : *found).name;
}

/// What a list starts with that was none.
Json firstItems(const config::Field& list) {
    Json out = list.default_value.is_array() ? list.default_value : Json::array();
    while (out.size() < list.items) {
        out.push_back(newItem(list.item.front(), out));
    }
    return out;
}

} // namespace

Json newItem(const config::Field& item, const Json& others) {
    switch (item.type) {
    case config::FieldType::boolean: return false;
    case config::FieldType::integer:
    case config::FieldType::real: {
        if (others.is_array() && !others.empty() && others.back().is_number()) {
            return others.back();
        }
        const double low = std::isfinite(item.minimum) ? item.minimum : 0.0;
        return item.type == config::FieldType::integer
                   ? Json(static_cast<std::int64_t>(low) + (item.exclusive_minimum ? 1 : 0))
                   : Json(item.exclusive_minimum ? low + 1.0 : low);
    }
    case config::FieldType::choice: {
        const auto unused =
            std::find_if(item.choices.begin(), item.choices.end(), [&](const std::string& choice) {
                return std::find(others.begin(), others.end(), Json(choice)) == others.end();
            });
        return unused == item.choices.end() ? item.choices.front() : *unused;
    }
    case config::FieldType::list: return Json::array();
    case config::FieldType::object:
    case config::FieldType::map: return Json::object();
    case config::FieldType::record: return {{"type", newType(item, others)}};
    case config::FieldType::text:
    case config::FieldType::path: return "";
    case config::FieldType::any: return nullptr;
    }
    return nullptr;
}

ListEditor::ListEditor(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldEditor(source, field, pointer), place_(new QWidget) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    if (field.nullable) {
        given_ = new widgets::ToggleSwitch(tr("set"));
        given_->setObjectName("set:" + toQString(pointer));
        given_->setAccessibleName(toQString(field.name));
        connect(given_, &QAbstractButton::clicked, this,
                [this](bool on) { commit(on ? firstItems(this->field()) : Json()); });
        column->addWidget(given_);
    }
    const config::Field& item = field.item.front();
    add_ = addButton(*this, isSmall(item) ? QString() : toQString(item.name));
    connect(add_, &QPushButton::clicked, this, &ListEditor::add);
    if (isSmall(item)) {
        auto* flow = new widgets::FlowLayout(place_);
        flow->setContentsMargins(0, 0, 0, 0);
        flow->setSpacing(widgets::space::kTight);
    } else {
        auto* rows = new QVBoxLayout(place_);
        rows->setContentsMargins(0, 0, 0, 0);
        rows->setSpacing(widgets::space::kGroup);
    }
    column->addWidget(place_);
    if (!isSmall(item)) {
        column->addWidget(add_, 0, Qt::AlignLeft);
    }
    setFocusProxy(add_);
}

Json ListEditor::items() const {
    const Json now = value();
    return now.is_array() ? now : Json::array();
}

void ListEditor::refresh() {
    const Json now = value();
    const bool is_null = field().nullable && now.is_null();
    if (given_ != nullptr) {
        const QSignalBlocker blocker(given_);
        given_->setChecked(!is_null);
    }
    place_->setVisible(!is_null);
    const std::size_t count = now.is_array() ? now.size() : 0;
    add_->setVisible(!is_null && mayGrow(count));
    if (count != editors_.size() || place_->layout()->isEmpty()) {
        rebuild(count);
    }
    for (FieldEditor* editor : editors_) {
        editor->refresh();
    }
}

void ListEditor::setInvalid(bool) {
    for (FieldEditor* editor : editors_) {
        editor->setInvalid(!source().problems(editor->pointer(), true).empty() ||
                           !editor->complaint().isEmpty());
    }
}

void ListEditor::rebuild(std::size_t count) {
    const bool small = isSmall(field().item.front());
    if (small) {
        place_->layout()->removeWidget(add_);
    }
    widgets::clearLayout(*place_->layout());
    editors_.clear();
    for (std::size_t i = 0; i < count; ++i) {
        place_->layout()->addWidget(createItem(i));
    }
    if (small) {
        place_->layout()->addWidget(add_);
        add_->setVisible(mayGrow(count) && (!field().nullable || !value().is_null()));
    }
    setFocusProxy(mayGrow(count) || editors_.empty() ? static_cast<QWidget*>(add_)
                                                     : editors_.front());
}

bool ListEditor::mayGrow(std::size_t count) const {
    return field().items == 0 || count < field().items;
}

bool ListEditor::mayShrink() const {
    return field().items == 0 || items().size() > field().items;
}

QWidget* ListEditor::itemButton(const char* icon, const QString& name, std::size_t index,
                                void (ListEditor::*change)(std::size_t)) {
    QPushButton* button = widgets::iconButton(
        icon, QString("%1:%2/%3").arg(icon, toQString(pointer())).arg(index), name);
    button->setFixedWidth(kListEditorButton);
    connect(button, &QPushButton::clicked, this, [this, change, index] { (this->*change)(index); });
    return button;
}

QWidget* ListEditor::createItem(std::size_t index) {
    const config::Field& item = field().item.front();
    FieldEditor* editor = createEditor(source(), item, config::pointer_to(pointer(), index));
    connect(editor, &FieldEditor::typing, this, &FieldEditor::typing);
    connect(editor, &FieldEditor::settled, this, &FieldEditor::settled);
    editors_.push_back(editor);
    if (isSmall(item) && !mayShrink()) {
        return editor;
    }
    auto* whole = new QWidget;
    QWidget* remove =
        itemButton("close", tr("Remove item %1 of %2").arg(index).arg(toQString(field().name)),
                   index, &ListEditor::remove);
    if (isSmall(item)) {
        auto* row = new QHBoxLayout(whole);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(0);
        row->addWidget(editor);
        row->addWidget(remove);
        return whole;
    }
    auto* column = new QVBoxLayout(whole);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* head = new QHBoxLayout;
    head->setSpacing(widgets::space::kTight);
    head->addWidget(new widgets::TextLabel(QString("%1 %2").arg(toQString(item.name)).arg(index),
                                           widgets::TextStyle::Caption, widgets::Role::Muted));
    head->addStretch(1);
    if (index > 0) {
        head->addWidget(
            itemButton("chevron-up", tr("Move item %1 up").arg(index), index, &ListEditor::moveUp));
    }
    head->addWidget(
        itemButton("copy", tr("Duplicate item %1").arg(index), index, &ListEditor::duplicate));
    head->addWidget(remove);
    column->addLayout(head);
    column->addWidget(editor);
    return whole;
}

void ListEditor::add() {
    Json all = items();
    all.push_back(newItem(field().item.front(), all));
    commit(all);
}

void ListEditor::remove(std::size_t index) {
    Json all = items();
    all.erase(index);
    commit(all);
}

void ListEditor::moveUp(std::size_t index) {
    Json all = items();
    std::swap(all[index - 1], all[index]);
    commit(all);
}

void ListEditor::duplicate(std::size_t index) {
    Json all = items();
    const Json copy = all[index];
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(index), copy);
    commit(all);
}

MapEditor::MapEditor(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldEditor(source, field, pointer), place_(new QWidget) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* rows = new QVBoxLayout(place_);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(widgets::space::kTight);
    column->addWidget(place_);
    add_ = addButton(*this, toQString(field.item.front().name));
    connect(add_, &QPushButton::clicked, this, &MapEditor::add);
    column->addWidget(add_, 0, Qt::AlignLeft);
    setFocusProxy(add_);
}

Json MapEditor::entries() const {
    const Json now = value();
    return now.is_object() ? now : Json::object();
}

void MapEditor::refresh() {
    std::vector<std::string> keys;
    const Json now = entries();
    for (const auto& [key, ignored] : now.items()) {
        keys.push_back(key);
    }
    if (keys != keys_) {
        rebuild(keys);
    }
    for (FieldEditor* editor : editors_) {
        editor->refresh();
    }
}

void MapEditor::rebuild(const std::vector<std::string>& keys) {
    keys_ = keys;
    widgets::clearLayout(*place_->layout());
    editors_.clear();
    for (const std::string& key : keys) {
        auto* whole = new QWidget;
        auto* row = new QHBoxLayout(whole);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(widgets::space::kTight);
        auto* name = new QLineEdit(toQString(key));
        name->setObjectName("key:" + toQString(config::pointer_to(pointer(), key)));
        name->setAccessibleName(tr("Key in %1").arg(toQString(field().name)));
        connect(name, &QLineEdit::editingFinished, this,
                [this, name, key] { rename(key, name->text().toStdString()); });
        row->addWidget(name, 1);
        FieldEditor* editor =
            createEditor(source(), field().item.front(), config::pointer_to(pointer(), key));
        connect(editor, &FieldEditor::typing, this, &FieldEditor::typing);
        connect(editor, &FieldEditor::settled, this, &FieldEditor::settled);
        editors_.push_back(editor);
        row->addWidget(editor, 1);
        QPushButton* remove =
            widgets::iconButton("close", "remove:" + toQString(config::pointer_to(pointer(), key)),
                                tr("Remove %1").arg(toQString(key)));
        remove->setFixedWidth(kListEditorButton);
        connect(remove, &QPushButton::clicked, this, [this, key] {
            Json all = entries();
            all.erase(key);
            commit(all);
        });
        row->addWidget(remove);
        place_->layout()->addWidget(whole);
    }
}

/// In its place; a key that another entry has is not taken, so that nothing is lost.
void MapEditor::rename(const std::string& from, const std::string& to) {
    const Json all = entries();
    if (from == to || to.empty() || all.contains(to) || !all.contains(from)) {
        keys_.clear();
        refresh();
        return;
    }
    Json out = Json::object();
    for (const auto& [key, entry] : all.items()) {
        out[key == from ? to : key] = entry;
    }
    commit(out);
}

void MapEditor::add() {
    Json all = entries();
    std::string key = "*";
    for (int i = 2; all.contains(key); ++i) {
        key = "*" + std::to_string(i);
    }
    all[key] = newItem(field().item.front(), Json::array());
    commit(all);
}

} // namespace weft::ui
