// SPDX-License-Identifier: Apache-2.0
// Sources made of other sources: a part of one, one that is opened when it is first used, and what
// those share that change what is read alone.
#pragma once

#include "core/data/split.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::data {

/// Has as many samples as another source, in the same blocks, and tells of them what that does.
/// Reading them is left to who derives from it.
class SourceOver : public Source {
public:
    const SampleInfo& info() const override { return source_->info(); }
    std::int64_t samples() const override { return source_->samples(); }
    std::span<const std::int64_t> blocks() const override { return source_->blocks(); }
    std::int32_t label(std::int64_t index) const override { return source_->label(index); }
    std::int64_t origin(std::int64_t index) const override { return source_->origin(index); }
    std::string place_of(std::int64_t index) const override { return source_->place_of(index); }
    std::int64_t cache_bytes() const override { return source_->cache_bytes(); }
    std::string fingerprint() const override { return source_->fingerprint(); }
    std::shared_ptr<const Encoding> encoding() const override { return source_->encoding(); }
    TargetScale target_scale() const override { return source_->target_scale(); }

protected:
    explicit SourceOver(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
    const Source& source() const { return *source_; }

private:
    std::shared_ptr<const Source> source_;
};

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
