// SPDX-License-Identifier: Apache-2.0
// Watches every byte of the scratch part of an arena while a program runs: poison that reads as
// NaN, a map of bytes that hold a value, and a snapshot around each step. Slow; for instrumented
// runs. Private to core/exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::exec {

/// Bytes [offset, offset + bytes) of the arena.
struct Span {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

class ArenaMonitor {
public:
    /// Poisons [state_bytes, end). State bytes count as defined throughout.
    ArenaMonitor(std::span<std::byte> arena, std::int64_t state_bytes);

    /// A run begins: only state and what the host wrote are defined; the rest is poisoned.
    void begin_run(std::span<const Span> written_by_host);
    /// Records a read of bytes that nothing has written; takes the snapshot.
    void before_step(const std::string& where, std::span<const Span> inputs);
    /// Records writes outside of outputs and workspace; defines the outputs, poisons the workspace.
    void after_step(const std::string& where, std::span<const Span> outputs, Span workspace);
    /// The lifetime of a buffer is over: who reads it now reads NaN.
    void retire(Span buffer);

    std::int64_t highest_touched_byte() const { return highest_; }
    const std::vector<std::string>& violations() const { return violations_; }

private:
    void poison(Span span);
    void mark(Span span, bool defined);
    void touch(std::int64_t end) { highest_ = end > highest_ ? end : highest_; }

    std::span<std::byte> arena_;
    std::int64_t state_bytes_;
    std::vector<bool> defined_;
    std::vector<std::byte> snapshot_;
    std::vector<bool> writable_; // during one step
    std::int64_t highest_ = 0;
    std::vector<std::string> violations_;
};

} // namespace weft::exec
