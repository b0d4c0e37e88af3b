// SPDX-License-Identifier: Apache-2.0
// Field tables: the single source of name, type, range, unit, default and help of every setting.
// The JSON reader, the validator, the studio's forms, `weft help`, the JSON schema and the reference
// page are all derived from them. Records (ops, layers, optimizers, formats, ...) own their tables;
// core/compile assembles the whole.
#pragma once

#include "core/config/diagnostic.h"
#include "core/config/json.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::config {

struct Field;

/// A list of fields in the order in which forms and the reference page show them.
using FieldTable = std::vector<Field>;

enum class FieldType {
    boolean,
    integer,
    real,   // accepts integers
    text,   // any string
    choice, // one of Field::choices
    path,   // a file or folder; relative paths count from the config's folder
    list,   // array; every item is described by Field::item
    object, // nested table in Field::fields
    record, // object with a "type" key that selects one of Field::records
    map,    // object with free keys; every value is described by Field::item
    any,    // checked by its reader (e.g. pairs of the mesh)
};

/// One alternative of a record field, e.g. model type "mlp" with its own table.
struct RecordType {
    std::string name;
    std::string help;
    FieldTable fields;
};

/// One setting. Built by the functions below, so that a table reads like a page of documentation.
struct Field {
    std::string name;
    FieldType type = FieldType::any;
    Json default_value;    // null together with `nullable` or `required` below
    bool required = false; // no default: the user must give it
    bool nullable = false; // null is a valid value
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool exclusive_minimum = false;
    std::string unit; // "", "bytes", "samples", "steps", ...
    std::string help; // one sentence
    std::vector<std::string> choices;
    std::vector<std::string> aliases; // choice aliases as "alias=choice"
    std::vector<Field> item;          // list, map: exactly one entry
    FieldTable fields;                // object
    std::vector<RecordType> records;  // record
    bool one_of = false;              // object: exactly one of `fields` is given, none is filled in
    std::size_t items = 0;            // list: exactly so many; 0: any number
    bool expert = false;              // hidden in forms until asked for

    // Fluent refinements.
    Field& range(double low, double high);
    Field& at_least(double low);
    Field& above(double low); // exclusive
    Field& or_null(); // an object's default becomes null
    Field& must_be_given();
    Field& exactly(std::size_t count); // items of a list
    Field& in(std::string unit_name);
    Field& for_experts();
};

Field boolean_field(std::string name, bool value, std::string help);
Field integer_field(std::string name, Json value, std::string help);
Field real_field(std::string name, Json value, std::string help);
Field text_field(std::string name, Json value, std::string help);
Field path_field(std::string name, Json value, std::string help);
Field choice_field(std::string name, Json value, std::vector<std::string> choices, std::string help);
Field list_field(std::string name, Json value, Field item, std::string help);
Field object_field(std::string name, FieldTable fields, std::string help);
Field record_field(std::string name, Json value, std::vector<RecordType> records, std::string help);
Field map_field(std::string name, Json value, Field item, std::string help);
Field any_field(std::string name, Json value, std::string help);
/// A cadence in its one form: {"steps": N} | {"epochs": X} | {"minutes": M}. An object with `one_of`.
Field cadence_field(std::string name, Json value, std::string help);
/// The length of a run: a cadence that may also be {"tokens": N}.
Field length_field(std::string name, Json value, std::string help);

/// A document read against a table: normalised (every default filled in, aliases resolved) when there
/// are no errors; always safe to look at.
struct Checked {
    Json value;
    Diagnostics diagnostics;
    bool ok() const { return !has_errors(diagnostics); }
};

/// How large a text may be. Time and memory to read it grow with its bytes alone.
struct JsonLimits {
    std::size_t bytes = 16 << 20;
    std::size_t keys = 100'000;   // of all objects together
    std::size_t key_bytes = 4096; // a name is part of the pointer of all that lies below it
};

/// Text -> JSON. Depth is capped at 64; duplicate keys (the first 20 are listed), NaN and
/// infinities are errors with line and column; comments are allowed. On error `value` is null.
/// `where` names the file in messages.
Checked parse_json(std::string_view text, std::string_view where, const JsonLimits& limits = {});

/// Checks a JSON value against a table and fills in the defaults. Reports every problem, up to 200
/// and up to 20 unknown fields of one object, and how many more there are. Fields come out in the
/// table's order, integers as integers, reals as reals. "$schema" at the root is left out.
Checked check_fields(const Json& value, const FieldTable& table, const std::string& pointer = "");

/// Applies "key.path=value" (value as JSON, else as a string) to a document; array items by number,
/// the number after the last one appends. Keys that hold dots are reached by a JSON pointer
/// ("/mesh/specs/a.b=..."). Problems come back as diagnostics with the pointer of the key; the
/// document is then unchanged.
Diagnostics apply_override(Json& document, std::string_view assignment);

/// JSON schema (draft 2020-12) of a table.
Json json_schema(const FieldTable& table, std::string_view title);

/// Reference page in Markdown: one row per field.
std::string reference_page(const FieldTable& table, std::string_view title);

/// The entry of a path like "training.length" in a table; null when there is none. Inside a record
/// the first record type that has the field answers; items of lists and maps go by any name.
const Field* find_field(const FieldTable& table, std::string_view dotted_path);

} // namespace weft::config
