// SPDX-License-Identifier: Apache-2.0
// Reading files that may be gzip-compressed (RFC 1952), with a bound on what comes out.
#pragma once

#include "core/base/file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace weft::data {

/// A file read from its beginning to its end, decompressed where it starts with the gzip magic.
/// Every failure is an Error{data} with path and byte offset. One thread at a time.
class InputFile {
public:
    explicit InputFile(const Path& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const Path& path() const;
    /// No more bytes than this can come out: the size, or for gzip 1,032 times the size plus a
    /// block (RFC 1951: 258 bytes for two bits at best). Sizes in headers are checked against it.
    std::int64_t most_bytes() const;
    /// Fills `bytes`; an early end is an error that names `what`.
    void read(std::span<std::byte> bytes, const char* what);
    /// Checks that nothing follows and that gzip's own checksum and length are right.
    void expect_end();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::data
