// SPDX-License-Identifier: Apache-2.0
#include "core/data/arrays/array_form.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/data/wild_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

namespace weft::data {
namespace {

using config::Json;

constexpr std::int64_t kMostClasses = 65'536;
constexpr double kNoClass = -1;
constexpr std::int64_t kSamplesLookedAt = 1000;     // where not all are read anyway
constexpr std::int64_t kPackedSamplesLookedAt = 32; // each with all that is packed with it
constexpr std::int64_t kNumbersLookedAt = 4 << 20;

constexpr std::int64_t kTargetBytesAtOnce = 1 << 20;
constexpr std::array kElementNames = {"uint8", "uint16", "uint32",  "uint64",  "int8",    "int16",
                                      "int32", "int64",  "float16", "float32", "float64", "bool"};

bool few(std::int64_t channels) {
    return channels == 1 || channels == 3 || channels == 4;
}

/// Checks classes as they come.
class ClassCounter {
public:
    ClassCounter(const ArrayData& array, TargetFacts& facts) : array_(array), facts_(facts) {}

    std::int32_t add(double value, std::int64_t index) {
        const std::int32_t found = class_of(value, array_, index);
        if (found < 0) {
            first_none_ = facts_.unlabelled++ == 0 ? index : first_none_;
        } else {
            const auto at = static_cast<std::size_t>(found);
            facts_.class_counts.resize(std::max(facts_.class_counts.size(), at + 1));
            ++facts_.class_counts[at];
        }
        return found;
    }

    void end(const ArrayEncoding* training) {
        facts_.class_count = static_cast<std::int64_t>(facts_.class_counts.size());
        if (training != nullptr) {
            return;
        }
        refuse_signs();
        if (facts_.class_count < 2) {
            fail_array(array_.name, "every target is class 0 or none",
                       "Use targets of two or more classes.");
        }
    }

private:
    /// Two classes as -1 and +1 would train on one of them alone.
    void refuse_signs() const {
        const bool only_ones = facts_.class_count == 2 && facts_.class_counts[0] == 0;
        if (facts_.unlabelled == 0 || (facts_.class_count != 0 && !only_ones)) {
            return;
        }
        fail_array(array_.name,
                   "all targets are -1 or +1 (target " + std::to_string(first_none_) +
                       " is the first -1), and -1 stands for no class",
                   "Write the classes as 0 and 1: (targets + 1) / 2. Or set data.train.task to "
                   "regression.");
    }

    const ArrayData& array_;
    TargetFacts& facts_;
    std::int64_t first_none_ = 0;
};

bool are_classes(const ArrayData& array, const Json& task, const ArrayEncoding* training) {
    if (training != nullptr) {
        return training->classes > 0;
    }
    return task.is_null() ? is_integer(array.element) && array.row_elements() == 1
                          : task == "classification";
}

void require_as_many(const ArrayPair& pair) {
    if (pair.targets->samples() != pair.inputs->samples()) {
        fail_array(pair.targets->name,
                   format_thousands(pair.targets->samples()) + " targets do not match the " +
                       format_thousands(pair.inputs->samples()) + " inputs of " + pair.inputs->name,
                   "Use the inputs and targets of the same samples.");
    }
}

} // namespace

std::string shape_text(const ArrayData& array) {
    std::string out = kElementNames[static_cast<std::size_t>(array.element)];
    out += " [";
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        out += (i == 0 ? "" : ", ") + std::to_string(array.shape[i]);
    }
    return out + "]";
}

void fail_array(const std::string& where, const std::string& text, const std::string& hint) {
    throw Error(ErrorKind::data, where, text, hint);
}

bool InputForm::is_as_stored(const ArrayData& array, std::span<const Moments> scales) const {
    return array.element == Element::f4 && !array.big_endian && !channels_first && factor == 1 &&
           scales.empty();
}

