// SPDX-License-Identifier: Apache-2.0
#include "core/train/left_out.h"

#include "core/base/text.h"
#include "core/data/files/damaged_files.h"

namespace weft::train {

std::string note_left_out(LeftOutSamples& known, const std::string& part,
                          const std::vector<data::LeftOut>& found) {
    if (found.empty()) {
        return "";
    }
    std::set<std::int64_t>& all = known[part];
    std::vector<std::string> named;
    std::int64_t added = 0;
    for (const data::LeftOut& one : found) {
        if (all.insert(one.index).second && ++added <= std::int64_t{data::kMostNamedBad}) {
            named.push_back(one.fault);
        }
    }
    if (added == 0) {
        return "";
    }
    const auto count = static_cast<std::int64_t>(all.size());
    return format_thousands(added) + " damaged sample" + (added == 1 ? "" : "s") + " of " + part +
           (added == 1 ? " is" : " are") + " left out: " + join(named, "; ") +
           (added > std::int64_t{data::kMostNamedBad} ? "; ..." : "") +
           (count > added ? "; " + format_thousands(count) + " so far" : "");
}

void drop_mended(std::set<std::int64_t>& known, const data::Source& source) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(source.info().target.bytes()));
    std::erase_if(known, [&](std::int64_t index) {
        if (index < 0 || index >= source.samples()) {
            return true;
        }
        try {
            source.read(index, input, target);
            return true;
        } catch (const Error&) {
            return false; // whoever needs it will say so
        }
    });
}

} // namespace weft::train
