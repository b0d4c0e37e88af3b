// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/form_source.h"

#include "core/config/pointer.h"

#include <algorithm>

namespace weft::ui {
namespace {

using config::Field;
using config::FieldTable;
using config::FieldType;
using config::Json;

const Field* by_name(const FieldTable& table, const std::string& name) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const Field& field) { return field.name == name; });
    return found == table.end() ? nullptr : &*found;
}

/// Of a record as it stands: its "type" may be the default's.
const FieldTable* fields_of(const Field& record, const Json* value) {
    const Json* holder = value != nullptr && value->is_object() && value->contains("type")
                             ? value
                             : &record.default_value;
    const auto type = holder->is_object() ? holder->find("type") : holder->end();
    if (!holder->is_object() || type == holder->end() || !type->is_string()) {
        return nullptr;
    }
    for (const config::RecordType& candidate : record.records) {
        if (candidate.name == type->get_ref<const std::string&>()) {
            return &candidate.fields;
        }
    }
    return nullptr;
}

const Json* member(const Json* value, const std::string& part) {
    if (value == nullptr) {
        return nullptr;
    }
    if (value->is_object()) {
        const auto found = value->find(part);
        return found == value->end() ? nullptr : &*found;
    }
    if (!value->is_array() || part.empty() || part.size() > 9 ||
        !std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        return nullptr;
    }
    const auto index = static_cast<std::size_t>(std::stoul(part));
    return index < value->size() ? &(*value)[index] : nullptr;
}

const Json* at_pointer(const Json& document, const std::string& pointer) {
    const Json* at = &document;
    for (const std::string& part : pointerParts(pointer)) {
        at = member(at, part);
    }
    return at;
}

/// The field of `part` below `parent`, whose value is `value`.
const Field* child(const Field& parent, const std::string& part, const Json* value) {
    switch (parent.type) {
    case FieldType::list:
    case FieldType::map: return parent.item.data();
    case FieldType::object: return by_name(parent.fields, part);
    case FieldType::record: {
        const FieldTable* fields = fields_of(parent, value);
        return fields == nullptr ? nullptr : by_name(*fields, part);
    }
    default: return nullptr;
    }
}

bool written_whole(const Field& field) {
    return field.type == FieldType::list || field.type == FieldType::map ||
           (field.type == FieldType::object && field.one_of);
}

} // namespace

std::vector<std::string> pointerParts(const std::string& pointer) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        if (pointer[i] == '/') {
            parts.emplace_back();
        } else if (pointer[i] == '~' && i + 1 < pointer.size()) {
            parts.back() += pointer[++i] == '1' ? '/' : '~';
        } else if (!parts.empty()) {
            parts.back() += pointer[i];
        }
    }
    return parts;
}

FormSource::FormSource(Draft& draft, QObject* parent) : QObject(parent), draft_(draft) {
    connect(&draft_, &Draft::changed, this, &FormSource::renew);
    connect(&draft_, &Draft::findingsChanged, this, &FormSource::changed);
    renew();
}

void FormSource::renew() {
    if (draft_.isValid()) {
        normal_ = draft_.config().document;
    } else {
        const Json& document = draft_.document();
        normal_ = config::check_fields(document.is_object() ? document : Json::object(),
                                       compile::run_config_table())
                      .value;
    }
    emit changed();
}

const Field* FormSource::field(const std::string& pointer) const {
    const FieldTable* table = &compile::run_config_table();
    const Field* found = nullptr;
    const Json* value = &normal_;
    for (const std::string& part : pointerParts(pointer)) {
        found = found == nullptr ? by_name(*table, part) : child(*found, part, value);
        if (found == nullptr) {
            return nullptr;
        }
        value = member(value, part);
    }
    return found;
}

const Json* FormSource::given(const std::string& pointer) const {
    return at_pointer(draft_.document(), pointer);
}

Json FormSource::value(const std::string& pointer, const Field& field) const {
    if (const Json* found = given(pointer)) {
        return *found;
    }
    const Json* normal = at_pointer(normal_, pointer);
    return normal != nullptr ? *normal : field.default_value;
}

bool FormSource::isChanged(const std::string& pointer, const Field& field) const {
    const Json* found = given(pointer);
    if (found == nullptr || field.required) {
        return false;
    }
    if (*found == field.default_value) {
        return false;
    }
    // {"type": "adamw"} with every default inside is the default, too.
    const FieldTable table = {field};
    const config::Checked now = config::check_fields({{field.name, *found}}, table);
    const config::Checked then = config::check_fields(Json::object(), table);
    return !now.ok() || now.value != then.value;
}

config::Diagnostics FormSource::problems(const std::string& pointer, bool below) const {
    config::Diagnostics out;
    for (const config::Diagnostics& list : {draft_.diagnostics(), draft_.findings()}) {
        for (const config::Diagnostic& one : list) {
            if (one.pointer == pointer || (below && one.pointer.starts_with(pointer + "/"))) {
                out.push_back(one);
            }
        }
    }
    return out;
}

void FormSource::set(const std::string& pointer, const Json& value, const QString& merge) {
    if (!isEditable()) {
        return;
    }
    const std::vector<std::string> parts = pointerParts(pointer);
    std::string at;
    const Field* field = nullptr;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        at = config::pointer_to(at, parts[i]);
        field = this->field(at);
        // Nothing is there yet to change a part of, or keys that only a whole map can hold.
        if (field != nullptr && written_whole(*field) &&
            (given(at) == nullptr || field->type == FieldType::map)) {
            Json whole = given(at) != nullptr ? *given(at) : field->default_value;
            std::string rest;
            for (std::size_t j = i + 1; j < parts.size(); ++j) {
                rest = config::pointer_to(rest, parts[j]);
            }
            whole[Json::json_pointer(rest)] = value;
            draft_.edit({{at, whole}}, merge);
            return;
        }
    }
    draft_.edit({{pointer, value}}, merge);
}

void FormSource::reset(const std::string& pointer) {
    if (isEditable()) {
        draft_.edit({{pointer, std::nullopt}});
    }
}

} // namespace weft::ui
