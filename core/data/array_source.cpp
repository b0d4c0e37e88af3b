// SPDX-License-Identifier: Apache-2.0
#include "core/data/array_source.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/data/moments.h"
#include "core/data/tables/table.h"
#include "core/data/wild_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace weft::data {
namespace {

using config::Json;

constexpr std::int64_t kMostClasses = 65'536;
constexpr double kNoClass = -1;
constexpr std::int64_t kSamplesLookedAt = 1000; // where not all are read anyway
constexpr std::int64_t kNumbersLookedAt = 4 << 20;

constexpr std::array kElementNames = {"uint8", "uint16", "uint32",  "uint64",  "int8",    "int16",
                                      "int32", "int64",  "float16", "float32", "float64", "bool"};

std::string shape_text(const ArrayData& array) {
    std::string out = kElementNames[static_cast<std::size_t>(array.element)];
    out += " [";
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        out += (i == 0 ? "" : ", ") + std::to_string(array.shape[i]);
    }
    return out + "]";
}

[[noreturn]] void fail_array(const std::string& where, const std::string& text,
                             const std::string& hint) {
    throw Error(ErrorKind::data, where, text, hint);
}

/// Means and deviations of the training samples, the number of classes, the side of the channels.
struct ArrayEncoding final : Encoding {
    std::vector<Moments> inputs;  // per feature; empty: inputs are not standardised
    std::vector<Moments> targets; // the same for targets
    std::int64_t classes = 0;     // 0: a regression
};

/// How the elements of an input make a sample.
struct InputForm {
    std::vector<std::int64_t> shape; // [F], or [H, W, C]
    bool channels_first = false;     // stored as [C, H, W]
    double factor = 1;
    bool standardize = false;

    bool is_image() const { return shape.size() == 3; }
};

