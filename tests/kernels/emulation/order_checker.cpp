// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulation/order_checker.h"

#include <algorithm>

namespace weft::test {

void merge(VectorClock& into, const VectorClock& from) {
    into.resize(std::max(into.size(), from.size()), -1);
    for (std::size_t i = 0; i < from.size(); ++i) {
        into[i] = std::max(into[i], from[i]);
    }
}

/// The stretch that begins at `at`, after cutting the one that holds it; or the next one behind.
OrderChecker::Stretches::iterator OrderChecker::cut(std::uintptr_t at) {
    auto next = stretches_.lower_bound(at);
    if (next != stretches_.end() && next->first == at) {
        return next;
    }
    if (next != stretches_.begin()) {
        const auto before = std::prev(next);
        if (before->second.end > at) {
            Stretch rest = before->second;
            before->second.end = at;
            return stretches_.emplace(at, std::move(rest)).first;
        }
    }
    return next;
}

std::string OrderChecker::touch(const std::vector<Access>& accesses, int stream, std::int64_t item,
                                const VectorClock& known, const std::string& name) {
    const auto ordered = [&](const Toucher& before) {
        const auto of = static_cast<std::size_t>(before.stream);
        return before.stream < 0 || before.stream == stream ||
               (of < known.size() && known[of] >= before.item);
    };
    const auto complain = [&](const char* what, const Toucher& before) {
        return name + " on stream " + std::to_string(stream) + " " + what + " " + before.name +
               " on stream " + std::to_string(before.stream) + " and nothing orders the two";
    };
    const Toucher own{stream, item, name};
    for (const Access& access : accesses) {
        if (access.begin >= access.end) {
            continue;
        }
        auto at = cut(access.begin);
        cut(access.end);
        for (std::uintptr_t begin = access.begin; begin < access.end;) {
            if (at == stretches_.end() || at->first > begin) { // bytes that nobody has touched yet
                const std::uintptr_t end =
                    at == stretches_.end() ? access.end : std::min(access.end, at->first);
                at = stretches_.emplace(begin, Stretch{end, {}, {}}).first;
            }
            Stretch& stretch = at->second;
            if (!ordered(stretch.writer)) {
                return complain(access.writes ? "writes what is written by"
                                              : "reads what is "
                                                "written by",
                                stretch.writer);
            }
            if (access.writes) {
                for (const Toucher& reader : stretch.readers) {
                    if (!ordered(reader)) {
                        return complain("writes what is read by", reader);
                    }
                }
                stretch.writer = own;
                stretch.readers.clear();
            } else {
                const auto same =
                    std::find_if(stretch.readers.begin(), stretch.readers.end(),
                                 [&](const Toucher& reader) { return reader.stream == stream; });
                if (same == stretch.readers.end()) {
                    stretch.readers.push_back(own);
                } else {
                    *same = own;
                }
            }
            begin = stretch.end;
            ++at;
        }
    }
    return {};
}

} // namespace weft::test
