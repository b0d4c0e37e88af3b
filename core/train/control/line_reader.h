// SPDX-License-Identifier: Apache-2.0
// Lines out of bytes that come in pieces, as over a socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::train {

/// Every byte is looked at once, however small the pieces are.
class LineReader {
public:
    void add(std::string_view bytes) { bytes_ += bytes; }
    /// The next whole line, without its newline.
    std::optional<std::string> next() {
        const std::size_t end = bytes_.find('\n', searched_);
        if (end == std::string::npos) {
            bytes_.erase(0, begin_);
            begin_ = 0;
            searched_ = bytes_.size();
            return std::nullopt;
        }
        std::string line = bytes_.substr(begin_, end - begin_);
        begin_ = searched_ = end + 1;
        return line;
    }
    /// Bytes of a line that has no end yet; after next() has none.
    std::size_t rest() const { return bytes_.size() - begin_; }
    void clear_rest() {
        bytes_.clear();
        begin_ = searched_ = 0;
    }

private:
    std::string bytes_;
    std::size_t begin_ = 0;
    std::size_t searched_ = 0;
};

} // namespace weft::train
