// SPDX-License-Identifier: Apache-2.0
// The reference page: Markdown, one row per field.
#include "core/config/pointer.h"

#include "core/base/text.h"

namespace weft::config {
namespace {

/// A record type that gets a table of its own after the one that mentions it.
struct Section {
    std::string path;
    const RecordType* record;
};

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

std::string default_cell(const Field& field) {
    if (field.required) {
        return "*required*";
    }
    const bool filled_below = field.type == FieldType::object && !field.one_of;
    if (filled_below && !field.default_value.is_null()) {
        return "";
    }
    const bool none = field.default_value.is_null() && !field.nullable;
    return none ? "" : "`" + field.default_value.dump() + "`";
}

std::string row(const std::string& path, const Field& field) {
    std::string range = describe_range(field);
    if (!field.unit.empty()) {
        range += (range.empty() ? "" : " ") + field.unit;
    }
    return "| `" + path + "` | " + cell(type_cell(field)) + " | " + cell(default_cell(field)) +
           " | " + cell(range) + " | " + cell(field.help) + " |\n";
}

void add_rows(const FieldTable& table, const std::string& prefix, std::string& out,
              std::vector<Section>& sections) {
    for (const Field& field : table) {
        const std::string path = prefix + field.name;
        out += row(path, field);
        const bool holds_items = !field.item.empty();
        const Field& inner = holds_items ? field.item.front() : field;
        const std::string inner_path = path + (field.type == FieldType::list ? "[]"
                                               : holds_items                 ? ".*"
                                                                             : "");
        add_rows(inner.fields, inner_path + ".", out, sections);
        for (const RecordType& record : inner.records) {
            sections.push_back({inner_path, &record});
        }
    }
}

constexpr std::string_view kTableHead =
    "| Field | Type | Default | Range, unit | Meaning |\n| --- | --- | --- | --- | --- |\n";

} // namespace

std::string reference_page(const FieldTable& table, std::string_view title) {
    std::vector<Section> sections;
    std::string out = "# " + std::string(title) + "\n\n" + std::string(kTableHead);
    add_rows(table, "", out, sections);
    // Sections may add sections of their own while the list is walked.
    for (size_t i = 0; i < sections.size(); ++i) {
        const Section section = sections[i];
        out += "\n## `" + section.path + "`: `" + section.record->name + "`\n\n";
        out += section.record->help + "\n";
        if (!section.record->fields.empty()) {
            out += "\n" + std::string(kTableHead);
            add_rows(section.record->fields, section.path + ".", out, sections);
        }
    }
    return out;
}

} // namespace weft::config
