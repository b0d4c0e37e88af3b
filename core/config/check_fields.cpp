// SPDX-License-Identifier: Apache-2.0
// A document against a field table: every problem at once, defaults filled in.
#include "core/config/pointer.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace weft::config {
namespace {

// Largest integer that a double holds exactly with all its neighbours.
constexpr double kExactIntegers = 9007199254740992.0;
constexpr std::size_t kMostProblems = 200;
constexpr std::size_t kMostUnknown = 20; // of one object

std::vector<std::string> names_of(const FieldTable& table) {
    std::vector<std::string> out;
    for (const Field& field : table) {
        out.push_back(field.name);
    }
    return out;
}

/// One walk over a document. Each function returns the normalised value; where there was a problem
/// it returns the field's default, so that the walk goes on.
class Walk {
public:
    explicit Walk(Diagnostics& out) : out_(out) {}

    Json table(const Json& value, const FieldTable& fields, const std::string& pointer,
               std::string_view skip = {}) {
        Json result = Json::object();
        if (!value.is_object()) {
            wrong_type(value, FieldType::object, pointer);
            return result;
        }
        for (const Field& field : fields) {
            const std::string at = pointer_to(pointer, field.name);
            const auto found = value.find(field.name);
            result[field.name] =
                found == value.end() ? absent(field, at) : check(*found, field, at);
        }
        report_unknown(value, fields, pointer, skip);
        return result;
    }

    /// Says of the problems that were not listed that they are there.
    void finish(const std::string& pointer) {
        if (problems_ > kMostProblems) {
            out_.push_back({pointer, Severity::error,
                            std::to_string(problems_ - kMostProblems) + " more problems",
                            "Mend those listed first."});
        }
    }

private:
    Json check(const Json& value, const Field& field, const std::string& pointer) {
        if (value.is_null() && field.type != FieldType::any) {
            return null(field, pointer);
        }
        switch (field.type) {
        case FieldType::boolean: return boolean(value, field, pointer);
        case FieldType::integer: return integer(value, field, pointer);
        case FieldType::real: return real(value, field, pointer);
        case FieldType::text:
        case FieldType::path: return text(value, field, pointer);
        case FieldType::choice: return choice(value, field, pointer);
        case FieldType::list: return list(value, field, pointer);
        case FieldType::object:
            return field.one_of ? one_of(value, field, pointer)
                                : table(value, field.fields, pointer);
        case FieldType::record: return record(value, field, pointer);
        case FieldType::map: return map(value, field, pointer);
        case FieldType::any: return value;
        }
        return value;
    }

    // A field that the document does not have: its default, with the defaults inside it.
    Json absent(const Field& field, const std::string& pointer) {
        if (field.required) {
            report(pointer, "this field is missing and has no default", purpose(field));
            return nullptr;
        }
        if (field.default_value.is_null()) {
            return nullptr;
        }
        return check(field.default_value, field, pointer);
    }

    Json null(const Field& field, const std::string& pointer) {
        // A field without a value of its own ("null until given") reads back what was written for
        // it.
        if (!field.nullable && (field.required || !field.default_value.is_null())) {
            report(pointer, "expected " + describe_type(field.type) + ", found null",
                   field.required ? purpose(field) : "Leave the field out to get its default.");
        }
        return nullptr;
    }

    Json boolean(const Json& value, const Field& field, const std::string& pointer) {
        return value.is_boolean() ? value : mismatch(value, field, pointer);
    }

    Json integer(const Json& value, const Field& field, const std::string& pointer) {
        if (value.is_number_unsigned() &&
            value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
            report(pointer, describe_value(value) + " does not fit into 64 bits", limits(field));
            return field.default_value;
        }
        if (value.is_number_integer()) {
            in_range(static_cast<double>(value.get<int64_t>()), value, field, pointer);
            return value.get<int64_t>();
        }
        if (!value.is_number_float()) {
            return mismatch(value, field, pointer);
        }
        const double number = value.get<double>();
        if (!(std::abs(number) <= kExactIntegers) || number != std::trunc(number)) {
            return mismatch(value, field, pointer);
        }
        in_range(number, value, field, pointer);
        return static_cast<int64_t>(number); // "1e6" is how people write a million
    }