bool few(std::int64_t channels) {
    return channels == 1 || channels == 3 || channels == 4;
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

/// Targets in memory: classes, or K numbers per sample.
struct ArrayTargets {
    std::vector<std::int32_t> classes;
    std::vector<double> numbers;
    std::int64_t width = 0; // K; 0: classes
    std::int64_t class_count = 0;
    std::int64_t unlabelled = 0; // of the classes

    std::int64_t bytes() const {
        return static_cast<std::int64_t>(classes.capacity() * sizeof(std::int32_t) +
                                         numbers.capacity() * sizeof(double));
    }
};

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

/// Two classes as -1 and +1 would train on one of them alone.
void refuse_signs(const std::vector<std::int32_t>& classes, const ArrayData& array) {
    const auto none = std::find(classes.begin(), classes.end(), -1);
    if (none == classes.end() || std::any_of(classes.begin(), classes.end(), [](std::int32_t one) {
            return one != -1 && one != 1;
        })) {
        return;
    }
    fail_array(array.name,
               "all targets are -1 or +1 (target " + std::to_string(none - classes.begin()) +
                   " is the first -1), and -1 stands for no class",
               "Write the classes as 0 and 1: (targets + 1) / 2. Or set data.train.task to "
               "regression.");
}

ArrayTargets read_targets(const ArrayPair& pair, const Json& settings, const OpenContext& context) {
    const auto* training = dynamic_cast<const ArrayEncoding*>(context.encoding.get());
    ArrayTargets out;
    if (pair.targets == nullptr) {
        out.width = training != nullptr ? static_cast<std::int64_t>(training->targets.size()) : 0;
        return out;
    }
    const ArrayData& array = *pair.targets;
    if (array.samples() != pair.inputs->samples()) {
        fail_array(array.name,
                   format_thousands(array.samples()) + " targets do not match the " +
                       format_thousands(pair.inputs->samples()) + " inputs of " + pair.inputs->name,
                   "Use the inputs and targets of the same samples.");
    }
    const Json& task = settings.at("task");
    const bool classify = training != nullptr ? training->classes > 0
                          : task.is_null() ? is_integer(array.element) && array.row_elements() == 1
                                           : task == "classification";
    if (classify && array.row_elements() != 1) {
        fail_array(array.name,
                   "a classification has one class per sample, not " + shape_text(array),
                   "Store the number of the class, or set data.train.task to regression.");
    }
    const auto samples = static_cast<std::size_t>(array.samples());
    const auto width = static_cast<std::size_t>(array.row_elements());
    out.numbers.resize(samples * width);
    OpeningWatch watch(context,
                       {.name = pair.description, .unit = "targets", .total = array.samples()});
    for (std::size_t i = 0; i < samples; ++i) {
        watch.reached(static_cast<std::int64_t>(i));
        array.read(static_cast<std::int64_t>(i), std::span(out.numbers).subspan(i * width, width));
    }
    if (!classify) {
        out.width = array.row_elements();
        return out;
    }
    out.classes.reserve(samples);
    for (std::size_t i = 0; i < samples; ++i) {
        out.classes.push_back(class_of(out.numbers[i], array, static_cast<std::int64_t>(i)));
        out.class_count = std::max<std::int64_t>(out.class_count, out.classes.back() + 1);
        out.unlabelled += out.classes.back() < 0 ? 1 : 0;
    }
    out.numbers = std::vector<double>();
    if (training == nullptr) {
        refuse_signs(out.classes, array);
    }
    if (out.class_count < 2 && training == nullptr) {
        fail_array(array.name, "every target is class 0 or none",
                   "Use targets of two or more classes.");
    }
    return out;
}

void tell_unlabelled(const ArrayTargets& targets, Notes& notes) {
    if (targets.unlabelled > 0) {
        notes.push_back(format_thousands(targets.unlabelled) +
                        (targets.unlabelled == 1 ? " sample has" : " samples have") +
                        " the target -1, no class: nothing is learnt from " +
                        (targets.unlabelled == 1 ? "it" : "them"));
    }
}

/// The larger one of two numbers by size; NaN is none.
double larger(double one, double other) {
    return std::abs(other) > std::abs(one) ? other : one;
}

std::string wild_inputs(const ArrayPair& pair, const InputForm& form, double largest) {
    return wild_finding("inputs of " + pair.description, largest, form.standardize);
}

/// The same, of samples from all over the file. An outline has no array that must lie in memory.
std::string wild_inputs(const ArrayPair& pair, const InputForm& form) {
    if (pair.inputs->memory.empty() && !pair.inputs->file.is_open()) {
        return {};
    }
    const std::int64_t samples = pair.inputs->samples();
    const std::int64_t elements = pair.inputs->row_elements();
    const std::int64_t looks = std::clamp<std::int64_t>(kNumbersLookedAt / elements, 1,
                                                        std::min(samples, kSamplesLookedAt));
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
                           const ArrayTargets& targets) {
    SampleInfo info;
    info.input = {ir::DType::f32, ir::Shape(form.shape)};
    if (targets.width > 0) {
        info.target = {ir::DType::f32, {targets.width}};
    } else {
        info.target = {ir::DType::i32, {}};
        info.classes = targets.class_count;
    }
    info.description = pair.description + ", " + format_thousands(pair.inputs->samples()) +
                       " samples " + shape_text(*pair.inputs);
    return info;
}

class ArraySource final : public Source {
public:
    ArraySource(ArrayPair pair, InputForm form, std::shared_ptr<const ArrayTargets> targets,
                std::shared_ptr<const ArrayEncoding> encoding)
        : pair_(std::move(pair)), form_(std::move(form)), targets_(std::move(targets)),
          encoding_(std::move(encoding)), info_(describe_arrays(pair_, form_, *targets_)) {
        info_.classes = targets_->width > 0 ? 0 : encoding_->classes;
        fingerprint_ = "arrays " + shape_text(*pair_.inputs) + " crc32c " +
                       std::to_string(pair_.inputs->checksum());
        if (pair_.targets != nullptr) {
            fingerprint_ += ", " + shape_text(*pair_.targets) + " crc32c " +
                            std::to_string(pair_.targets->checksum());
        }
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return pair_.inputs->samples(); }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(static_cast<std::int64_t>(input.size()) == info_.input.bytes(),
                   "input has the size of info()");
        std::vector<double> numbers(static_cast<std::size_t>(pair_.inputs->row_elements()));
        pair_.inputs->read(index, numbers);
        const bool standardised = !encoding_->inputs.empty();
        const auto pixels =
            static_cast<std::size_t>(form_.shape[0] * (form_.is_image() ? form_.shape[1] : 1));
        const std::size_t channels = numbers.size() / pixels;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::size_t from =
                form_.channels_first ? i % channels * pixels + i / channels : i;
            double value = numbers[from] * form_.factor;
            if (standardised) {
                const Moments& scale = encoding_->inputs[i % encoding_->inputs.size()];
                value = (value - scale.mean) / scale.deviation;
            }
            put(static_cast<float>(value), input, i);
        }
        if (!target.empty()) {
            write_target(index, target);
        }
    }

    std::int32_t label(std::int64_t index) const override {
        return targets_->classes.empty() ? -1 : targets_->classes[static_cast<std::size_t>(index)];
    }
    std::string place_of(std::int64_t index) const override {
        return pair_.inputs->name + ", row " + std::to_string(index);
    }
    std::int64_t cache_bytes() const override {
        return static_cast<std::int64_t>(pair_.inputs->memory.capacity() +
                                         (pair_.targets ? pair_.targets->memory.capacity() : 0)) +
               targets_->bytes();
    }
    std::string fingerprint() const override { return fingerprint_; }
    std::shared_ptr<const Encoding> encoding() const override { return encoding_; }
    TargetScale target_scale() const override {
        TargetScale out;
        for (const Moments& scale : encoding_->targets) {
            out.mean.push_back(scale.mean);
            out.scale.push_back(scale.deviation);
        }
        return out;
    }

    std::shared_ptr<const Source> fitted(bool scale_targets,
                                         const std::vector<std::int64_t>& training,
                                         const OpenContext& context, Notes& notes) const {
        auto fit = std::make_shared<ArrayEncoding>(*encoding_);
        std::string wild;
        if (form_.standardize) {
            double largest = 0;
            fit->inputs = input_moments(training, context, largest);
            wild = wild_inputs(pair_, form_, largest);
        } else {
            wild = wild_inputs(pair_, form_);
        }
        if (!wild.empty()) {
            notes.push_back(std::move(wild));
        }
        if (targets_->width > 0) {
            fit->targets = scale_targets
                               ? target_moments(training, notes)
                               : std::vector<Moments>(static_cast<std::size_t>(targets_->width));
        }
        return std::make_shared<ArraySource>(pair_, form_, targets_, std::move(fit));
    }

