// SPDX-License-Identifier: Apache-2.0
#include "core/data/views.h"

#include "core/data/forms.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace weft::data {
namespace {

/// Some samples of a source, under numbers of their own.
class PartOfSource : public Source {
public:
    PartOfSource(std::shared_ptr<const Source> source, std::string part)
        : source_(std::move(source)), info_(source_->info()), part_(std::move(part)) {}

    const SampleInfo& info() const override { return info_; }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        source_->read(checked_index(index), input, target);
    }
    void read_in_epoch(std::int64_t index, std::int64_t epoch, std::span<std::byte> input,
                       std::span<std::byte> target) const override {
        source_->read_in_epoch(checked_index(index), epoch, input, target);
    }
    std::int32_t label(std::int64_t index) const override {
        return source_->label(checked_index(index));
    }
    std::int64_t origin(std::int64_t index) const override {
        return source_->origin(checked_index(index));
    }
    std::string place_of(std::int64_t index) const override {
        return source_->place_of(checked_index(index));
    }
    std::int64_t cache_bytes() const override { return source_->cache_bytes(); }
    std::string fingerprint() const override {
        return source_->fingerprint() + ", " + part_ + " " + std::to_string(samples());
    }
    std::shared_ptr<const Encoding> encoding() const override { return source_->encoding(); }
    TargetScale target_scale() const override { return source_->target_scale(); }

protected:
    const Source& source() const { return *source_; }
    /// Once the number of samples is known.
    void describe() {
        info_.description += " (" + part_ + ": " + format_thousands(samples()) + ")";
    }
    std::int64_t checked_index(std::int64_t index) const {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        return whole_index(index);
    }

private:
    virtual std::int64_t whole_index(std::int64_t index) const = 0;

    std::shared_ptr<const Source> source_;
    SampleInfo info_;
    std::string part_;
};

class SamplesOfSource final : public PartOfSource {
public:
    SamplesOfSource(std::shared_ptr<const Source> source, std::vector<std::int64_t> indices,
                    std::string part)
        : PartOfSource(std::move(source), std::move(part)), indices_(std::move(indices)) {
        describe();
    }

    std::int64_t samples() const override { return static_cast<std::int64_t>(indices_.size()); }
    std::int64_t cache_bytes() const override {
        return source().cache_bytes() +
               static_cast<std::int64_t>(indices_.capacity() * sizeof(indices_[0]));
    }

private:
    std::int64_t whole_index(std::int64_t index) const override {
        return indices_[static_cast<std::size_t>(index)];
    }

    std::vector<std::int64_t> indices_;
};

class RunsOfSource final : public PartOfSource {
public:
    RunsOfSource(std::shared_ptr<const Source> source, std::vector<Run> runs, std::string part)
        : PartOfSource(std::move(source), std::move(part)), runs_(std::move(runs)) {
        starts_.push_back(0);
        for (const Run& run : runs_) {
            starts_.push_back(starts_.back() + run.samples);
        }
        describe();
    }

    std::int64_t samples() const override { return starts_.back(); }
    std::span<const std::int64_t> blocks() const override { return starts_; }
    void read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                  const RowsOut& out) const override {
        source().read_run(checked_index(first), epoch, out);
    }

private:
    std::int64_t whole_index(std::int64_t index) const override {
        const auto after = std::upper_bound(starts_.begin(), starts_.end(), index);
        const auto at = static_cast<std::size_t>(after - starts_.begin() - 1);
        return runs_[at].first + index - starts_[at];
    }

    std::vector<Run> runs_;
    std::vector<std::int64_t> starts_;
};

class InputSource final : public Source {
public:
    InputSource(std::shared_ptr<const Source> source, const SampleInfo& info)
        : source_(std::move(source)), info_(info) {
        info_.description = source_->info().description;
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return source_->samples(); }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        source_->read(index, input, target);
    }
    std::span<const std::int64_t> blocks() const override { return source_->blocks(); }
    void read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                  const RowsOut& out) const override {
        source_->read_run(first, epoch, out);
    }
    std::int32_t label(std::int64_t index) const override { return source_->label(index); }
    std::string place_of(std::int64_t index) const override { return source_->place_of(index); }
    std::int64_t cache_bytes() const override { return source_->cache_bytes(); }
    std::string fingerprint() const override { return source_->fingerprint(); }
    TargetScale target_scale() const override { return source_->target_scale(); }

private:
    std::shared_ptr<const Source> source_;
    SampleInfo info_;
};

class OnDemandSource final : public Source {
public:
    using Open = std::function<std::shared_ptr<const Source>(Notes& notes)>;

    explicit OnDemandSource(Open open) : open_(std::move(open)) {}

    const SampleInfo& info() const override { return source().info(); }
    std::int64_t samples() const override { return source().samples(); }
    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        source().read(index, input, target);
    }
    std::span<const std::int64_t> blocks() const override { return source().blocks(); }
    void read_run(std::int64_t first, std::optional<std::int64_t> epoch,
                  const RowsOut& out) const override {
        source().read_run(first, epoch, out);
    }
    std::int32_t label(std::int64_t index) const override { return source().label(index); }
    std::int64_t origin(std::int64_t index) const override { return source().origin(index); }
    std::string place_of(std::int64_t index) const override { return source().place_of(index); }
    // Asking what it occupies is no use of it.
    std::int64_t cache_bytes() const override {
        const std::lock_guard lock(mutex_);
        return source_ == nullptr ? 0 : source_->cache_bytes();
    }
    std::string fingerprint() const override { return source().fingerprint(); }
    std::shared_ptr<const Encoding> encoding() const override { return source().encoding(); }
    TargetScale target_scale() const override { return source().target_scale(); }
    Notes notes() const override {
        const std::lock_guard lock(mutex_);
        return notes_;
    }
    const Source& source() const {
        const std::lock_guard lock(mutex_);
        if (source_ == nullptr) {
            notes_.clear();
            source_ = open_(notes_);
        }
        return *source_;
    }

private:
    Open open_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Source> source_;
    mutable Notes notes_;
};

} // namespace

std::shared_ptr<const Source> subset(std::shared_ptr<const Source> source,
                                     std::vector<std::int64_t> indices, std::string part) {
    WEFT_CHECK(!indices.empty(), "a part has at least one sample");
    return std::make_shared<SamplesOfSource>(std::move(source), std::move(indices),
                                             std::move(part));
}

std::shared_ptr<const Source> subset(std::shared_ptr<const Source> source, std::vector<Run> runs,
                                     std::string part) {
    WEFT_CHECK(!runs.empty(), "a part has at least one sample");
    return std::make_shared<RunsOfSource>(std::move(source), std::move(runs), std::move(part));
}

std::shared_ptr<const Source> told_as(std::shared_ptr<const Source> source,
                                      const SampleInfo& info) {
    return std::make_shared<InputSource>(std::move(source), info);
}

std::shared_ptr<const Source>
opened_on_demand(std::function<std::shared_ptr<const Source>(Notes& notes)> open) {
    return std::make_shared<OnDemandSource>(std::move(open));
}

const AskedInForms* asked_in_forms(const Source& source) {
    const auto* on_demand = dynamic_cast<const OnDemandSource*>(&source);
    return dynamic_cast<const AskedInForms*>(on_demand == nullptr ? &source : &on_demand->source());
}

} // namespace weft::data
