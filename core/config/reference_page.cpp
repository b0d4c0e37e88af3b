// SPDX-License-Identifier: Apache-2.0
// The reference page: Markdown, one row per field.
#include "core/config/reference_tables.h"

#include "core/base/text.h"
#include "core/config/pointer.h"

namespace weft::config {
namespace {

std::string cell(std::string text) {
    for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
        text.insert(at, "\\");
    }
    return text;
}

std::string type_cell(const Field& field) {
    std::string out;
    switch (field.type) {
    case FieldType::boolean: out = "boolean"; break;
    case FieldType::integer: out = "integer"; break;
    case FieldType::real: out = "number"; break;
    case FieldType::text: out = "text"; break;
    case FieldType::path: out = "path"; break;
    case FieldType::any: out = "see text"; break;
    case FieldType::choice: out = "`" + join(field.choices, "` `") + "`"; break;
    case FieldType::list:
        out = "list of " + (field.items > 0 ? std::to_string(field.items) + " × " : "") +
              type_cell(field.item.front());
        break;
    case FieldType::map: out = "map to " + type_cell(field.item.front()); break;
    case FieldType::object: out = field.one_of ? "one of" : "object"; break;
    case FieldType::record: out = "typed object"; break;
    }
    return out + (field.nullable ? " or null" : "");
}

ReferenceRow row_of(const std::string& path, const Field& field) {
    ReferenceRow out{path, type_cell(field), "", field.required, describe_range(field), field.help};
    if (!field.unit.empty()) {
        out.range += (out.range.empty() ? "" : " ") + field.unit;
    }
    const bool filled_below = field.type == FieldType::object && !field.one_of;
    const bool none = field.default_value.is_null() ? !field.nullable : filled_below;
    if (!field.required && !none) {
        out.default_value = field.default_value.dump();
    }
    return out;
}

void add_rows(const FieldTable& table, const std::string& prefix, std::vector<ReferenceRow>& rows,
              std::vector<ReferenceTable>& types) {
    for (const Field& field : table) {
        const std::string path = prefix + field.name;
        rows.push_back(row_of(path, field));
        const bool holds_items = !field.item.empty();
        const Field& inner = holds_items ? field.item.front() : field;
        const std::string inner_path = path + (field.type == FieldType::list ? "[]"
                                               : holds_items                 ? ".*"
                                                                             : "");
        add_rows(inner.fields, inner_path + ".", rows, types);
        for (const RecordType& record : inner.records) {
            types.push_back({inner_path, &record, {}});
        }
    }
}

constexpr std::string_view kTableHead =
    "| Field | Type | Default | Range, unit | Meaning |\n| --- | --- | --- | --- | --- |\n";

std::string to_markdown(const std::vector<ReferenceRow>& rows) {
    std::string out(kTableHead);
    for (const ReferenceRow& row : rows) {
        const std::string value = row.required                ? "*required*"
                                  : row.default_value.empty() ? ""
                                                              : "`" + row.default_value + "`";
        out += "| `" + row.path + "` | " + cell(row.type) + " | " + cell(value) + " | " +
               cell(row.range) + " | " + cell(row.help) + " |\n";
    }
    return out;
}

} // namespace

std::vector<ReferenceTable> reference_tables(const FieldTable& table) {
    std::vector<ReferenceTable> out(1);
    // Record types may mention others, so that the list grows while it is walked.
    for (size_t i = 0; i < out.size(); ++i) {
        const std::string path = out[i].path;
        std::vector<ReferenceRow> rows;
        if (const RecordType* record = out[i].record) {
            add_rows(record->fields, path + ".", rows, out);
        } else {
            add_rows(table, "", rows, out);
        }
        out[i].rows = std::move(rows);
    }
    return out;
}

std::string reference_page(const FieldTable& table, std::string_view title) {
    std::string out = "# " + std::string(title) + "\n";
    for (const ReferenceTable& one : reference_tables(table)) {
        if (one.record != nullptr) {
            out +=
                "\n## `" + one.path + "`: `" + one.record->name + "`\n\n" + one.record->help + "\n";
        }
        out += one.rows.empty() ? "" : "\n" + to_markdown(one.rows);
    }
    return out;
}

} // namespace weft::config