void InputForm::apply(const ArrayData& array, std::span<const std::byte> stored,
                      std::span<const Moments> scales, std::span<std::byte> out) const {
    WEFT_CHECK(static_cast<std::int64_t>(out.size() / sizeof(float)) == array.row_elements() &&
                   static_cast<std::int64_t>(stored.size()) == array.row_bytes(),
               "one sample");
    if (is_as_stored(array, scales)) {
        std::memcpy(out.data(), stored.data(), out.size());
        return;
    }
    const std::size_t count = out.size() / sizeof(float);
    const auto pixels = static_cast<std::size_t>(shape[0] * (is_image() ? shape[1] : 1));
    const std::size_t channels = count / pixels;
    with_numbers(array.element, array.big_endian, stored, [&](const auto& number) {
        const auto put = [&](std::size_t i, double value) {
            const auto rounded = static_cast<float>(value);
            std::memcpy(out.data() + i * sizeof rounded, &rounded, sizeof rounded);
        };
        if (scales.empty() && !channels_first) {
            for (std::size_t i = 0; i < count; ++i) {
                put(i, number(i) * factor);
            }
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t from = channels_first ? i % channels * pixels + i / channels : i;
            const Moments scale = scales.empty() ? Moments{} : scales[i % scales.size()];
            put(i, (number(from) * factor - scale.mean) / scale.deviation);
        }
    });
}

std::size_t InputForm::mean_count(std::size_t elements) const {
    return is_image() ? static_cast<std::size_t>(shape[2]) : elements;
}

std::size_t InputForm::mean_of(std::size_t i, std::size_t elements) const {
    const std::size_t count = mean_count(elements);
    return channels_first ? i / (elements / count) : i % count;
}

InputForm form_of(const ArrayData& inputs, const Json& settings, Notes& notes) {
    InputForm form;
    form.shape.assign(inputs.shape.begin() + 1, inputs.shape.end());
    if (form.shape.size() > 3) {
        fail_array(inputs.name,
                   "inputs have " + std::to_string(inputs.shape.size()) + " dimensions",
                   "Give [samples, features], [samples, height, width] or [samples, height, width, "
                   "channels].");
    }
    if (form.shape.empty()) {
        form.shape = {1};
    } else if (form.shape.size() == 2) {
        form.shape.push_back(1);
    } else if (form.shape.size() == 3) {
        const Json& side = settings.at("channels");
        const bool looks_first = few(form.shape[0]) && !few(form.shape[2]);
        form.channels_first = side.is_null() ? looks_first : side == "first";
        if (side.is_null() && looks_first) {
            notes.push_back(Note::decision("images " + shape_text(inputs) +
                                           " are taken as [samples, channels, height, width]"));
        }
        if (form.channels_first) {
            form.shape = {form.shape[1], form.shape[2], form.shape[0]};
        }
    }
    const auto scale = settings.at("scale").get<std::string>();
    const bool automatic = scale == "auto";
    form.standardize = scale == "standardize" || (automatic && !form.is_image());
    if (automatic && form.is_image() && inputs.element == Element::u1) {
        form.factor = 1.0 / 255;
    }
    return form;
}

std::int32_t class_of(double value, const ArrayData& array, std::int64_t index) {
    if (value != std::trunc(value) || value >= static_cast<double>(kMostClasses)) {
        fail_array(array.name,
                   "target " + std::to_string(index) + " is " + std::to_string(value) +
                       "; classes are whole numbers below " + format_thousands(kMostClasses),
                   "Set data.train.task to regression.");
    }
    if (value < kNoClass) {
        fail_array(array.name,
                   "target " + std::to_string(index) + " is " + std::to_string(value) +
                       "; classes count from 0, and -1 stands for none",
                   "Write the classes as 0, 1, 2... or set data.train.task to regression.");
    }
    return static_cast<std::int32_t>(value);
}

