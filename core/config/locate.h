// SPDX-License-Identifier: Apache-2.0
// Where a field stands in the text of a document, for editors and listings.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::config {

/// Bytes [begin, end) of the text, and where that begins for people: both count from 1, columns in
/// characters.
struct Location {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t line = 1;
    std::size_t column = 1;
};

/// The field at a JSON pointer: from its key to the end of a plain value, its key alone when the
/// value is a list or an object. Of a field given twice the last one; for a field that is not there
/// the nearest one around it. In text that is not JSON every pointer leads to the place where
/// reading stops. Comments are skipped, as parse_json does.
Location locate(std::string_view text, std::string_view pointer);

} // namespace weft::config
