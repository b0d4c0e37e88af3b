// SPDX-License-Identifier: Apache-2.0
#include "core/data/arrays/array_source.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/data/arrays/array_samples.h"

namespace weft::data {
namespace {

using config::Json;

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
    auto targets = std::make_shared<const ArrayTargets>(
        read_targets(pair, settings, context, pair.streams ? KeepTargets::no : KeepTargets::yes));
    const TargetFacts& facts = targets->facts;
    tell_unlabelled(facts, notes);
    if (training == nullptr) {
        auto own = std::make_shared<ArrayEncoding>();
        own->classes = facts.class_count;
        training = std::move(own);
    } else if (facts.class_count > training->classes) {
        fail_array(pair.targets->name,
                   "it has class " + std::to_string(facts.class_count - 1) +
                       "; the training data has " + std::to_string(training->classes) + " classes",
                   "Use targets of the same classes.");
    }
    const std::size_t width = static_cast<std::size_t>(facts.width);
    if (!training->targets.empty() && training->targets.size() != width) {
        fail_array(pair.targets->name,
                   "it has " + std::to_string(width) +
                       " numbers per sample; the training data has " +
                       std::to_string(training->targets.size()),
                   "Use targets of the same kind.");
    }
    if (!pair.streams) {
        return kept_arrays(std::move(pair), std::move(form), std::move(targets),
                           std::move(training));
    }
    notes.push_back(
        Note::decision(pair.description + " takes " + format_bytes(pair.bytes()) +
                       " and is read block by block, mixed within data.shuffle_window"));
    return streamed_arrays(std::move(pair), std::move(form), facts, std::move(training));
}

PartOutline outline_arrays(const ArrayPair& pair, const Json& settings,
                           const OpenContext& context) {
    require_samples(pair, context);
    Notes notes;
    const ArrayTargets targets =
        read_targets(pair, settings, context, pair.streams ? KeepTargets::no : KeepTargets::yes);
    PartOutline out;
    const InputForm form = form_of(*pair.inputs, settings, notes);
    out.sample = describe_arrays(pair, form, targets.facts);
    out.samples = pair.inputs->samples();
    out.cache_bytes = targets.bytes();
    out.largest_block = pair.streams ? largest_block(pair) : 0;
    if (context.encoding == nullptr) {
        auto encoding = std::make_shared<ArrayEncoding>();
        encoding->classes = targets.facts.class_count;
        encoding->targets.resize(static_cast<std::size_t>(targets.facts.width));
        out.encoding = std::move(encoding);
        if (std::string wild = wild_inputs(pair, form); !wild.empty()) {
            out.warnings.push_back(std::move(wild));
        }
    }
    return out;
}

std::shared_ptr<const Source> fit_arrays(const std::shared_ptr<const Source>& opened,
                                         const Json& settings, std::span<const Run> training,
                                         const OpenContext& context, Notes& notes) {
    const auto* source = dynamic_cast<const ArraySamples*>(opened.get());
    WEFT_CHECK(source != nullptr, "arrays are fitted by arrays");
    return source->fitted(settings.at("scale_targets") == "standardize", training, context, notes);
}

Look look_at_arrays(const ArrayPair& pair, const Json& settings, const OpenContext& context) {
    require_samples(pair, context);
    Look out;
    out.summary = "Arrays: inputs " + shape_text(*pair.inputs) +
                  (pair.targets ? ", targets " + shape_text(*pair.targets) : "");
    form_of(*pair.inputs, settings, out.notes);
    const TargetFacts facts = read_targets(pair, settings, context, KeepTargets::no).facts;
    tell_unlabelled(facts, out.notes);
    for (const std::int64_t samples : facts.class_counts) {
        out.classes.push_back({std::to_string(out.classes.size()), samples});
    }
    return out;
}

} // namespace weft::data
