// SPDX-License-Identifier: Apache-2.0
#include "core/data/lengths.h"

#include "core/base/text.h"
#include "core/data/formats/format.h"

#include <algorithm>
#include <cstdio>

namespace weft::data {
namespace {

using config::Json;

constexpr std::int64_t kRangesWithin = 7; // of the context: below a sixty-fourth all are short

std::string percent(double share) {
    const double hundredths = 100 * share;
    char text[32];
    std::snprintf(text, sizeof(text), hundredths < 10 ? "%.1f %%" : "%.0f %%", hundredths);
    return text;
}

std::string fate_of_longer(Lengths::Beyond beyond) {
    switch (beyond) {
    case Lengths::Beyond::goes_on: return "go on in the next sample";
    case Lengths::Beyond::cut_off: return "are cut off";
    case Lengths::Beyond::left_out: return "are left out";
    }
    return "";
}

/// The source that the samples of a part come from; null: there is none.
Json source_of(const Json& section, const std::string& part) {
    const Json& named = section.at(part);
    const bool own = named.is_object() && named.contains("type");
    return own ? named : part == "validation" && named.is_object() ? section.at("train") : Json();
}

} // namespace

std::int64_t Lengths::longer() const {
    return each.end() - std::upper_bound(each.begin(), each.end(), context);
}

double Lengths::median() const {
    if (each.empty()) {
        return 0;
    }
    const std::size_t half = each.size() / 2;
    return each.size() % 2 == 1 ? static_cast<double>(each[half])
                                : static_cast<double>(each[half - 1] + each[half]) / 2;
}

double Lengths::padding() const {
    if (sharing != Sharing::apart || context <= 0) {
        return 0;
    }
    std::int64_t samples = 0, used = 0;
    for (const std::int64_t length : each) {
        if (length <= context || beyond != Beyond::left_out) {
            ++samples;
            used += std::min(length, context);
        }
    }
    return samples == 0 ? 0
                        : 1 - static_cast<double>(used) / static_cast<double>(samples * context);
}

std::vector<LengthRange> length_ranges(const Lengths& lengths) {
    std::vector<LengthRange> out;
    if (lengths.each.empty() || lengths.context <= 0) {
        return out;
    }
    std::vector<std::int64_t> ends = {lengths.context};
    while (std::ssize(ends) < kRangesWithin && ends.front() > 1) {
        ends.insert(ends.begin(), ends.front() / 2);
    }
    while (ends.back() < lengths.each.back()) {
        ends.push_back(ends.back() * 2);
    }
    std::int64_t first = 0;
    auto at = lengths.each.begin();
    for (const std::int64_t last : ends) {
        const auto next = std::upper_bound(at, lengths.each.end(), last);
        out.push_back({first, last, next - at});
        at = next;
        first = last + 1;
    }
    out.back().last = std::max(lengths.context, lengths.each.back());
    return out;
}

std::vector<std::string> length_findings(const Lengths& lengths) {
    const std::string context = format_thousands(lengths.context) + " " + lengths.unit;
    if (lengths.each.empty()) {
        return {};
    }
    std::vector<std::string> out;
    const std::int64_t longer = lengths.longer();
    if (longer == 0) {
        out.push_back("None of the " + lengths.things + " is longer than the context of " +
                      context + ".");
    } else {
        const double share =
            static_cast<double>(longer) / static_cast<double>(std::ssize(lengths.each));
        out.push_back(percent(share) + " of the " + lengths.things + " (" +
                      format_thousands(longer) + ") are longer than the context of " + context +
                      " and " + fate_of_longer(lengths.beyond) + ".");
    }
    switch (lengths.sharing) {
    case Lengths::Sharing::run:
        out.push_back("The " + lengths.things + " follow one another without padding.");
        break;
    case Lengths::Sharing::apart:
        out.push_back(percent(lengths.padding()) + " of all positions are padding.");
        break;
    case Lengths::Sharing::packed:
        out.push_back("As many of the " + lengths.things + " as have room are one sample.");
        break;
    }
    if (!lengths.all) {
        out.push_back("Of those in the first " + format_bytes(kMostMeasuredBytes) + ".");
    }
    return out;
}

std::optional<Lengths> lengths_of(const Json& data_section, const OpenContext& given,
                                  const std::string& part) {
    const Json section = checked_section(data_section);
    const Json source = source_of(section, part);
    if (source.is_null() || given.sequence_length <= 0) {
        return std::nullopt;
    }
    const FormatDef& format = format_of(source);
    if (format.lengths == nullptr) {
        return std::nullopt;
    }
    std::optional<Lengths> out = format.lengths(source, with_settings(given, section));
    if (out) {
        std::sort(out->each.begin(), out->each.end());
    }
    return out;
}

} // namespace weft::data
