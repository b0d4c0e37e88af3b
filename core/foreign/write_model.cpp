// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/write_model.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/safetensors.h"
#include "core/foreign/describe.h"
#include "core/foreign/match.h"
#include "core/tokenizer/tokenizer_file.h"
#include "kernels/numbers.h"

#include <cstring>

namespace weft::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVarianceEnding = ".running_var";
constexpr double kUsualTemperature = 0.8; // of `weft generate`

std::int64_t extent_of(const Arrays& source, const char* name, int dim) {
    const Array* array = source.find(name);
    return array != nullptr && array->type && array->type->shape.rank() > dim
               ? array->type->shape[dim]
               : 0;
}

/// PyTorch's batch norms keep a count of batches, which only matters where there is no momentum.
checkpoint::ArrayToWrite count_beside(const std::string& variance) {
    const std::string layer = variance.substr(0, variance.size() - kVarianceEnding.size());
    return {layer + ".num_batches_tracked", {ir::DType::i64, {}}, [] {
                return std::vector<std::byte>(sizeof(std::int64_t));
            }};
}

const char* torch_name(StoredAs stored) {
    return stored == StoredAs::f16 ? "float16" : stored == StoredAs::bf16 ? "bfloat16" : "float32";
}

} // namespace

ir::DType dtype_of(StoredAs stored) {
    WEFT_CHECK(stored != StoredAs::q8_0, "safetensors has no quantised blocks");
    return stored == StoredAs::f16    ? ir::DType::f16
           : stored == StoredAs::bf16 ? ir::DType::bf16
                                      : ir::DType::f32;
}

std::vector<std::byte> as_stored(const std::vector<float>& values, ir::DType dtype) {
    const auto size = static_cast<std::size_t>(ir::dtype_bytes(dtype));
    std::vector<std::byte> out(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::byte* at = out.data() + i * size;
        if (dtype == ir::DType::f32) {
            std::memcpy(at, &values[i], size);
        } else {
            const std::uint16_t bits = dtype == ir::DType::f16 ? kernels::to_f16(values[i]).bits
                                                               : kernels::to_bf16(values[i]).bits;
            std::memcpy(at, &bits, size);
        }
    }
    return out;
}

void write_json(const fs::path& file, const Json& json) {
    write_file_atomically(file, json.dump(2) + "\n");
}

std::vector<Outgoing> outgoing(const Arrays& source, const TensorPairs& pairs) {
    std::vector<Outgoing> out;
    for (const Array& array : source.list) {
        const Named named = named_there(pairs, array.name);
        if (named.pair == nullptr || !array.type) {
            throw Error(ErrorKind::usage, array.name, "this tensor has no name there",
                        "safetensors and npz hold any model, by its own names");
        }
        const std::size_t count = named.theirs.size();
        ir::Shape part = array.type->shape;
        if (count > 1) {
            part[part.rank() - 1] /= static_cast<std::int64_t>(count);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const Layout layout = named.pair->layout;
            out.push_back({named.theirs[i], shape_there(layout, part),
                           [&source, array, part, layout, i, count] {
                               const std::vector<float> whole = read_floats(source, array);
                               return to_theirs(layout, part,
                                                part_of(whole, part.rows(), i, count));
                           }});
        }
    }
    return out;
}

Facts facts_of(const Arrays& source, const Json& model) {
    Facts out;
    out.settings = resolved(model);
    for (const char* table : {"wte.weight", "embedding.weight"}) {
        out.vocab = std::max(out.vocab, extent_of(source, table, 0));
    }
    out.classes = extent_of(source, "head.weight", 1);
    out.positions = extent_of(source, "positions.weight", 0);
    for (const char* first : {"patches.weight", "stem.conv.weight"}) {
        out.channels = std::max(out.channels, extent_of(source, first, 2));
    }
    return out;
}

void write_named(const fs::path& file, const Family& family, const Arrays& source, StoredAs stored,
                 const checkpoint::Progress& progress) {
    const ir::DType dtype = dtype_of(stored);
    std::vector<checkpoint::ArrayToWrite> arrays;
    for (Outgoing& tensor : outgoing(source, family.tensors())) {
        if (tensor.name.ends_with(kVarianceEnding)) {
            arrays.push_back(count_beside(tensor.name));
        }
        arrays.push_back(
            {tensor.name, {dtype, tensor.shape}, [values = std::move(tensor.values), dtype] {
                 return as_stored(values(), dtype);
             }});
    }
    // transformers takes no file that does not say whose layout it is.
    checkpoint::write_safetensors(file, std::move(arrays), {{"format", "pt"}}, progress);
}

void write_tokenizer(const fs::path& folder, const std::string& document, const Json& model) {
    make_directories(folder);
    const std::string name = tokenizer::name_of_document(document);
    write_file_atomically(folder / name, document);
    Json config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                {"model_max_length", resolved(model).at("context")},
                {"clean_up_tokenization_spaces", false}};
    if (name == "tokenizer.model") {
        config["tokenizer_class"] = "LlamaTokenizer"; // which asks the library sentencepiece itself
        config["add_bos_token"] = false;
        config["add_eos_token"] = false;
    }
    write_json(folder / "tokenizer_config.json", config);
}

void write_huggingface(const fs::path& folder, const Family& family, const Arrays& source,
                       const Json& model, StoredAs stored, const checkpoint::Progress& progress) {
    WEFT_CHECK(family.config != nullptr, "the family has a config.json");
    const Facts facts = facts_of(source, model);
    Json config = family.config(facts);
    config["torch_dtype"] = torch_name(stored);
    make_directories(folder);
    write_named(folder / "model.safetensors", family, source, stored, progress);
    if (facts.vocab > 0) {
        write_json(folder / "generation_config.json",
                   {{"do_sample", true}, {"temperature", kUsualTemperature}, {"top_k", 0}});
    }
    write_json(folder / "config.json", config); // last: without it the folder is none
}

} // namespace weft::foreign