ArrayTargets read_targets(const ArrayPair& pair, const Json& settings, const OpenContext& context,
                          KeepTargets keep) {
    const auto* training = dynamic_cast<const ArrayEncoding*>(context.encoding.get());
    ArrayTargets out;
    if (pair.targets == nullptr) {
        out.facts.width =
            training != nullptr ? static_cast<std::int64_t>(training->targets.size()) : 0;
        return out;
    }
    require_as_many(pair);
    const ArrayData& array = *pair.targets;
    const bool classify = are_classes(array, settings.at("task"), training);
    if (classify && array.row_elements() != 1) {
        fail_array(array.name,
                   "a classification has one class per sample, not " + shape_text(array),
                   "Store the number of the class, or set data.train.task to regression.");
    }
    out.facts.width = classify ? 0 : array.row_elements();
    if (!classify && keep == KeepTargets::no) {
        return out;
    }
    ClassCounter counter(array, out.facts);
    const std::int64_t samples = array.samples();
    const std::int64_t together = array.rows_together();
    const std::int64_t piece =
        together * std::max<std::int64_t>(1, kTargetBytesAtOnce / (array.row_bytes() * together));
    std::vector<double> numbers;
    if (keep == KeepTargets::yes) {
        out.classes.reserve(classify ? static_cast<std::size_t>(samples) : 0);
        out.numbers.reserve(classify ? 0 : static_cast<std::size_t>(samples * out.facts.width));
    }
    OpeningWatch watch(context, {.name = pair.description, .unit = "targets", .total = samples});
    for (std::int64_t first = 0; first < samples; first += piece) {
        watch.reached(first);
        const std::int64_t rows = std::min(piece, samples - first);
        numbers.resize(static_cast<std::size_t>(rows * array.row_elements()));
        array.read(first, numbers);
        if (!classify) {
            out.numbers.insert(out.numbers.end(), numbers.begin(), numbers.end());
            continue;
        }
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int32_t found = counter.add(numbers[static_cast<std::size_t>(i)], first + i);
            if (keep == KeepTargets::yes) {
                out.classes.push_back(found);
            }
        }
    }
    if (classify) {
        counter.end(training);
    }
    return out;
}

void tell_unlabelled(const TargetFacts& targets, Notes& notes) {
    if (targets.unlabelled > 0) {
        notes.push_back(format_thousands(targets.unlabelled) +
                        (targets.unlabelled == 1 ? " sample has" : " samples have") +
                        " the target -1, no class: nothing is learnt from " +
                        (targets.unlabelled == 1 ? "it" : "them"));
    }
}

double larger(double one, double other) {
    return std::abs(other) > std::abs(one) ? other : one;
}

std::string wild_inputs(const ArrayPair& pair, const InputForm& form, double largest) {
    return wild_finding("inputs of " + pair.description, largest, form.standardize);
}

std::string wild_inputs(const ArrayPair& pair, const InputForm& form) {
    if (!pair.inputs->can_be_read()) {
        return {};
    }
    const std::int64_t samples = pair.inputs->samples();
    const std::int64_t elements = pair.inputs->row_elements();
    const bool one_by_one = pair.inputs->rows_together() == 1;
    const std::int64_t looks = std::clamp<std::int64_t>(
        kNumbersLookedAt / elements, 1,
        std::min(samples, one_by_one ? kSamplesLookedAt : kPackedSamplesLookedAt));
    std::vector<double> numbers(static_cast<std::size_t>(elements));
    double largest = 0;
    for (std::int64_t i = 0; i < looks; ++i) {
        pair.inputs->read(i * (samples / looks), numbers);
        for (const double number : numbers) {
            largest = larger(largest, number * form.factor);
        }
    }
    return wild_inputs(pair, form, largest);
}

SampleInfo describe_arrays(const ArrayPair& pair, const InputForm& form,
                           const TargetFacts& targets) {
    SampleInfo info;
    info.input = {ir::DType::f32, ir::Shape(form.shape)};
    if (targets.width > 0) {
        info.target = {ir::DType::f32, {targets.width}};
    } else {
        info.target = {ir::DType::i32, {}};
        info.classes = targets.class_count;
        info.class_counts = targets.class_counts;
    }
    info.description = pair.description + ", " + format_thousands(pair.inputs->samples()) +
                       " samples " + shape_text(*pair.inputs);
    return info;
}

} // namespace weft::data
