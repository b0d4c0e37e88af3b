// SPDX-License-Identifier: Apache-2.0
// The "data" section becomes sources: open, split, transform.
#include "core/data/corrections.h"
#include "core/data/files/named_files.h"
#include "core/data/files/store_files.h"
#include "core/data/formats/format_list.h"
#include "core/data/kept_samples.h"
#include "core/data/split.h"
#include "core/data/transforms/mixing.h"
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
    if (info.input == train.input && info.target == train.target && info.classes <= train.classes &&
        info.identifiers <= train.identifiers) {
        return;
    }
    const auto text = [](const SampleInfo& sample) {
        return ir::to_text(sample.input) + " with targets " + ir::to_text(sample.target) + " and " +
               std::to_string(sample.classes) + " classes" +
               (sample.identifiers > 0
                    ? " and " + std::to_string(sample.identifiers) + " identifiers"
                    : std::string());
    };
    throw Error(ErrorKind::data, "/data/" + part,
                "its samples are " + text(info) + "; those of train are " + text(train),
                "Use a source of the same kind as train.");
}

std::shared_ptr<const Source> fitted(const std::shared_ptr<const Source>& opened,
                                     const Json& settings, std::span<const Run> training,
                                     const OpenContext& context, Notes& notes) {
    const FormatDef& format = format_of(settings);
    return format.fitted == nullptr ? opened
                                    : format.fitted(opened, settings, training, context, notes);
}

/// Where the section keeps decoded samples on disk, `opened` from there.
std::shared_ptr<const Source> kept(std::shared_ptr<const Source> opened, const Json& section,
                                   const std::string& part, const OpenContext& context,
                                   Notes& notes) {
    if (section.at("cache") != "disk") {
        return opened;
    }
    const Json& own = section.at(part);
    const Json& settings = own.is_object() && own.contains("type") ? own : section.at("train");
    const KeptSamples how{kept_samples_folder(), key_of_samples(section, context, part), part,
                          settings.at("type") == kImagesFormat.name};
    return kept_on_disk(std::move(opened), how, context, notes);
}

std::vector<Run> all_of(const Source& source) {
    std::vector<Run> out;
    const std::span<const std::int64_t> blocks = source.blocks();
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        out.push_back({blocks[i - 1], blocks[i] - blocks[i - 1]});
    }
    return blocks.empty() ? std::vector<Run>{{0, source.samples()}} : out;
}

/// Decisions about samples of the section's parts; empty: there are none.
struct Corrections {
    Path file;
    std::vector<Correction> all;

    PartCorrections of(std::string_view part, const Source& files, Notes& notes) const {
        PartCorrections out(file, all, part, files);
        if (!out.empty()) {
            notes.push_back(Note::decision(std::string(part) + ": " + out.text() + " (" +
                                           file.filename().string() + ")"));
        }
        return out;
    }
};

Corrections corrections_of(const Json& section, const OpenContext& context) {
    Corrections out;
    if (const Json& named = section.at("corrections"); named.is_string()) {
        out.file = resolve(context.base_dir, named.get<std::string>());
        out.all = read_corrections(out.file);
    }
    return out;
}

/// With the classes of `corrections`.
std::shared_ptr<const Source> corrected(std::shared_ptr<const Source> source,
                                        const PartCorrections& corrections) {
    return corrections.empty() ? std::move(source) : corrections.relabelled(std::move(source));
}

/// The two parts of `whole`, and what is fitted to the samples that stay in the first.
template <class Parts, class RunsOf>
void cut(const Json& section, Parts split, const RunsOf& training,
         const PartCorrections& corrections, const OpenContext& context, DataSet& out) {
    const std::shared_ptr<const Source> whole = corrected(
        kept(fitted(out.train, section.at("train"), training(split.train), context, out.notes),
             section, "train", context, out.notes),
        corrections);
    out.train = subset(whole, std::move(split.train), "training");
    out.validation = subset(whole, std::move(split.validation), "validation");
    // Both views hold on to the same samples.
    out.training_cache_bytes =
        out.train->cache_bytes() + out.validation->cache_bytes() - whole->cache_bytes();
}

/// Cuts train in two, which is then fitted to the samples that stay.
void open_split(const Json& section, double share, const PartCorrections& corrections,
                const OpenContext& context, DataSet& out) {
    // The same samples are held out whatever is decided about any: runs stay comparable.
    const auto those_kept = [&corrections](Split split) {
        return corrections.empty()
                   ? std::move(split)
                   : Split{corrections.kept(split.train), corrections.kept(split.validation)};
    };
    if (const auto blocks = out.train->blocks(); !blocks.empty()) {
        out.notes.push_back(Note::decision("validation takes whole blocks of it from all over, not "
                                           "the same share of every class"));
        cut(
            section, split_by_block(blocks, share, context.seed),
            [](const std::vector<Run>& runs) { return runs; }, corrections, context, out);
    } else if (format_of(section.at("train")).split_rule == SplitRule::by_part) {
        cut(section, those_kept(split_by_part(out.train->samples(), share)), runs_of, corrections,
            context, out);
    } else {
        cut(section, those_kept(split_by_class(*out.train, share, context.seed)), runs_of,
            corrections, context, out);
    }
}

OpenContext following(const OpenContext& context, const Source& train) {
    OpenContext out = context;
    out.encoding = train.encoding();
    return out;
}

