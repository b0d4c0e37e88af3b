// SPDX-License-Identifier: Apache-2.0
// The "data" section of the run configuration.
#include "core/config/pointer.h"
#include "core/data/formats/format_list.h"
#include "core/data/transforms/mixing.h"
#include "core/data/transforms/transform_list.h"

namespace weft::data {
namespace {

config::Field source_field(std::string name, std::string help) {
    std::vector<config::RecordType> records;
    for (const FormatDef* format : kFormats) {
        records.push_back({std::string(format->name), std::string(format->help), format->fields()});
    }
    return config::record_field(std::move(name), nullptr, std::move(records), std::move(help));
}

config::Field transforms_field() {
    std::vector<config::RecordType> records;
    for (const TransformDef* transform : kTransforms) {
        records.push_back(
            {std::string(transform->name), std::string(transform->help), transform->fields()});
    }
    return config::list_field(
        "transforms", config::Json::array(),
        config::record_field("transform", nullptr, std::move(records), "One change of the images.")
            .must_be_given(),
        "What happens to every image, in this order.");
}

config::Field mix_field() {
    return config::list_field(
        "mix", config::Json::array(),
        config::record_field("mixing", nullptr, mix_records(), "One way to mix.").must_be_given(),
        "Training samples are mixed with others drawn at random, of data that are read block by "
        "block from the same window; of several ways each sample draws one. Evaluation never "
        "mixes. The training accuracy counts the class of the larger share.");
}

/// Empty where there is none: the section may have mistakes that others told.
std::string text_at(const config::Json& section, const char* pointer) {
    const config::Json::json_pointer at(pointer);
    return section.contains(at) && section.at(at).is_string() ? section.at(at).get<std::string>()
                                                              : "";
}

config::FieldTable split_fields() {
    return {config::real_field("split", 0.1, "Share of the training samples; 0: no validation.")
                .range(0, 0.9)};
}

} // namespace

config::FieldTable data_fields() {
    return {
        source_field("train", "The training samples.").must_be_given(),
        config::any_field(
            "validation", {{"split", 0.1}},
            "A share of train (split): of every class alike, for text the end of each "
            "sixteenth. Or a source of its own, or null."),
        source_field("test",
                     "The test samples, never used for selection; null: the format's own test "
                     "split if it has one.")
            .or_null(),
        transforms_field(),
        mix_field(),
        config::path_field("tokenizer", nullptr,
                           "How text becomes tokens: bytes, or a tokenizer.json with a byte-level "
                           "BPE, as GPT-2, Llama 3 and Qwen have it, or a model of SentencePiece "
                           "(tokenizer.model), or a folder that holds one; null: bytes, or what "
                           "lies beside files of tokens.")
            .or_null(),
        config::path_field("corrections", nullptr,
                           "Samples that are left out or have another class than their files say, "
                           "in JSON Lines; weft data audit and the view Suspects write it. The "
                           "files stay as they are, and the same samples are held out as without "
                           "it. null: none.")
            .or_null(),
        config::boolean_field("shuffle", true,
                              "A new order of the training samples in every epoch."),
        config::boolean_field("drop_last", false,
                              "Leaves out the short batch at the end of an epoch."),
        config::choice_field(
            "cache", "auto", {"auto", "none", "memory", "disk"},
            "Whether samples of npy, hdf5, csv, text, jsonl and tokens are at hand, in memory "
            "or one by one; auto: below 1 GiB. Others are read block by block. none and disk: "
            "images are not kept in memory either. disk: what is decoded of images, csv and "
            "jsonl is written once to weft/samples in $XDG_CACHE_HOME or ~/.cache and read from "
            "there; its files may be deleted when nothing uses them.")
            .for_experts(),
        config::integer_field("shuffle_window", 32,
                              "What is read block by block comes in a new order of blocks, and "
                              "within so much memory in any order. Two such windows are held.")
            .range(1, 65536)
            .in("MiB")
            .for_experts(),
        config::integer_field(
            "num_workers", 1,
            "Threads that prepare batches; 0: the training thread does it itself.")
            .range(0, 64)
            .for_experts(),
        config::integer_field("prefetch", 2, "Batches prepared ahead.")
            .range(0, 64)
            .in("batches")
            .for_experts()};
}

config::Diagnostics check_data(config::Json& data_section, const std::string& pointer) {
    const std::string type = text_at(data_section, "/train/type");
    const bool tokens = type == "text" || type == "jsonl" || type == "chat" || type == "tokens" ||
                        text_at(data_section, "/train/kind") == "tokens";
    if (!text_at(data_section, "/tokenizer").empty() && !type.empty() && !tokens) {
        return {{config::pointer_to(pointer, "tokenizer"), config::Severity::error,
                 type + " data have no tokens", "Leave it out, or train on text."}};
    }
    const std::string tokenizer = text_at(data_section, "/tokenizer");
    const bool encodes = !tokenizer.empty() && tokenizer != "bytes";
    const bool decodes = type == "images" || type == "csv" || (type == "jsonl" && !encodes);
    if (text_at(data_section, "/cache") == "disk" && !type.empty() && !decodes) {
        return {{config::pointer_to(pointer, "cache"), config::Severity::error,
                 tokens && encodes ? "the tokens of a text are not kept as samples"
                                   : type + " data are read as they lie: there is nothing decoded "
                                            "to keep",
                 tokens && encodes
                     ? "Write them once (weft data tokens) and train on these, or use "
                       "auto or memory."
                     : "Use auto, none or memory."}};
    }
    if (tokens && !data_section.value("mix", config::Json::array()).empty()) {
        return {{config::pointer_to(pointer, "mix"), config::Severity::error,
                 "tokens are names, of which there is no mixture", "Leave it out."}};
    }
    const auto found = data_section.find("validation");
    if (found == data_section.end() || found->is_null()) {
        return {};
    }
    const std::string at = config::pointer_to(pointer, "validation");
    const bool is_source = found->is_object() && found->contains("type");
    if (!is_source) {
        config::Checked checked = config::check_fields(*found, split_fields(), at);
        if (checked.ok()) {
            *found = std::move(checked.value);
        } else if (!found->is_object()) {
            checked.diagnostics.front().hint = "Write {\"split\": 0.1}, a source such as "
                                               "{\"type\": \"idx\", \"path\": ...}, or null.";
        }
        return checked.diagnostics;
    }
    const config::FieldTable table = {source_field("validation", "The validation samples.")};
    config::Checked checked = config::check_fields({{"validation", *found}}, table, pointer);
    if (checked.ok()) {
        *found = checked.value.at("validation");
    }
    return checked.diagnostics;
}

} // namespace weft::data
