// SPDX-License-Identifier: Apache-2.0
// Records of a text table (RFC 4180, with any separator): quoted fields may hold separators, line
// ends and doubled quotes; lines end with LF, CRLF or CR; blank lines are no records.
#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weft::data {

/// Where a record begins.
struct CsvPlace {
    std::int64_t offset = 0;
    std::int64_t line = 1;
};

/// Reads a file from its beginning or another record's, a piece at a time. A byte-order mark of
/// UTF-8 is skipped. Every failure is an Error{data} with path and line. One thread at a time.
class CsvReader {
public:
    /// Of the file's first `most_bytes`: a record that reaches beyond them is not read.
    CsvReader(const Path& path, char separator,
              std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max(),
              const CsvPlace& begin = {});

    /// The next record; false when there is none. Throws for a quote that is never closed, and for
    /// what is no text.
    bool next(std::vector<std::string>& fields);
    /// Line of the file on which that record starts, from 1.
    std::int64_t line() const { return record_line_; }
    /// Where the next record begins, after blank lines.
    CsvPlace place() const { return {bytes_read(), line_}; }
    /// Bytes of the file up to the end of that record, and in all.
    std::int64_t bytes_read() const {
        return offset_ - static_cast<std::int64_t>(piece_.size() - at_);
    }
    std::int64_t bytes() const { return end_; }

private:
    int get();
    int peek();
    void refill();
    void read_quoted(std::string& field);
    [[noreturn]] void fail(std::int64_t line, const std::string& text,
                           const std::string& hint) const;

    File file_;
    char separator_;
    std::int64_t end_;        // bytes to read of the file
    bool cut_;                // the file goes on after them
    std::int64_t offset_ = 0; // of the next piece
    std::string piece_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
    std::int64_t record_line_ = 1;
    std::size_t record_bytes_ = 0;
};

} // namespace weft::data