    Json real(const Json& value, const Field& field, const std::string& pointer) {
        if (!value.is_number()) {
            return mismatch(value, field, pointer);
        }
        const double number = value.get<double>();
        if (!std::isfinite(number)) {
            report(pointer, "expected a finite number, found " + number_text(number),
                   limits(field));
            return field.default_value;
        }
        in_range(number, value, field, pointer);
        return number;
    }

    Json text(const Json& value, const Field& field, const std::string& pointer) {
        if (!value.is_string()) {
            return mismatch(value, field, pointer);
        }
        const auto& content = value.get_ref<const std::string&>();
        if (!is_utf8(content)) {
            report(pointer, describe_value(value) + " is not valid UTF-8",
                   "Save the file in UTF-8.");
            return field.default_value;
        }
        if (field.type == FieldType::path && content.find('\0') != std::string::npos) {
            report(pointer, describe_value(value) + " holds a zero byte and cannot be a path");
            return field.default_value;
        }
        if (field.type == FieldType::path && content.empty()) {
            report(pointer, "the path is empty", purpose(field));
        }
        return value;
    }

    Json choice(const Json& value, const Field& field, const std::string& pointer) {
        if (!value.is_string()) {
            report(pointer, "expected one of its names, found " + describe_value(value),
                   name_hint({}, field.choices));
            return field.default_value;
        }
        const auto& name = value.get_ref<const std::string&>();
        if (std::find(field.choices.begin(), field.choices.end(), name) != field.choices.end()) {
            return value;
        }
        for (const std::string& alias : field.aliases) {
            if (alias.starts_with(name + "=")) {
                return alias.substr(name.size() + 1);
            }
        }
        report(pointer, "unknown value '" + shown(name) + "'", name_hint(name, field.choices));
        return field.default_value;
    }

    Json list(const Json& value, const Field& field, const std::string& pointer) {
        if (!value.is_array()) {
            return mismatch(value, field, pointer);
        }
        if (field.items > 0 && value.size() != field.items) {
            report(pointer,
                   "expected " + std::to_string(field.items) + " items, found " +
                       std::to_string(value.size()),
                   purpose(field));
        }
        Json result = Json::array();
        for (size_t i = 0; i < value.size(); ++i) {
            result.push_back(check(value[i], field.item.front(), pointer_to(pointer, i)));
        }
        return result;
    }

    Json map(const Json& value, const Field& field, const std::string& pointer) {
        if (!value.is_object()) {
            return mismatch(value, field, pointer);
        }
        Json result = Json::object();
        auto& entries = result.get_ref<Json::object_t&>();
        for (const auto& [key, entry] : value.items()) {
            entries.emplace_back(key, check(entry, field.item.front(), pointer_to(pointer, key)));
        }
        return result;
    }

    Json one_of(const Json& value, const Field& field, const std::string& pointer) {
        const std::string forms = "Write one of " + one_of_forms(field) + ".";
        if (!value.is_object()) {
            report(pointer, "expected an object, found " + describe_value(value), forms);
            return field.default_value;
        }
        Json result = Json::object();
        for (const Field& unit : field.fields) {
            if (const auto found = value.find(unit.name); found != value.end()) {
                result[unit.name] = found->is_null()
                                        ? mismatch(*found, unit, pointer_to(pointer, unit.name))
                                        : check(*found, unit, pointer_to(pointer, unit.name));
            }
        }
        report_unknown(value, field.fields, pointer, {});
        if (value.size() != 1) {
            report(pointer, value.empty() ? "the object is empty" : "more than one is given",
                   forms);
            return field.default_value;
        }
        return result;
    }

    static const Json* member(const Json& object, const char* name) {
        const auto found = object.is_object() ? object.find(name) : object.end();
        return found == object.end() ? nullptr : &*found;
    }

