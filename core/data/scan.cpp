// SPDX-License-Identifier: Apache-2.0
#include "core/data/scan.h"

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/moments.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace weft::data {
namespace {

constexpr auto kTold = std::chrono::milliseconds(200);

/// A sample of one of the parts, by its number among all.
struct Place {
    std::size_t part;
    std::int64_t index;
};

/// 64 bits of a sample's inputs: two checksums of 32 over different bytes.
std::uint64_t key_of(std::span<const std::byte> bytes) {
    const std::uint32_t whole = crc32c(bytes);
    const std::uint32_t half = crc32c(bytes.subspan(bytes.size() / 2), 0x5bd1e995);
    return std::uint64_t{whole} << 32 | half;
}

/// Samples one after the other; of a source that streams as many at once as can be read.
class InOrder {
public:
    explicit InOrder(const Source& source)
        : source_(source), input_bytes_(static_cast<std::size_t>(source.info().input.bytes())),
          target_bytes_(static_cast<std::size_t>(source.info().target.bytes())) {}

    /// Throws as Source::read.
    void read(std::int64_t index) {
        if (index >= end_) {
            load(index);
        }
        row_ = static_cast<std::size_t>(index - first_);
    }
    std::span<const std::byte> input() const {
        return std::span(inputs_).subspan(row_ * input_bytes_, input_bytes_);
    }
    std::span<const std::byte> target() const {
        return std::span(targets_).subspan(row_ * target_bytes_, target_bytes_);
    }

private:
    /// To the end of a block; around a fault fewer and fewer, until it is that of one sample, and
    /// then more again.
    void load(std::int64_t index) {
        std::int64_t count = std::min(at_once_, left_in_block(index));
        while (!try_to_load(index, count)) {
            count /= 2;
        }
        first_ = index;
        end_ = index + count;
        at_once_ = 2 * count;
    }

    std::int64_t left_in_block(std::int64_t index) const {
        const std::span<const std::int64_t> blocks = source_.blocks();
        const auto end = std::upper_bound(blocks.begin(), blocks.end(), index);
        return end == blocks.end() ? 1 : *end - index;
    }

    /// False when some of several cannot be read.
    bool try_to_load(std::int64_t index, std::int64_t count) {
        std::vector<std::uint32_t> places(static_cast<std::size_t>(count));
        std::iota(places.begin(), places.end(), 0U);
        inputs_.resize(places.size() * input_bytes_);
        targets_.resize(places.size() * target_bytes_);
        try {
            source_.read_run(index, std::nullopt, {places, inputs_, targets_, scratch_});
        } catch (const Error&) {
            if (count == 1) {
                at_once_ = 1;
                throw;
            }
            return false;
        }
        return true;
    }

    const Source& source_;
    std::size_t input_bytes_, target_bytes_;
    std::vector<std::byte> inputs_, targets_, scratch_;
    std::int64_t first_ = 0, end_ = 0; // samples that are here
    std::int64_t at_once_ = std::numeric_limits<std::int32_t>::max();
    std::size_t row_ = 0;
};

class Scanner {
public:
    Scanner(const DataSet& set, const std::function<void(const ScanProgress&)>& progress,
            std::stop_token stop)
        : progress_(progress), stop_(std::move(stop)) {
        add("train", set.train);
        add("validation", set.validation);
        add("test", set.test);
        for (const auto& [name, source] : sources_) {
            total_ += source->samples();
        }
        share_ = (total_ + kMostRemembered - 1) / kMostRemembered;
    }

    /// False when stopped.
    bool run(ScanReport& report) {
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            PartScan part;
            part.part = sources_[i].first;
            if (!scan_part(i, part)) {
                return false;
            }
            report.parts.push_back(std::move(part));
        }
        return true;
    }

private:
    void add(const char* name, const std::shared_ptr<const Source>& source) {
        if (source != nullptr) {
            sources_.emplace_back(name, source);
        }
    }

    bool scan_part(std::size_t at, PartScan& out) {
        const Source& source = *sources_[at].second;
        const SampleInfo& info = source.info();
        out.samples = source.samples();
        out.class_counts.assign(
            info.input.dtype == ir::DType::f32 ? static_cast<std::size_t>(info.classes) : 0, 0);
        begin_values(info);
        out.duplicate_share = share_;
        InOrder samples(source);
        for (std::int64_t i = 0; i < out.samples; ++i) {
            if (stop_.stop_requested()) {
                return false;
            }
            tell(out.part);
            ++done_;
            try {
                samples.read(i);
            } catch (const Error& error) {
                ++out.unreadable;
                list_bad(out, i, error.message());
                continue;
            }
            if (!out.class_counts.empty()) {
                count_label(class_in(samples.target()), out);
            }
            check_values(info, samples.input(), samples.target(), i, out);
            check_duplicate(samples.input(), at, i, out);
        }
        end_values(out);
        return true;
    }

    static std::int32_t class_in(std::span<const std::byte> target) {
        std::int32_t value = -1;
        std::memcpy(&value, target.data(), sizeof value);
        return value;
    }

    void tell(const std::string& part) {
        const auto now = std::chrono::steady_clock::now();
        if (progress_ && now - told_ >= kTold) {
            told_ = now;
            progress_({part, done_, total_});
        }
    }

    static void list_bad(PartScan& out, std::int64_t index, std::string text) {
        if (out.bad.size() < kMostListed) {
            out.bad.push_back({index, std::move(text)});
        }
    }

    static void count_label(std::int32_t label, PartScan& out) {
        if (label >= 0 && static_cast<std::size_t>(label) < out.class_counts.size()) {
            ++out.class_counts[static_cast<std::size_t>(label)];
        } else if (!out.class_counts.empty()) {
            ++out.unlabelled;
        }
    }

    /// Channels of images and features have a mean each.
    void begin_values(const SampleInfo& info) {
        const bool real = info.input.dtype == ir::DType::f32;
        const auto& shape = info.input.shape;
        const std::int64_t elements = real ? shape.elements() : 0;
        first_.assign(static_cast<std::size_t>(elements), 0);
        varies_.assign(static_cast<std::size_t>(elements), 0);
        seen_ = false;
        sums_.assign(static_cast<std::size_t>(elements == 0       ? 0
                                              : shape.rank() == 3 ? shape[2]
                                                                  : elements),
                     {});
        low_ = HUGE_VALF;
        high_ = -HUGE_VALF;
    }

    void check_values(const SampleInfo& info, std::span<const std::byte> input,
                      std::span<const std::byte> target, std::int64_t index, PartScan& out) {
        std::int64_t nans = 0;
        std::int64_t infinite = 0;
        const auto count = [&](float value) {
            nans += std::isnan(value) ? 1 : 0;
            infinite += std::isinf(value) ? 1 : 0;
        };
        if (info.input.dtype == ir::DType::f32) {
            values_.resize(first_.size());
            std::memcpy(values_.data(), input.data(), input.size());
            for (std::size_t k = 0; k < values_.size(); ++k) {
                const float value = values_[k];
                if (!std::isfinite(value)) {
                    count(value);
                    continue;
                }
                sums_[k % sums_.size()].add(value);
                low_ = std::min(low_, value);
                high_ = std::max(high_, value);
                first_[k] = seen_ ? first_[k] : value;
                varies_[k] = varies_[k] != 0 || value != first_[k] ? 1 : 0;
            }
            seen_ = true;
        }
        if (info.target.dtype == ir::DType::f32) {
            for (std::size_t k = 0; k < target.size() / sizeof(float); ++k) {
                float value = 0;
                std::memcpy(&value, target.data() + k * sizeof(value), sizeof(value));
                count(value);
            }
        }
        if (nans + infinite > 0) {
            ++out.not_finite;
            out.nan_values += nans;
            out.infinite_values += infinite;
            list_bad(out, index,
                     format_thousands(nans) + " NaN and " + format_thousands(infinite) +
                         " infinite values");
        }
    }

    void end_values(PartScan& out) const {
        for (const MomentsOf& sum : sums_) {
            out.mean.push_back(sum.moments().mean);
            out.deviation.push_back(sum.spread());
        }
        for (std::size_t k = 0; seen_ && out.samples > 1 && k < varies_.size(); ++k) {
            if (varies_[k] == 0) {
                out.constant.push_back(static_cast<std::int64_t>(k));
            }
        }
        out.minimum = low_ <= high_ ? low_ : 0;
        out.maximum = low_ <= high_ ? high_ : 0;
    }

    bool is_at_hand(const Place& place) const {
        return sources_[place.part].second->blocks().empty();
    }

    /// Equal checksums are compared byte by byte with the sample that came first; where that means
    /// to read a block for one of its samples, only as long as they are listed.
    void check_duplicate(std::span<const std::byte> input, std::size_t at, std::int64_t index,
                         PartScan& out) {
        const std::uint64_t key = key_of(input);
        if (key % static_cast<std::uint64_t>(share_) != 0) {
            return;
        }
        const auto [found, fresh] = first_with_.try_emplace(key, Place{at, index});
        if (fresh) {
            return;
        }
        const Place& other = found->second;
        if (out.duplicates < static_cast<std::int64_t>(kMostListed) || is_at_hand(other)) {
            other_input_.resize(input.size());
            sources_[other.part].second->read(other.index, other_input_, {});
            if (!std::equal(input.begin(), input.end(), other_input_.begin())) {
                return;
            }
        }
        ++out.duplicates;
        if (out.duplicate_samples.size() < kMostListed) {
            out.duplicate_samples.push_back({index, sources_[other.part].first, other.index});
        }
    }

    const std::function<void(const ScanProgress&)>& progress_;
    std::stop_token stop_;
    std::vector<std::pair<std::string, std::shared_ptr<const Source>>> sources_;
    std::int64_t done_ = 0, total_ = 0;
    std::int64_t share_ = 1; // one sample in so many is remembered
    std::chrono::steady_clock::time_point told_;
    std::unordered_map<std::uint64_t, Place> first_with_;
    std::vector<std::byte> other_input_;
    std::vector<float> values_, first_;
    std::vector<std::uint8_t> varies_;
    std::vector<MomentsOf> sums_;
    bool seen_ = false;
    float low_ = 0, high_ = 0;
};

std::string samples_text(std::int64_t count) {
    return format_thousands(count) + (count == 1 ? " sample" : " samples");
}

} // namespace

