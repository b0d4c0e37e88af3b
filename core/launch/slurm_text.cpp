// SPDX-License-Identifier: Apache-2.0
#include "core/launch/slurm_text.h"

#include "core/base/text.h"

#include <charconv>
#include <vector>

namespace weft::launch {
namespace {

std::optional<int> count_in(std::string_view text) {
    int value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && value > 0 ? std::optional(value) : std::nullopt;
}

/// Up to a million, so that products of it are numbers, too.
std::optional<std::int64_t> number_in(std::string_view text) {
    constexpr std::int64_t kMost = 1'000'000;
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return whole && value >= 0 && value <= kMost ? std::optional(value) : std::nullopt;
}

} // namespace

std::optional<std::string> first_slurm_host(std::string_view list) {
    std::string host;
    for (std::size_t at = 0; at < list.size() && list[at] != ','; ++at) {
        if (list[at] != '[') {
            host += list[at];
            continue;
        }
        const std::size_t end = list.find(']', at);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view numbers = list.substr(at + 1, end - at - 1);
        const std::string_view first = numbers.substr(0, numbers.find_first_of("-,"));
        if (first.empty() || first.find_first_not_of("0123456789") != std::string_view::npos) {
            return std::nullopt;
        }
        host += first;
        at = end;
    }
    const bool odd = host.find_first_of("[] \t\n") != std::string::npos;
    return host.empty() || odd ? std::nullopt : std::optional(host);
}

std::optional<std::int64_t> slurm_seconds(std::string_view limit) {
    const std::size_t dash = limit.find('-');
    const bool with_days = dash != std::string_view::npos;
    std::vector<std::int64_t> parts; // days, hours, minutes, seconds as far as they are there
    if (with_days) {
        const auto days = number_in(limit.substr(0, dash));
        if (!days) {
            return std::nullopt;
        }
        parts.push_back(*days);
    }
    for (const std::string& text :
         split(std::string(limit.substr(with_days ? dash + 1 : 0)), ':')) {
        const auto number = number_in(text);
        if (!number) {
            return std::nullopt;
        }
        parts.push_back(*number);
    }
    if (parts.size() > (with_days ? 4U : 3U)) {
        return std::nullopt;
    }
    if (!with_days) {
        // One number is minutes, two are minutes and seconds, three have hours before them.
        parts.insert(parts.begin(), parts.size() == 3 ? 1 : 2, 0);
    }
    parts.resize(4, 0);
    return ((parts[0] * 24 + parts[1]) * 60 + parts[2]) * 60 + parts[3];
}

std::optional<int> slurm_tasks_of(std::string_view list, int node) {
    int before = 0;
    for (const std::string& part : split(list, ',')) {
        const std::string_view text = part;
        const std::size_t bracket = text.find("(x");
        int nodes = 1;
        if (bracket != std::string_view::npos) {
            const std::optional<int> times =
                text.ends_with(')') ? count_in(text.substr(bracket + 2, text.size() - bracket - 3))
                                    : std::nullopt;
            if (!times) {
                return std::nullopt;
            }
            nodes = *times;
        }
        const std::optional<int> tasks = count_in(text.substr(0, bracket));
        if (!tasks) {
            return std::nullopt;
        }
        if (node - before < nodes) {
            return tasks;
        }
        before += nodes;
    }
    return std::nullopt;
}

} // namespace weft::launch