private:
    static void put(float value, std::span<std::byte> out, std::size_t at) {
        std::memcpy(out.data() + at * sizeof(value), &value, sizeof(value));
    }

    void write_target(std::int64_t index, std::span<std::byte> target) const {
        if (targets_->width == 0) {
            const std::int32_t value = label(index);
            std::memcpy(target.data(), &value, sizeof(value));
            return;
        }
        const auto width = static_cast<std::size_t>(targets_->width);
        for (std::size_t k = 0; k < width; ++k) {
            const double value =
                targets_->numbers.empty()
                    ? 0
                    : targets_->numbers[static_cast<std::size_t>(index) * width + k];
            const Moments scale = encoding_->targets.empty() ? Moments{} : encoding_->targets[k];
            put(static_cast<float>((value - scale.mean) / scale.deviation), target, k);
        }
    }

    /// Per feature; per channel of images, which all of an image's places share. `largest`: of all
    /// numbers, by size.
    std::vector<Moments> input_moments(const std::vector<std::int64_t>& training,
                                       const OpenContext& context, double& largest) const {
        const auto elements = static_cast<std::size_t>(pair_.inputs->row_elements());
        const auto count = form_.is_image() ? static_cast<std::size_t>(form_.shape[2]) : elements;
        std::vector<MomentsOf> sums(count);
        std::vector<double> numbers(elements);
        OpeningWatch watch(context, {.name = pair_.description,
                                     .unit = "samples",
                                     .total = static_cast<std::int64_t>(training.size())});
        std::int64_t read = 0;
        for (const std::int64_t index : training) {
            watch.reached(read++);
            pair_.inputs->read(index, numbers);
            for (std::size_t i = 0; i < elements; ++i) {
                const std::size_t at = form_.channels_first ? i / (elements / count) : i % count;
                largest = larger(largest, numbers[i] * form_.factor);
                if (std::isfinite(numbers[i])) {
                    sums[at].add(numbers[i] * form_.factor);
                }
            }
        }
        std::vector<Moments> out;
        for (const MomentsOf& sum : sums) {
            out.push_back(sum.moments());
        }
        return out;
    }

    std::vector<Moments> target_moments(const std::vector<std::int64_t>& training,
                                        Notes& notes) const {
        std::vector<Moments> out;
        for (std::int64_t k = 0; k < targets_->width; ++k) {
            MomentsOf sum;
            double largest = 0;
            for (const std::int64_t index : training) {
                const double value =
                    targets_->numbers[static_cast<std::size_t>(index * targets_->width + k)];
                largest = larger(largest, value);
                if (std::isfinite(value)) {
                    sum.add(value);
                }
            }
            out.push_back(sum.moments());
            if (std::string wild = wild_finding("targets of " + pair_.targets->name, largest, true);
                !wild.empty()) {
                notes.push_back(std::move(wild));
            }
        }
        notes.push_back(Note::decision(
            "targets are standardised: losses and errors are in units of their deviation, " +
            figure_text(out.front().deviation) + " (mean " + figure_text(out.front().mean) +
            (out.size() > 1 ? ") for the first" : ")")));
        return out;
    }

    ArrayPair pair_;
    InputForm form_;
    std::shared_ptr<const ArrayTargets> targets_;
    std::shared_ptr<const ArrayEncoding> encoding_;
    SampleInfo info_;
    std::string fingerprint_;
};

