// SPDX-License-Identifier: Apache-2.0
// A whole run for data that somebody brings: model, loss, optimizer, length by what the samples
// are.
#pragma once

#include "core/data/dataset.h"

#include <string>
#include <vector>

namespace weft::advise {

struct Suggestion {
    /// A configuration as a person would write it: what differs from the defaults. It passes
    /// read_run_config with the same base_dir.
    config::Json document;
    std::vector<std::string> reasons; // what was chosen and why, for people
};

/// `data_section`: e.g. Recognised::data. `name`: of the run. Looks at the data's outline, for
/// which `opening` says all but the length of sequences; throws weft::Error{data or usage} as
/// outline_data does. Any thread.
Suggestion suggest_run(const config::Json& data_section, const data::OpenContext& opening,
                       const std::string& name);

/// Whether the tokens of samples are bytes of text, as far as anybody knows.
bool reads_bytes(const data::SampleInfo& sample);

} // namespace weft::advise
