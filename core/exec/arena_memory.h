// SPDX-License-Identifier: Apache-2.0
// The memory of one arena: mapped once, zero-filled, unmapped with the object. Private to
// core/exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::exec {

class ArenaMemory {
public:
    /// Asks for huge pages when the arena is large enough to gain from them. Throws
    /// weft::Error{memory}.
    explicit ArenaMemory(std::int64_t bytes);
    ~ArenaMemory();
    ArenaMemory(const ArenaMemory&) = delete;
    ArenaMemory& operator=(const ArenaMemory&) = delete;

    std::byte* data() const { return data_; }
    std::span<std::byte> bytes() const { return {data_, size_}; }

private:
    void* mapping_ = nullptr;
    std::size_t mapped_ = 0;
    std::byte* data_ = nullptr; // aligned within the mapping
    std::size_t size_ = 0;
};

} // namespace weft::exec
