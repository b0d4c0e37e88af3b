// SPDX-License-Identifier: Apache-2.0
// Sources made of other sources: a part of one, and one that is opened when it is first used.
#pragma once

#include "core/data/split.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::data {

/// The samples `indices` of `source`, in this order. `part` names them in the description, e.g.
/// "validation".
std::shared_ptr<const Source> subset(std::shared_ptr<const Source> source,
                                     std::vector<std::int64_t> indices, std::string part);

/// The same for many samples of a source that streams: `runs`, each within a block, are the blocks
/// of what is returned.
std::shared_ptr<const Source> subset(std::shared_ptr<const Source> source, std::vector<Run> runs,
                                     std::string part);

/// Samples without targets of their own, that are told of as those of `info` are: same classes and
/// names, own description.
std::shared_ptr<const Source> told_as(std::shared_ptr<const Source> source, const SampleInfo& info);

/// Calls `open` once, at the first use, with a list that takes its notes. When it throws, every later
/// use tries again.
std::shared_ptr<const Source>
opened_on_demand(std::function<std::shared_ptr<const Source>(Notes& notes)> open);

} // namespace weft::data
