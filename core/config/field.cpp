// SPDX-License-Identifier: Apache-2.0
#include "core/config/field.h"

#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace weft::config {
namespace {

Field make_field(std::string name, FieldType type, Json value, std::string help) {
    Field field;
    field.name = std::move(name);
    field.type = type;
    field.default_value = std::move(value);
    field.help = std::move(help);
    return field;
}

Field one_of_field(std::string name, Json value, std::string help, FieldTable fields) {
    Field field = make_field(std::move(name), FieldType::object, std::move(value), std::move(help));
    field.fields = std::move(fields);
    field.one_of = true;
    return field;
}

FieldTable cadence_units() {
    return {integer_field("steps", nullptr, "Optimizer steps.").at_least(1).in("steps"),
            real_field("epochs", nullptr, "Passes over the training data.").above(0).in("epochs"),
            real_field("minutes", nullptr, "Minutes of training time.").above(0).in("minutes")};
}

const Field* by_name(const FieldTable& table, std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const Field& field) { return field.name == name; });
    return found == table.end() ? nullptr : &*found;
}

// One step below a field: a member of an object or record, or the item of a list or map.
const Field* child(const Field& field, std::string_view name) {
    if (!field.item.empty()) {
        return &field.item.front();
    }
    for (const RecordType& record : field.records) {
        if (const Field* found = by_name(record.fields, name)) {
            return found;
        }
    }
    return by_name(field.fields, name);
}

} // namespace

Field& Field::range(double low, double high) {
    minimum = low;
    maximum = high;
    return *this;
}

Field& Field::at_least(double low) {
    minimum = low;
    return *this;
}

Field& Field::above(double low) {
    minimum = low;
    exclusive_minimum = true;
    return *this;
}

Field& Field::or_null() {
    nullable = true;
    if (type == FieldType::object && !one_of) {
        default_value = nullptr;
    }
    return *this;
}

Field& Field::must_be_given() {
    required = true;
    return *this;
}

Field& Field::exactly(std::size_t count) {
    items = count;
    return *this;
}

Field& Field::in(std::string unit_name) {
    unit = std::move(unit_name);
    return *this;
}

Field& Field::for_experts() {
    expert = true;
    return *this;
}

Field boolean_field(std::string name, bool value, std::string help) {
    return make_field(std::move(name), FieldType::boolean, value, std::move(help));
}

Field integer_field(std::string name, Json value, std::string help) {
    return make_field(std::move(name), FieldType::integer, std::move(value), std::move(help));
}

Field real_field(std::string name, Json value, std::string help) {
    return make_field(std::move(name), FieldType::real, std::move(value), std::move(help));
}

Field text_field(std::string name, Json value, std::string help) {
    return make_field(std::move(name), FieldType::text, std::move(value), std::move(help));
}

Field path_field(std::string name, Json value, std::string help) {
    return make_field(std::move(name), FieldType::path, std::move(value), std::move(help));
}

Field choice_field(std::string name, Json value, std::vector<std::string> choices,
                   std::string help) {
    Field field = make_field(std::move(name), FieldType::choice, std::move(value), std::move(help));
    field.choices = std::move(choices);
    return field;
}

Field list_field(std::string name, Json value, Field item, std::string help) {
    Field field = make_field(std::move(name), FieldType::list, std::move(value), std::move(help));
    field.item.push_back(std::move(item));
    return field;
}

Field object_field(std::string name, FieldTable fields, std::string help) {
    Field field = make_field(std::move(name), FieldType::object, Json::object(), std::move(help));
    field.fields = std::move(fields);
    return field;
}

Field record_field(std::string name, Json value, std::vector<RecordType> records,
                   std::string help) {
    Field field = make_field(std::move(name), FieldType::record, std::move(value), std::move(help));
    field.records = std::move(records);
    return field;
}

Field map_field(std::string name, Json value, Field item, std::string help) {
    Field field = make_field(std::move(name), FieldType::map, std::move(value), std::move(help));
    field.item.push_back(std::move(item));
    return field;
}

Field any_field(std::string name, Json value, std::string help) {
    return make_field(std::move(name), FieldType::any, std::move(value), std::move(help));
}

Field cadence_field(std::string name, Json value, std::string help) {
    return one_of_field(std::move(name), std::move(value), std::move(help), cadence_units());
}

Field length_field(std::string name, Json value, std::string help) {
    FieldTable units = cadence_units();
    units.push_back(integer_field("tokens", nullptr, "Tokens seen.").at_least(1).in("tokens"));
    return one_of_field(std::move(name), std::move(value), std::move(help), std::move(units));
}

const Field* find_field(const FieldTable& table, std::string_view dotted_path) {
    const Field* found = nullptr;
    for (const std::string& part : split(dotted_path, '.')) {
        found = found == nullptr ? by_name(table, part) : child(*found, part);
        if (found == nullptr) {
            return nullptr;
        }
    }
    return found;
}

} // namespace weft::config