/// Fills train and validation, before transforms.
void open_training(const Json& section, const OpenContext& context, DataSet& out) {
    const Json& train = section.at("train");
    out.train = format_of(train).open(train, context, Part::train, out.notes);
    out.train_files = out.train;
    const Corrections all = corrections_of(section, context);
    const PartCorrections corrections = all.of("train", *out.train, out.notes);
    const Json& validation = section.at("validation");
    const bool own = validation.is_object() && validation.contains("type");
    const double share = validation.is_null() || own ? 0 : validation.at("split").get<double>();
    if (share > 0) {
        open_split(section, share, corrections, context, out);
        return;
    }
    const std::vector<std::int64_t> indices =
        corrections.empty() ? std::vector<std::int64_t>() : corrections.kept(out.train->samples());
    const std::vector<Run> runs = indices.empty() ? all_of(*out.train) : runs_of(indices);
    out.train = corrected(kept(fitted(out.train, train, runs, context, out.notes), section, "train",
                               context, out.notes),
                          corrections);
    if (!indices.empty()) {
        out.train = subset(out.train, indices, "training");
    }
    out.training_cache_bytes = out.train->cache_bytes();
    if (own) {
        out.validation =
            format_of(validation)
                .open(validation, following(context, *out.train), Part::train, out.notes);
        require_same_samples(out.train->info(), *out.validation, "validation");
        out.validation_files = out.validation;
        const PartCorrections own_corrections = all.of("validation", *out.validation, out.notes);
        out.validation = corrected(kept(out.validation, section, "validation", context, out.notes),
                                   own_corrections);
        if (!own_corrections.empty()) {
            out.validation = subset(out.validation, own_corrections.kept(out.validation->samples()),
                                    "validation");
        }
        out.training_cache_bytes += out.validation->cache_bytes();
    }
}

std::shared_ptr<const Source> test_source(const Json& section, const OpenContext& given_context,
                                          const Source& train, const Json& transforms) {
    const bool given = !section.at("test").is_null();
    const Json settings = section.at(given ? "test" : "train");
    const FormatDef& format = format_of(settings);
    if (!given && !format.has_test(settings, given_context)) {
        return nullptr;
    }
    const Part part = given ? Part::train : Part::test;
    return opened_on_demand([&format, section, settings, context = following(given_context, train),
                             part, info = train.info(), transforms](Notes& notes) {
        auto source = format.open(settings, context, part, notes);
        require_same_samples(info, *source, "test");
        source = kept(std::move(source), section, "test", context, notes);
        return transformed(std::move(source), transforms, context.seed, false);
    });
}

/// The settings that read an input file.
Json input_settings(const Json& train, const Source& like, const std::filesystem::path& input) {
    const ir::Shape& shape = like.info().input.shape;
    if (shape.rank() == 3 && kImagesFormat.sniff(input)) {
        Json settings = train.at("type") == "images" ? train : Json{{"type", "images"}};
        settings["size"] = {shape[0], shape[1]};
        settings["channels"] = shape[2];
        return kImagesFormat.for_input(std::move(settings), input);
    }
    const FormatDef& format = format_of(train);
    if (format.for_input == nullptr) {
        throw Error(ErrorKind::data, input.string(),
                    "a model that was trained on " + std::string(format.name) +
                        " data takes no input files",
                    "Name samples of a split by number.");
    }
    return format.for_input(train, input);
}

} // namespace

Json checked_section(const Json& data_section) {
    config::Checked checked = config::check_fields(data_section, data_fields(), "/data");
    config::Diagnostics problems = std::move(checked.diagnostics);
    if (!config::has_errors(problems)) {
        problems = check_data(checked.value, "/data");
    }
    for (const config::Diagnostic& problem : problems) {
        if (problem.severity == config::Severity::error) {
            throw Error(ErrorKind::usage, problem.pointer, problem.message, problem.hint);
        }
    }
    return checked.value;
}

DataSet open_data(const Json& data_section, const OpenContext& given_context) {
    const Json section = checked_section(data_section);
    DataSet out;
    out.notes = fetch_from_stores(section, given_context, StoreCheck::newest);
    const OpenContext context = with_settings(given_context, section);
    refuse_devices(section, context.base_dir);
    open_training(section, context, out);
    mixing_of(section.at("mix"), out.train->info(), context.seed); // refuses what does not suit
    const Json transforms = fitted_transforms(section.at("transforms"), *out.train);
    out.test = test_source(section, context, *out.train, transforms);
    out.train = transformed(out.train, transforms, context.seed, true);
    if (out.validation != nullptr) {
        out.validation = transformed(out.validation, transforms, context.seed, false);
    }
    return out;
}

std::shared_ptr<const Source> open_input(const Json& data_section, const OpenContext& given_context,
                                         const Source& train, const std::filesystem::path& input,
                                         Notes& notes) {
    Json section = data_section;
    section["train"] = input_settings(section.at("train"), train, input);
    section["validation"] = nullptr;
    section["test"] = nullptr;
    OpenContext context = following(given_context, train);
    context.cache = Cache::automatic;
    context.tokenizer = train.info().tokenizer;
    context.base_dir.clear(); // `input` counts from where the program runs
    context.targets = OpenContext::Targets::may_be_absent;
    section = checked_section(section);
    const Json& settings = section.at("train");
    auto source = format_of(settings).open(settings, context, Part::train, notes);
    if (!(source->info().input == train.info().input)) {
        throw Error(ErrorKind::data, input.string(),
                    "its samples are " + ir::to_text(source->info().input) + "; the model takes " +
                        ir::to_text(train.info().input),
                    "Give a file like those that it was trained on.");
    }
    source = told_as(std::move(source), train.info());
    return transformed(std::move(source), fitted_for(train, section.at("transforms")), context.seed,
                       false);
}

} // namespace weft::data
