// SPDX-License-Identifier: Apache-2.0
// A digest of bytes in their order (FNV-1a, 64 bits): quick, the same everywhere, and no protection
// against somebody who looks for two that agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft {

class Fnv1a {
public:
    void add(std::span<const std::byte> bytes) {
        for (const std::byte byte : bytes) {
            value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
        }
    }
    void add(std::int64_t number) { add(std::as_bytes(std::span(&number, 1))); }
    /// With its length, so that it does not run into the next.
    void add(std::string_view text) {
        add(static_cast<std::int64_t>(text.size()));
        add(std::as_bytes(std::span(text)));
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 14695981039346656037U;
};

} // namespace weft
