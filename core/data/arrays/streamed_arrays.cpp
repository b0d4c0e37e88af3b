// SPDX-License-Identifier: Apache-2.0
// A block is read in pieces that stay in the processor's cache; what is packed is read whole.
#include "core/data/arrays/array_samples.h"
#include "core/data/arrays/place_rows.h"

#include "core/base/check.h"
#include "core/base/machine.h"
#include "core/base/on_threads.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

constexpr std::int64_t kBlockBytes = 512 << 10; // a disk reads as fast as in one go
constexpr std::int64_t kPieceBytes = 128 << 10;
constexpr std::size_t kRunsTogether = 256; // whose sums are in memory at once

std::int64_t rows_per_block(const ArrayPair& pair) {
    // As many as are packed together, of inputs and targets.
    std::int64_t together = pair.inputs->rows_together();
    if (pair.targets != nullptr && pair.targets->rows_together() > together) {
        const std::int64_t both = pair.targets->rows_together() + together - 1;
        together = both / together * together;
    }
    const std::int64_t wanted = kBlockBytes / std::max<std::int64_t>(1, pair.inputs->row_bytes());
    return together * std::max<std::int64_t>(1, wanted / together);
}

class StreamedArrays final : public ArraySamples {
public:
    StreamedArrays(ArrayPair pair, InputForm form, const TargetFacts& targets,
                   std::shared_ptr<const ArrayEncoding> encoding)
        : ArraySamples(std::move(pair), std::move(form), targets, std::move(encoding)),
          facts_(targets) {
        const std::int64_t rows = rows_per_block(pair_);
        for (std::int64_t first = 0; first < samples(); first += rows) {
            blocks_.push_back(first);
        }
        blocks_.push_back(samples());
        const bool packed = pair_.inputs->packed != nullptr ||
                            (pair_.targets != nullptr && pair_.targets->packed != nullptr);
        piece_rows_ =
            packed ? rows
                   : std::max<std::int64_t>(
                         1, kPieceBytes / std::max<std::int64_t>(1, pair_.inputs->row_bytes()));
    }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        const std::uint32_t place = 0;
        std::vector<std::byte> scratch;
        read_run(index, std::nullopt, {std::span(&place, 1), input, target, scratch});
    }

    std::span<const std::int64_t> blocks() const override { return blocks_; }

    void read_run(std::int64_t first, std::optional<std::int64_t>,
                  const RowsOut& out) const override {
        WEFT_CHECK(first >= 0 && first + static_cast<std::int64_t>(out.places.size()) <= samples(),
                   "samples of the source");
        const auto piece = static_cast<std::size_t>(piece_rows_);
        for (std::size_t done = 0; done < out.places.size(); done += piece) {
            const auto places = out.places.subspan(done, std::min(piece, out.places.size() - done));
            const std::int64_t at = first + static_cast<std::int64_t>(done);
            place_inputs(at, places, out);
            if (!out.targets.empty()) {
                place_targets(at, places, out);
            }
        }
    }

    std::int32_t label(std::int64_t index) const override {
        if (target_width() > 0 || pair_.targets == nullptr) {
            return -1;
        }
        double value = 0;
        pair_.targets->read(index, std::span(&value, 1));
        return known_class(value, index);
    }

    std::int64_t cache_bytes() const override { return 0; }