    Json record(const Json& value, const Field& field, const std::string& pointer) {
        std::vector<std::string> names;
        for (const RecordType& type : field.records) {
            names.push_back(type.name);
        }
        if (!value.is_object()) {
            const bool bare_name =
                value.is_string() && std::find(names.begin(), names.end(), value) != names.end();
            report(pointer, "expected an object with a \"type\", found " + describe_value(value),
                   bare_name ? "Write {\"type\": " + value.dump() + "}." : name_hint({}, names));
            return field.default_value;
        }
        const std::string at = pointer_to(pointer, "type");
        const Json* type = member(value, "type");
        if (type == nullptr) {
            // {"learning_rate": 0.01} changes the default optimizer; it need not be named again.
            type = member(field.default_value, "type");
        }
        if (type == nullptr || !type->is_string()) {
            report(at,
                   type == nullptr ? "this field is missing and has no default"
                                   : "expected a text, found " + describe_value(*type),
                   name_hint({}, names));
            return field.default_value;
        }
        const auto& name = type->get_ref<const std::string&>();
        for (const RecordType& candidate : field.records) {
            if (candidate.name == name) {
                Json result = {{"type", name}};
                result.update(table(value, candidate.fields, pointer, "type"));
                return result;
            }
        }
        report(at, "unknown type '" + shown(name) + "'", name_hint(name, names));
        return field.default_value;
    }

    void report_unknown(const Json& value, const FieldTable& fields, const std::string& pointer,
                        std::string_view skip) {
        const std::vector<std::string> names = names_of(fields);
        std::size_t unknown = 0;
        for (const auto& [key, ignored] : value.items()) {
            const bool schema_link = pointer.empty() && key == "$schema";
            if (key == skip || schema_link ||
                std::find(names.begin(), names.end(), key) != names.end()) {
                continue;
            }
            if (++unknown <= kMostUnknown) {
                report(pointer_to(pointer, shown(key)), "unknown field", name_hint(key, names));
            }
        }
        if (unknown > kMostUnknown) {
            report(pointer, std::to_string(unknown - kMostUnknown) + " more fields are unknown");
        }
    }

    void in_range(double number, const Json& value, const Field& field,
                  const std::string& pointer) {
        const bool low = field.exclusive_minimum ? number <= field.minimum : number < field.minimum;
        if (low || number > field.maximum) {
            report(pointer, describe_value(value) + " is out of range", limits(field));
        }
    }

    /// Its help without what null means there: a hint says what to give.
    static std::string purpose(const Field& field) {
        const std::size_t clause = field.help.find("; null: ");
        if (clause == std::string::npos) {
            return field.help;
        }
        const std::size_t end = field.help.find(". ", clause);
        return field.help.substr(0, clause) +
               (end == std::string::npos ? "." : field.help.substr(end));
    }

    static std::string limits(const Field& field) {
        const std::string range = describe_range(field);
        return range.empty()
                   ? purpose(field)
                   : "It must be " + range + (field.unit.empty() ? "." : " " + field.unit + ".");
    }

    static std::string one_of_forms(const Field& field) {
        std::vector<std::string> forms;
        for (const Field& unit : field.fields) {
            forms.push_back("{\"" + unit.name + "\": N}");
        }
        return join(forms, ", ");
    }

    Json mismatch(const Json& value, const Field& field, const std::string& pointer) {
        wrong_type(value, field.type, pointer);
        return field.default_value;
    }

    void wrong_type(const Json& value, FieldType type, const std::string& pointer) {
        std::string hint;
        const bool quoted_number = value.is_string() &&
                                   (type == FieldType::integer || type == FieldType::real) &&
                                   Json::accept(value.get_ref<const std::string&>());
        if (quoted_number) {
            hint = "Remove the quotes.";
        } else if (type == FieldType::boolean) {
            hint = "Write true or false without quotes.";
        }
        report(pointer, "expected " + describe_type(type) + ", found " + describe_value(value),
               std::move(hint));
    }

    void report(std::string pointer, std::string message, std::string hint = {}) {
        if (++problems_ <= kMostProblems) {
            out_.push_back(
                {std::move(pointer), Severity::error, std::move(message), std::move(hint)});
        }
    }

    Diagnostics& out_;
    std::size_t problems_ = 0;
};

} // namespace

Checked check_fields(const Json& value, const FieldTable& table, const std::string& pointer) {
    Checked result;
    Walk walk(result.diagnostics);
    result.value = walk.table(value, table, pointer);
    walk.finish(pointer);
    return result;
}

} // namespace weft::config
