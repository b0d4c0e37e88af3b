// SPDX-License-Identifier: Apache-2.0
// The "data" section becomes sources: open, split, transform.
#include "core/data/formats/format_list.h"
#include "core/data/split.h"
#include "core/data/transforms/transform.h"
#include "core/data/views.h"

#include "core/base/check.h"
#include "core/base/error.h"

namespace weft::data {
namespace {

using config::Json;

/// Samples of every part must fit the programs that were compiled for train.
void require_same_samples(const SampleInfo& train, const Source& other, const std::string& part) {
    const SampleInfo& info = other.info();
    if (info.input == train.input && info.target == train.target && info.classes <= train.classes) {
        return;
    }
    const auto text = [](const SampleInfo& sample) {
        return ir::to_text(sample.input) + " with targets " + ir::to_text(sample.target) + " and " +
               std::to_string(sample.classes) + " classes";
    };
    throw Error(ErrorKind::data, "/data/" + part,
                "its samples are " + text(info) + "; those of train are " + text(train),
                "Use a source of the same kind as train.");
}

/// Fills train and validation, before transforms.
void open_training(const Json& section, const OpenContext& context, DataSet& out) {
    const Json& train = section.at("train");
    const FormatDef& format = format_of(train);
    out.train = format.open(train, context, Part::train, out.notes);
    out.training_cache_bytes = out.train->cache_bytes();
    const Json& validation = section.at("validation");
    if (validation.is_null()) {
        return;
    }
    if (validation.contains("type")) {
        out.validation = format_of(validation).open(validation, context, Part::train, out.notes);
        require_same_samples(out.train->info(), *out.validation, "validation");
        out.training_cache_bytes += out.validation->cache_bytes();
        return;
    }
    const double share = validation.at("split").get<double>();
    if (share == 0) {
        return;
    }
    const std::shared_ptr<const Source> whole = out.train;
    Split split = format.split_rule == SplitRule::by_part
                      ? split_by_part(whole->samples(), share)
                      : split_by_class(*whole, share, context.seed);
    out.train = subset(whole, std::move(split.train), "training");
    out.validation = subset(whole, std::move(split.validation), "validation");
    // Both views hold on to the same samples.
    out.training_cache_bytes =
        out.train->cache_bytes() + out.validation->cache_bytes() - whole->cache_bytes();
}

std::shared_ptr<const Source> test_source(const Json& section, const OpenContext& context,
                                          const SampleInfo& train) {
    const bool given = !section.at("test").is_null();
    const Json settings = section.at(given ? "test" : "train");
    const FormatDef& format = format_of(settings);
    if (!given && !format.has_test(settings, context)) {
        return nullptr;
    }
    const Part part = given ? Part::train : Part::test;
    return opened_on_demand(
        [&format, settings, context, part, train, transforms = section.at("transforms")] {
            std::vector<std::string> notes;
            auto source = format.open(settings, context, part, notes);
            require_same_samples(train, *source, "test");
            return transformed(std::move(source), transforms, context.seed, false);
        });
}

} // namespace

Json checked_section(const Json& data_section) {
    Json section = data_section;
    const config::Diagnostics problems = check_data(section, "/data");
    if (config::has_errors(problems)) {
        throw Error(ErrorKind::usage, problems.front().pointer, problems.front().message,
                    problems.front().hint);
    }
    return section;
}

DataSet open_data(const Json& data_section, const OpenContext& context) {
    const Json section = checked_section(data_section);
    DataSet out;
    open_training(section, context, out);
    const Json& transforms = section.at("transforms");
    out.test = test_source(section, context, out.train->info());
    out.train = transformed(out.train, transforms, context.seed, true);
    if (out.validation != nullptr) {
        out.validation = transformed(out.validation, transforms, context.seed, false);
    }
    return out;
}

} // namespace weft::data