void require_samples(const ArrayPair& pair, const OpenContext& context) {
    if (pair.inputs->shape.empty() || pair.inputs->samples() < 1 ||
        pair.inputs->row_elements() < 1) {
        fail_array(pair.inputs->name, "it holds no samples: " + shape_text(*pair.inputs),
                   "The first dimension counts samples.");
    }
    if (pair.targets == nullptr && context.targets == OpenContext::Targets::needed) {
        fail_array(pair.inputs->name, "there are no targets", "Set data.train.targets.");
    }
}

} // namespace

config::FieldTable array_fields() {
    return {config::choice_field("task", nullptr, {"classification", "regression"},
                                 "null: classification if targets are whole numbers by type.")
                .or_null(),
            config::choice_field("channels", nullptr, {"last", "first"},
                                 "Images as [height, width, channels] or [channels, height, "
                                 "width]; null: by which looks like channels.")
                .or_null(),
            config::choice_field("scale", "auto", {"auto", "standardize", "none"},
                                 "auto: images of bytes become 0 to 1, features are standardised: "
                                 "less their mean, divided by their deviation, of the training "
                                 "samples."),
            config::choice_field("scale_targets", "standardize", {"standardize", "none"},
                                 "The same for numbers to predict: losses and errors are then in "
                                 "deviations, predictions in the file's units.")};
}

std::shared_ptr<const Source> open_arrays(ArrayPair pair, const Json& settings,
                                          const OpenContext& context, Notes& notes) {
    require_samples(pair, context);
    auto training = std::dynamic_pointer_cast<const ArrayEncoding>(context.encoding);
    InputForm form = form_of(*pair.inputs, settings, notes);
    auto targets = std::make_shared<const ArrayTargets>(read_targets(pair, settings, context));
    tell_unlabelled(*targets, notes);
    if (training == nullptr) {
        auto own = std::make_shared<ArrayEncoding>();
        own->classes = targets->class_count;
        training = std::move(own);
    } else if (targets->class_count > training->classes) {
        fail_array(pair.targets->name,
                   "it has class " + std::to_string(targets->class_count - 1) +
                       "; the training data has " + std::to_string(training->classes) + " classes",
                   "Use targets of the same classes.");
    }
    const std::size_t width = static_cast<std::size_t>(targets->width);
    if (!training->targets.empty() && training->targets.size() != width) {
        fail_array(pair.targets->name,
                   "it has " + std::to_string(width) +
                       " numbers per sample; the training data has " +
                       std::to_string(training->targets.size()),
                   "Use targets of the same kind.");
    }
    return std::make_shared<ArraySource>(std::move(pair), std::move(form), std::move(targets),
                                         std::move(training));
}

PartOutline outline_arrays(const ArrayPair& pair, const Json& settings,
                           const OpenContext& context) {
    require_samples(pair, context);
    Notes notes;
    const ArrayTargets targets = read_targets(pair, settings, context);
    PartOutline out;
    const InputForm form = form_of(*pair.inputs, settings, notes);
    out.sample = describe_arrays(pair, form, targets);
    out.samples = pair.inputs->samples();
    out.cache_bytes = targets.bytes();
    if (context.encoding == nullptr) {
        auto encoding = std::make_shared<ArrayEncoding>();
        encoding->classes = targets.class_count;
        encoding->targets.resize(static_cast<std::size_t>(targets.width));
        out.encoding = std::move(encoding);
        if (std::string wild = wild_inputs(pair, form); !wild.empty()) {
            out.warnings.push_back(std::move(wild));
        }
    }
    return out;
}

std::shared_ptr<const Source> fit_arrays(const std::shared_ptr<const Source>& opened,
                                         const Json& settings,
                                         const std::vector<std::int64_t>& training,
                                         const OpenContext& context, Notes& notes) {
    const auto* source = dynamic_cast<const ArraySource*>(opened.get());
    WEFT_CHECK(source != nullptr, "arrays are fitted by arrays");
    return source->fitted(settings.at("scale_targets") == "standardize", training, context, notes);
}

Look look_at_arrays(const ArrayPair& pair, const Json& settings, const OpenContext& context) {
    require_samples(pair, context);
    Look out;
    out.summary = "Arrays: inputs " + shape_text(*pair.inputs) +
                  (pair.targets ? ", targets " + shape_text(*pair.targets) : "");
    form_of(*pair.inputs, settings, out.notes);
    const ArrayTargets targets = read_targets(pair, settings, context);
    tell_unlabelled(targets, out.notes);
    for (std::int64_t k = 0; k < targets.class_count; ++k) {
        out.classes.push_back({std::to_string(k), 0});
    }
    for (const std::int32_t label : targets.classes) {
        if (label >= 0) {
            ++out.classes[static_cast<std::size_t>(label)].samples;
        }
    }
    return out;
}

} // namespace weft::data
