// SPDX-License-Identifier: Apache-2.0
// What a field table says of its settings, as text: the rows of the reference, which `weft help
// config` writes as Markdown and the studio shows with F1.
#pragma once

#include "core/config/field.h"

namespace weft::config {

/// One setting. What is literal in `type` stands between back quotes.
struct ReferenceRow {
    std::string path; // "training.length"
    std::string type;
    std::string default_value; // as JSON; empty: none of its own
    bool required = false;
    std::string range; // with its unit
    std::string help;
};

/// The settings of one record type, or of the whole table where `record` is null.
struct ReferenceTable {
    std::string path; // of the field that it is a type of
    const RecordType* record = nullptr;
    std::vector<ReferenceRow> rows;
};

/// The table itself, then every record type that a table before it mentions. `table` must live on.
std::vector<ReferenceTable> reference_tables(const FieldTable& table);

} // namespace weft::config
