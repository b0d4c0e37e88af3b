// SPDX-License-Identifier: Apache-2.0
#include "core/data/files/csv_reader.h"

#include "core/base/text.h"

#include <algorithm>

namespace weft::data {
namespace {

constexpr std::int64_t kCsvPieceBytes = 256 * 1024;
constexpr std::size_t kLongestRecord = 16 << 20;
constexpr int kEnd = -1;

} // namespace

CsvReader::CsvReader(const Path& path, char separator, std::int64_t most_bytes,
                     const CsvPlace& begin)
    : file_(path, File::Mode::read, ErrorKind::data), separator_(separator), line_(begin.line) {
    const std::int64_t bytes = file_.size();
    end_ = std::min(bytes, most_bytes);
    offset_ = std::min(begin.offset, end_);
    cut_ = end_ < bytes;
    refill();
    if (begin.offset == 0 && piece_.starts_with("\xef\xbb\xbf")) {
        at_ = 3;
    }
}

void CsvReader::fail(std::int64_t line, const std::string& text, const std::string& hint) const {
    throw Error(ErrorKind::data, file_.path().string() + ", line " + format_thousands(line), text,
                hint);
}

void CsvReader::refill() {
    const auto bytes = static_cast<std::size_t>(std::min(kCsvPieceBytes, end_ - offset_));
    piece_.resize(bytes);
    file_.read_at(std::as_writable_bytes(std::span(piece_)), offset_);
    if (offset_ == 0 && (piece_.starts_with("\xff\xfe") || piece_.starts_with("\xfe\xff"))) {
        fail(1, "the file is UTF-16", "Save it as UTF-8.");
    }
    offset_ += static_cast<std::int64_t>(bytes);
    at_ = 0;
    if (piece_.find('\0') != std::string::npos) {
        fail(line_, "there are zero bytes: this is no text",
             "Check that it is a table saved as text, not a spreadsheet or an archive.");
    }
}

int CsvReader::peek() {
    if (at_ == piece_.size()) {
        if (offset_ == end_) {
            return kEnd;
        }
        refill();
    }
    return static_cast<unsigned char>(piece_[at_]);
}

int CsvReader::get() {
    int character = peek();
    if (character == kEnd) {
        return kEnd;
    }
    ++at_;
    if (character == '\r') {
        at_ += peek() == '\n' ? 1 : 0;
        character = '\n';
    }
    line_ += character == '\n' ? 1 : 0;
    if (++record_bytes_ > kLongestRecord) {
        fail(record_line_, "a record is longer than " + format_bytes(kLongestRecord),
             "A quote is probably not closed; check the separator and the quotes.");
    }
    return character;
}

void CsvReader::read_quoted(std::string& field) {
    const std::int64_t opened = line_;
    for (;;) {
        const int character = get();
        if (character == kEnd) {
            if (!cut_) {
                fail(opened, "a quote is opened and never closed",
                     "Close it, or write \"\" for a quote within quotes.");
            }
            return;
        }
        if (character != '"') {
            field += static_cast<char>(character);
        } else if (peek() == '"') {
            field += static_cast<char>(get());
        } else {
            return;
        }
    }
}

bool CsvReader::next(std::vector<std::string>& fields) {
    while (peek() == '\n' || peek() == '\r') {
        get();
    }
    record_line_ = line_;
    record_bytes_ = 0;
    if (peek() == kEnd) {
        return false;
    }
    std::size_t count = 0;
    const auto begin_field = [&]() -> std::string& {
        if (count == fields.size()) {
            fields.emplace_back();
        }
        fields[count].clear();
        return fields[count++];
    };
    std::string* field = &begin_field();
    for (;;) {
        const int character = get();
        if (character == kEnd || character == '\n') {
            fields.resize(count);
            return character == '\n' || !cut_;
        }
        if (character == static_cast<unsigned char>(separator_)) {
            field = &begin_field();
        } else if (character == '"' && field->empty()) {
            read_quoted(*field);
        } else {
            *field += static_cast<char>(character);
        }
    }
}

} // namespace weft::data
