// SPDX-License-Identifier: Apache-2.0
#include "core/exec/arena_monitor.h"

#include <algorithm>
#include <cstring>

namespace weft::exec {
namespace {

constexpr int kPoison = 0xff; // NaN in f32, bf16 and f64; -1 in integers
constexpr std::size_t kMaxViolations = 20;

auto at(std::vector<bool>& map, std::int64_t offset) {
    return map.begin() + static_cast<std::ptrdiff_t>(offset);
}

} // namespace

ArenaMonitor::ArenaMonitor(std::span<std::byte> arena, std::int64_t state_bytes)
    : arena_(arena), state_bytes_(state_bytes), defined_(arena.size(), false),
      snapshot_(arena.size()), writable_(arena.size(), false) {
    mark({0, state_bytes}, true);
    touch(state_bytes);
    poison({state_bytes, static_cast<std::int64_t>(arena.size()) - state_bytes});
}

void ArenaMonitor::poison(Span span) {
    if (span.bytes > 0) {
        std::memset(arena_.data() + span.offset, kPoison, static_cast<std::size_t>(span.bytes));
    }
}

void ArenaMonitor::mark(Span span, bool defined) {
    std::fill(at(defined_, span.offset), at(defined_, span.offset + span.bytes), defined);
}

void ArenaMonitor::begin_run(std::span<const Span> written_by_host) {
    mark({state_bytes_, static_cast<std::int64_t>(arena_.size()) - state_bytes_}, false);
    for (const Span& span : written_by_host) {
        mark(span, true);
        touch(span.offset + span.bytes);
    }
    for (std::size_t i = 0; i < arena_.size(); ++i) {
        if (!defined_[i]) {
            arena_[i] = static_cast<std::byte>(kPoison);
        }
    }
}

void ArenaMonitor::before_step(const std::string& where, std::span<const Span> inputs) {
    for (const Span& span : inputs) {
        const bool all =
            std::all_of(at(defined_, span.offset), at(defined_, span.offset + span.bytes),
                        [](bool defined) { return defined; });
        if (!all && violations_.size() < kMaxViolations) {
            violations_.push_back(where + " reads bytes from " + std::to_string(span.offset) +
                                  " on that nothing has written");
        }
    }
    std::memcpy(snapshot_.data(), arena_.data(), arena_.size());
}

void ArenaMonitor::after_step(const std::string& where, std::span<const Span> outputs,
                              Span workspace) {
    const auto allow = [&](bool flag) {
        for (const Span& span : outputs) {
            std::fill(at(writable_, span.offset), at(writable_, span.offset + span.bytes), flag);
        }
        std::fill(at(writable_, workspace.offset),
                  at(writable_, workspace.offset + workspace.bytes), flag);
    };
    allow(true);
    bool reported = false;
    for (std::size_t i = 0; i < arena_.size(); ++i) {
        if (arena_[i] == snapshot_[i]) {
            continue;
        }
        touch(static_cast<std::int64_t>(i) + 1);
        if (!writable_[i] && !reported && violations_.size() < kMaxViolations) {
            violations_.push_back(where + " writes byte " + std::to_string(i) +
                                  ", which belongs to none of its outputs");
            reported = true;
        }
    }
    allow(false);
    for (const Span& span : outputs) {
        mark(span, true);
    }
    retire(workspace);
}

void ArenaMonitor::retire(Span buffer) {
    poison(buffer);
    mark(buffer, false);
}

} // namespace weft::exec
