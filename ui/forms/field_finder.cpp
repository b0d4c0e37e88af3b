// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/field_finder.h"

#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "ui/forms/record_editor.h"
#include "widgets/look/icon.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QStandardItemModel>
#include <QTimer>

namespace weft::ui {
namespace {

constexpr int kFieldFinderWidth = 160;
constexpr int kPopupWidth = 520;
constexpr int kMostShown = 14;

void collect(const FormSource& source, const config::FieldTable& table, const std::string& at,
             std::vector<std::string>& out);

void collect(const FormSource& source, const config::Field& field, const std::string& at,
             std::vector<std::string>& out) {
    const config::Json value = source.value(at, field);
    if (field.type == config::FieldType::object && !field.one_of) {
        collect(source, field.fields, at, out);
    } else if (field.type == config::FieldType::record && value.is_object()) {
        const config::Json* type = value.contains("type") ? &value.at("type") : nullptr;
        for (const config::RecordType& record : field.records) {
            if (type != nullptr && *type == record.name) {
                collect(source, record.fields, at, out);
            }
        }
    } else if (field.type == config::FieldType::list && !isSmall(field.item.front()) &&
               value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            collect(source, field.item.front(), config::pointer_to(at, i), out);
        }
    }
}

void collect(const FormSource& source, const config::FieldTable& table, const std::string& at,
             std::vector<std::string>& out) {
    for (const config::Field& field : table) {
        const std::string below = config::pointer_to(at, field.name);
        out.push_back(below);
        collect(source, field, below, out);
    }
}

} // namespace

std::vector<std::string> allFields(const FormSource& source) {
    std::vector<std::string> out;
    collect(source, compile::run_config_table(), "", out);
    return out;
}

FieldFinder::FieldFinder(FormSource& source, QWidget* parent)
    : QLineEdit(parent), source_(source), fields_(new QStandardItemModel(this)) {
    setObjectName("findField");
    setPlaceholderText(tr("Find a field"));
    setAccessibleName(tr("Find a field"));
    addAction(widgets::icon("search", widgets::Role::Muted), QLineEdit::LeadingPosition);
    setClearButtonEnabled(true);
    setFixedWidth(kFieldFinderWidth);
    auto* completer = new QCompleter(fields_, this);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setCompletionRole(Qt::DisplayRole);
    completer->setMaxVisibleItems(kMostShown);
    completer->popup()->setObjectName("findFieldPopup");
    completer->popup()->setMinimumWidth(kPopupWidth);
    setCompleter(completer);
    connect(this, &QLineEdit::textEdited, this, &FieldFinder::fill);
    // What the list holds depends on the types that the document chooses.
    connect(&source_, &FormSource::changed, fields_, &QStandardItemModel::clear);
    connect(completer, qOverload<const QModelIndex&>(&QCompleter::activated), this,
            &FieldFinder::choose);
    connect(this, &QLineEdit::returnPressed, this, [this, completer] {
        fill();
        completer->setCompletionPrefix(text());
        if (completer->completionCount() > 0 && !text().isEmpty()) {
            completer->setCurrentRow(0);
            choose(completer->currentIndex());
        }
    });
}

void FieldFinder::fill() {
    if (fields_->rowCount() > 0) {
        return;
    }
    for (const std::string& pointer : allFields(source_)) {
        QString path = toQString(pointer).mid(1).replace('/', '.');
        const config::Field* field = source_.field(pointer);
        auto* item = new QStandardItem(path + "   " + helpText(*field));
        item->setData(toQString(pointer), Qt::UserRole);
        fields_->appendRow(item);
    }
}

void FieldFinder::choose(const QModelIndex& index) {
    const QString pointer = index.data(Qt::UserRole).toString();
    // The completer writes the whole line into the box after this.
    QTimer::singleShot(0, this, &QLineEdit::clear);
    if (!pointer.isEmpty()) {
        emit fieldChosen(pointer.toStdString());
    }
}

} // namespace weft::ui
