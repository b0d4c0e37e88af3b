// SPDX-License-Identifier: Apache-2.0
// What a filter of runs can name: the facts of every run, and the metrics and settings that the
// runs of a list have. A name may be cut short in front ("learning_rate" of
// "optimizer.learning_rate", "accuracy" of "validation/accuracy") where it still is that of one
// alone; a setting goes before a metric, and both before what lies in a list of settings.
#pragma once

#include "core/train/record/run_summary.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

class RunNames {
public:
    enum class Kind : std::uint8_t { fact, setting, metric, item }; // item: in a list of settings
    /// What a name stands for: a number to compare, a text to look into, or either.
    enum class Use : std::uint8_t { number, text };
    struct Named {
        Kind kind = Kind::fact;
        bool number = false;
        bool text = false;
        std::set<std::string> values; // texts that runs have, some of them

        bool fits(Use use) const { return use == Use::number ? number : text; }
    };
    /// The whole name, or what is wrong, as one sentence.
    struct Meant {
        std::string name;
        std::string problem;
    };

    RunNames(); // of no run: the facts
    void add(const RunSummary& run);

    const std::map<std::string, Named>& all() const { return names_; }
    Meant find(std::string_view text, Use use) const;
    /// Whole names of which a part begins so, the most likely first. Case is ignored.
    std::vector<std::string> beginning(std::string_view text) const;

private:
    void add_settings(const config::Json& value, const std::string& path, Kind kind);
    Meant of_other_use(const std::string& name, Use use) const;
    std::vector<std::string> nearest(std::string_view text, Use use) const;

    std::map<std::string, Named> names_;
};

std::string_view source_name(RunSource source);

} // namespace weft::train
