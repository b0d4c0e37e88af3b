// SPDX-License-Identifier: Apache-2.0
// JSON schema, draft 2020-12, out of field tables.
#include "core/config/field.h"

#include <cmath>

namespace weft::config {
namespace {

Json table_schema(const FieldTable& table);

// Whole limits as integers, so that the schema shows 1 and not 1.0.
Json limit(double value) {
    const bool whole = value == std::trunc(value) && std::abs(value) < 9e15;
    return whole ? Json(static_cast<int64_t>(value)) : Json(value);
}

void add_range(Json& schema, const Field& field) {
    if (std::isfinite(field.minimum)) {
        schema[field.exclusive_minimum ? "exclusiveMinimum" : "minimum"] = limit(field.minimum);
    }
    if (std::isfinite(field.maximum)) {
        schema["maximum"] = limit(field.maximum);
    }
}

Json record_schema(const Field& field) {
    Json alternatives = Json::array();
    for (const RecordType& record : field.records) {
        Json schema = table_schema(record.fields);
        Json properties = {{"type", {{"const", record.name}}}};
        properties.update(schema["properties"]);
        schema["properties"] = std::move(properties);
        // The default record may be meant without naming it.
        const bool is_default = field.default_value.is_object() &&
                                field.default_value.value("type", "") == record.name;
        Json required = is_default ? Json::array() : Json::array({"type"});
        if (const auto more = schema.find("required"); more != schema.end()) {
            required.insert(required.end(), more->begin(), more->end());
        }
        schema["required"] = std::move(required);
        schema["description"] = record.help;
        alternatives.push_back(std::move(schema));
    }
    return {{"oneOf", std::move(alternatives)}};
}

Json one_of_schema(const Field& field) {
    Json schema = table_schema(field.fields);
    schema["minProperties"] = 1;
    schema["maxProperties"] = 1;
    for (auto& [name, property] : schema["properties"].items()) {
        property.erase("default");
    }
    return schema;
}

Json value_schema(const Field& field);

Json list_schema(const Field& field) {
    Json schema = {{"type", "array"}, {"items", value_schema(field.item.front())}};
    if (field.items > 0) {
        schema["minItems"] = field.items;
        schema["maxItems"] = field.items;
    }
    return schema;
}

Json bare_schema(const Field& field) {
    switch (field.type) {
    case FieldType::boolean: return {{"type", "boolean"}};
    case FieldType::integer: return {{"type", "integer"}};
    case FieldType::real: return {{"type", "number"}};
    case FieldType::text: return {{"type", "string"}};
    case FieldType::path: return {{"type", "string"}, {"minLength", 1}};
    case FieldType::choice: {
        Json names = field.choices;
        for (const std::string& alias : field.aliases) {
            names.push_back(alias.substr(0, alias.find('=')));
        }
        return {{"enum", std::move(names)}};
    }
    case FieldType::list: return list_schema(field);
    case FieldType::map:
        return {{"type", "object"}, {"additionalProperties", value_schema(field.item.front())}};
    case FieldType::object: return field.one_of ? one_of_schema(field) : table_schema(field.fields);
    case FieldType::record: return record_schema(field);
    case FieldType::any: return Json::object();
    }
    return Json::object();
}

Json value_schema(const Field& field) {
    Json schema = bare_schema(field);
    if (field.type == FieldType::integer || field.type == FieldType::real) {
        add_range(schema, field);
    }
    if (field.nullable && field.type != FieldType::any) {
        schema = {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
    }
    if (!field.help.empty()) {
        schema["description"] =
            field.unit.empty() ? field.help : field.help + " Unit: " + field.unit + ".";
    }
    if (!field.required && (field.nullable || !field.default_value.is_null())) {
        schema["default"] = field.default_value;
    }
    return schema;
}

Json table_schema(const FieldTable& table) {
    Json properties = Json::object();
    Json required = Json::array();
    for (const Field& field : table) {
        properties[field.name] = value_schema(field);
        if (field.required) {
            required.push_back(field.name);
        }
    }
    Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) {
        schema["required"] = std::move(required);
    }
    schema["additionalProperties"] = false;
    return schema;
}

} // namespace

Json json_schema(const FieldTable& table, std::string_view title) {
    Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
    schema.update(table_schema(table));
    schema["properties"]["$schema"] = {{"type", "string"}};
    return schema;
}

} // namespace weft::config