private:
    void place_inputs(std::int64_t first, std::span<const std::uint32_t> places,
                      const RowsOut& out) const {
        const ArrayData& array = *pair_.inputs;
        const std::span<const std::byte> rows = array.stored(first, places.size(), out.scratch);
        const auto row_bytes = static_cast<std::size_t>(info().input.bytes());
        if (form_.is_as_stored(array, encoding_->inputs)) {
            place_rows(rows, row_bytes, places, out.inputs);
            return;
        }
        const InStage transforming(Stage::transform);
        const auto stored_bytes = static_cast<std::size_t>(array.row_bytes());
        for (std::size_t i = 0; i < places.size(); ++i) {
            form_.apply(array, rows.subspan(i * stored_bytes, stored_bytes), encoding_->inputs,
                        out.inputs.subspan(places[i] * row_bytes, row_bytes));
        }
    }

    void place_targets(std::int64_t first, std::span<const std::uint32_t> places,
                       const RowsOut& out) const {
        if (pair_.targets == nullptr) {
            place_no_targets(places, out);
            return;
        }
        const ArrayData& array = *pair_.targets;
        const std::span<const std::byte> rows = array.stored(first, places.size(), out.scratch);
        if (array.element == Element::i8 && !array.big_endian && target_width() == 0) {
            place_classes(rows, first, places, out.targets);
            return;
        }
        const InStage transforming(Stage::transform);
        const auto elements = static_cast<std::size_t>(array.row_elements());
        std::vector<double> numbers(places.size() * elements);
        array.to_numbers(rows, numbers);
        if (target_width() > 0) {
            const std::size_t bytes = elements * sizeof(float);
            for (std::size_t i = 0; i < places.size(); ++i) {
                write_numbers(std::span(numbers).subspan(i * elements, elements),
                              out.targets.subspan(places[i] * bytes, bytes));
            }
            return;
        }
        for (std::size_t i = 0; i < places.size(); ++i) {
            const std::int32_t value =
                known_class(numbers[i], first + static_cast<std::int64_t>(i));
            std::memcpy(out.targets.data() + places[i] * sizeof value, &value, sizeof value);
        }
    }

    /// What class files hold most often, without a detour over reals.
    void place_classes(std::span<const std::byte> rows, std::int64_t first,
                       std::span<const std::uint32_t> places, std::span<std::byte> out) const {
        const auto known = static_cast<std::uint64_t>(facts_.class_count);
        const std::byte* from = rows.data();
        for (std::size_t i = 0; i < places.size(); ++i) {
            std::int64_t value = 0;
            std::memcpy(&value, from + i * sizeof value, sizeof value);
            if (static_cast<std::uint64_t>(value) + 1 > known) { // -1 counts from 0
                known_class(static_cast<double>(value), first + static_cast<std::int64_t>(i));
            }
            const auto found = static_cast<std::int32_t>(value);
            std::memcpy(out.data() + places[i] * sizeof found, &found, sizeof found);
        }
    }

    void place_no_targets(std::span<const std::uint32_t> places, const RowsOut& out) const {
        const auto bytes = static_cast<std::size_t>(info().target.bytes());
        const std::int32_t none = -1;
        const std::vector<double> zeros(static_cast<std::size_t>(target_width()));
        for (const std::uint32_t place : places) {
            const auto target = out.targets.subspan(place * bytes, bytes);
            if (target_width() > 0) {
                write_numbers(zeros, target);
            } else {
                std::memcpy(target.data(), &none, sizeof none);
            }
        }
    }

    /// The file may have changed since its classes were counted.
    std::int32_t known_class(double value, std::int64_t index) const {
        const std::int32_t found = class_of(value, *pair_.targets, index);
        if (found >= facts_.class_count) {
            fail_array(pair_.targets->name,
                       "target " + std::to_string(index) + " is class " + std::to_string(found) +
                           "; there were " + std::to_string(facts_.class_count) +
                           " classes when it was opened",
                       "Leave the file alone while it is used.");
        }
        return found;
    }

    /// Every run on its own, in order put together: threads change nothing.
    Sums sum(std::span<const Run> training, bool inputs, bool targets,
             const OpenContext& context) const override {
        Sums out = no_sums();
        std::int64_t total = 0;
        for (const Run& run : training) {
            total += run.samples;
        }
        OpeningWatch watch(context, {.name = pair_.description, .unit = "samples", .total = total});
        const int threads = std::max(1, read_machine().usable_cores);
        std::int64_t done = 0;
        for (std::size_t first = 0; first < training.size(); first += kRunsTogether) {
            const auto runs =
                training.subspan(first, std::min(kRunsTogether, training.size() - first));
            std::vector<Sums> parts(runs.size());
            for_each_on(threads, runs.size(),
                        [&](std::size_t i) { parts[i] = sum_run(runs[i], inputs, targets); });
            for (std::size_t i = 0; i < runs.size(); ++i) {
                join(parts[i], out);
                done += runs[i].samples;
            }
            watch.reached(done);
        }
        return out;
    }

    Sums sum_run(const Run& run, bool inputs, bool targets) const {
        Sums out = no_sums();
        std::vector<double> numbers;
        std::vector<std::byte> scratch;
        for (std::int64_t at = run.first; at < run.first + run.samples; at += piece_rows_) {
            const auto rows =
                static_cast<std::size_t>(std::min(piece_rows_, run.first + run.samples - at));
            const auto each = [&](const ArrayData& array, const auto& add) {
                const auto elements = static_cast<std::size_t>(array.row_elements());
                numbers.resize(rows * elements);
                array.to_numbers(array.stored(at, rows, scratch), numbers);
                for (std::size_t i = 0; i < rows; ++i) {
                    add(std::span<const double>(numbers).subspan(i * elements, elements));
                }
            };
            if (inputs) {
                each(*pair_.inputs, [&](auto row) { add_input(row, out); });
            }
            if (targets) {
                each(*pair_.targets, [&](auto row) { add_target(row, out); });
            }
        }
        return out;
    }

    static void join(const Sums& part, Sums& out) {
        for (std::size_t i = 0; i < out.inputs.size(); ++i) {
            out.inputs[i].add(part.inputs[i]);
        }
        for (std::size_t k = 0; k < out.targets.size(); ++k) {
            out.targets[k].add(part.targets[k]);
            out.largest_targets[k] = larger(out.largest_targets[k], part.largest_targets[k]);
        }
        out.largest_input = larger(out.largest_input, part.largest_input);
    }

    std::shared_ptr<const Source>
    with(std::shared_ptr<const ArrayEncoding> encoding) const override {
        return std::make_shared<StreamedArrays>(pair_, form_, facts_, std::move(encoding));
    }

    TargetFacts facts_;
    std::vector<std::int64_t> blocks_;
    std::int64_t piece_rows_ = 1;
};

} // namespace

std::shared_ptr<const ArraySamples> streamed_arrays(ArrayPair pair, InputForm form,
                                                    const TargetFacts& targets,
                                                    std::shared_ptr<const ArrayEncoding> encoding) {
    return std::make_shared<StreamedArrays>(std::move(pair), std::move(form), targets,
                                            std::move(encoding));
}

std::int64_t largest_block(const ArrayPair& pair) {
    return std::min(pair.inputs->samples(), rows_per_block(pair));
}

} // namespace weft::data
