// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"
#include "core/base/stage_meter.h"
#include "core/data/arrays/array_samples.h"

#include <cstring>

namespace weft::data {
namespace {

class KeptArrays final : public ArraySamples {
public:
    KeptArrays(ArrayPair pair, InputForm form, std::shared_ptr<const ArrayTargets> targets,
               std::shared_ptr<const ArrayEncoding> encoding)
        : ArraySamples(std::move(pair), std::move(form), targets->facts, std::move(encoding)),
          targets_(std::move(targets)) {}

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(static_cast<std::int64_t>(input.size()) == info().input.bytes(),
                   "input has the size of info()");
        if (form_.is_as_stored(*pair_.inputs, encoding_->inputs)) {
            pair_.inputs->read_stored(index, input);
        } else {
            std::vector<std::byte> scratch;
            const std::span<const std::byte> stored = pair_.inputs->stored(index, 1, scratch);
            const InStage transforming(Stage::transform);
            form_.apply(*pair_.inputs, stored, encoding_->inputs, input);
        }
        if (!target.empty()) {
            write_target(index, target);
        }
    }

    std::int32_t label(std::int64_t index) const override {
        return targets_->classes.empty() ? -1 : targets_->classes[static_cast<std::size_t>(index)];
    }
    std::int64_t cache_bytes() const override {
        return static_cast<std::int64_t>(pair_.inputs->memory.capacity() +
                                         (pair_.targets ? pair_.targets->memory.capacity() : 0)) +
               targets_->bytes();
    }

private:
    Sums sum(std::span<const Run> training, bool inputs, bool targets,
             const OpenContext& context) const override {
        Sums out = no_sums();
        std::int64_t total = 0;
        for (const Run& run : training) {
            total += run.samples;
        }
        OpeningWatch watch(context, {.name = pair_.description, .unit = "samples", .total = total});
        std::vector<double> numbers(static_cast<std::size_t>(pair_.inputs->row_elements()));
        std::int64_t read = 0;
        for (const Run& run : training) {
            for (std::int64_t index = run.first; index < run.first + run.samples; ++index) {
                watch.reached(read++);
                if (inputs) {
                    pair_.inputs->read(index, numbers);
                    add_input(numbers, out);
                }
                if (targets) {
                    add_target(target_numbers(index), out);
                }
            }
        }
        return out;
    }

    std::shared_ptr<const Source>
    with(std::shared_ptr<const ArrayEncoding> encoding) const override {
        return std::make_shared<KeptArrays>(pair_, form_, targets_, std::move(encoding));
    }

    std::span<const double> target_numbers(std::int64_t index) const {
        const auto width = static_cast<std::size_t>(target_width());
        return std::span(targets_->numbers).subspan(static_cast<std::size_t>(index) * width, width);
    }

    void write_target(std::int64_t index, std::span<std::byte> target) const {
        if (target_width() == 0) {
            const std::int32_t value = label(index);
            std::memcpy(target.data(), &value, sizeof(value));
        } else if (targets_->numbers.empty()) {
            write_numbers(std::vector<double>(static_cast<std::size_t>(target_width())), target);
        } else {
            write_numbers(target_numbers(index), target);
        }
    }

    std::shared_ptr<const ArrayTargets> targets_;
};

} // namespace

std::shared_ptr<const ArraySamples> kept_arrays(ArrayPair pair, InputForm form,
                                                std::shared_ptr<const ArrayTargets> targets,
                                                std::shared_ptr<const ArrayEncoding> encoding) {
    return std::make_shared<KeptArrays>(std::move(pair), std::move(form), std::move(targets),
                                        std::move(encoding));
}

} // namespace weft::data