std::vector<std::string> ScanReport::findings() const {
    std::vector<std::string> out;
    for (const PartScan& part : parts) {
        const std::string of = " of " + part.part;
        if (part.unreadable > 0) {
            out.push_back(samples_text(part.unreadable) + of + " cannot be read");
        }
        if (part.not_finite > 0) {
            out.push_back(samples_text(part.not_finite) + of + " hold values that are not finite");
        }
        if (part.unlabelled > 0) {
            out.push_back(samples_text(part.unlabelled) + of + " have no class");
        }
    }
    for (const PartScan& part : parts) {
        const std::string of = " of " + part.part;
        if (part.duplicates > 0) {
            out.push_back(
                samples_text(part.duplicates) + of +
                " have the inputs of another sample before them" +
                (part.duplicate_share > 1
                     ? " (one in " + std::to_string(part.duplicate_share) + " was compared)"
                     : ""));
        }
        for (std::size_t k = 0; k < part.class_counts.size(); ++k) {
            if (part.class_counts[k] == 0) {
                const bool named = k < sample.class_names.size();
                out.push_back(
                    "class " +
                    (named ? "'" + shown(sample.class_names[k]) + "'" : std::to_string(k)) +
                    " has no sample" + of);
            }
        }
        if (!part.constant.empty()) {
            out.push_back(format_thousands(static_cast<std::int64_t>(part.constant.size())) +
                          " input values" + of + " never change");
        }
    }
    return out;
}

std::optional<ScanReport> scan(const config::Json& data_section, const OpenContext& context,
                               const std::function<void(const ScanProgress&)>& progress,
                               std::stop_token stop) {
    const DataSet set = open_data(data_section, context);
    ScanReport report;
    report.sample = set.train->info();
    report.notes = set.notes;
    if (!Scanner(set, progress, std::move(stop)).run(report)) {
        return std::nullopt;
    }
    if (set.test != nullptr) {
        const Notes late = set.test->notes();
        report.notes.insert(report.notes.end(), late.begin(), late.end());
    }
    return report;
}

} // namespace weft::data
