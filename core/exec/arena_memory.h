// SPDX-License-Identifier: Apache-2.0
// The memory of one arena: mapped once, zero-filled, unmapped with the object. Pages come when they
// are asked for, so that a plan's bytes are there before a run needs them, and those of programs
// that never run are not taken. Private to core/exec.
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

    /// Makes the bytes [0, end) resident; what was resident stays as it is. Throws
    /// weft::Error{memory}.
    void take(std::int64_t end);
    /// Bytes that are resident by `take`.
    std::int64_t taken_bytes() const { return static_cast<std::int64_t>(taken_); }

    std::byte* data() const { return data_; }
    std::span<std::byte> bytes() const { return {data_, size_}; }

private:
    void* mapping_ = nullptr;
    std::size_t mapped_ = 0;
    std::byte* data_ = nullptr; // aligned within the mapping
    std::size_t size_ = 0;
    std::size_t taken_ = 0;
};

} // namespace weft::exec
