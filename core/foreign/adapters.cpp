// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/adapters.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/safetensors.h"
#include "core/foreign/family_list.h"
#include "core/foreign/match.h"
#include "core/nn/layers/peft_config.h"
#include "core/nn/models/model_list.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

namespace weft::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeightEnding = ".weight";
constexpr std::string_view kPeftPrefix = "base_model.model.";
constexpr std::int64_t kMostPeftConfigBytes = 16 << 20;
constexpr const char* kMergeInstead = "export it with its factors merged: --as huggingface";

/// The arrays of one adapted weight W [in, out]: A [in, rank], B [rank, out].
struct Adapted {
    const Array* weight = nullptr;
    const Array* a = nullptr;
    const Array* b = nullptr;
};

bool belongs_together(const Adapted& one) {
    if (one.weight == nullptr || one.a == nullptr || one.b == nullptr || !one.weight->type ||
        !one.a->type || !one.b->type) {
        return false;
    }
    const ir::Shape& w = one.weight->type->shape;
    const ir::Shape& a = one.a->type->shape;
    const ir::Shape& b = one.b->type->shape;
    return w.rank() == 2 && a.rank() == 2 && b.rank() == 2 && a[0] == w[0] && b[1] == w[1] &&
           a[1] == b[0];
}

/// By the name of the weight.
std::map<std::string, Adapted> adapted_weights(const Arrays& source) {
    std::map<std::string, Adapted> out;
    for (const Array& array : source.list) {
        const auto weight = nn::adapted_by(array.name);
        if (!weight || out.contains(*weight)) {
            continue;
        }
        const Adapted one{source.find(*weight), source.find(nn::lora_name(*weight, nn::kLoraA)),
                          source.find(nn::lora_name(*weight, nn::kLoraB))};
        if (!belongs_together(one)) {
            throw Error(ErrorKind::checkpoint, source.path.string(),
                        "the factor '" + shown(array.name, 120) + "' is for no weight of it",
                        "a checkpoint of the same run that is whole has both factors and a weight "
                        "of their extents");
        }
        out.emplace(*weight, one);
    }
    return out;
}

std::vector<float> with_product(const Arrays& source, const Adapted& one, double scale) {
    std::vector<float> out = read_floats(source, *one.weight);
    const std::vector<float> a = read_floats(source, *one.a);
    const std::vector<float> b = read_floats(source, *one.b);
    const auto rank = static_cast<std::size_t>(one.b->type->shape[0]);
    const auto columns = static_cast<std::size_t>(one.b->type->shape[1]);
    std::vector<double> sums(columns);
    for (std::size_t row = 0; row * columns < out.size(); ++row) {
        sums.assign(columns, 0.0);
        for (std::size_t r = 0; r < rank; ++r) {
            const double factor = scale * static_cast<double>(a[row * rank + r]);
            for (std::size_t i = 0; i < columns; ++i) {
                sums[i] += factor * static_cast<double>(b[r * columns + i]);
            }
        }
        for (std::size_t i = 0; i < columns; ++i) {
            float& value = out[row * columns + i];
            value = static_cast<float>(static_cast<double>(value) + sums[i]);
        }
    }
    return out;
}

/// "transformer.h.0.attn.c_attn" of "transformer.h.0.attn.c_attn.weight".
std::string module_of(std::string name) {
    WEFT_CHECK(name.ends_with(kWeightEnding), "linear layers call their matrix a weight: " + name);
    name.resize(name.size() - kWeightEnding.size());
    return name;
}

class PeftFolder {
public:
    PeftFolder(const Arrays& source, ir::DType dtype) : source_(source), dtype_(dtype) {}

    void add(const TensorPairs& pairs, const std::string& weight, const Adapted& one) {
        const Named named = named_there(pairs, weight);
        const bool matrix =
            named.pair != nullptr && named.theirs.size() == 1 &&
            (named.pair->layout == Layout::same || named.pair->layout == Layout::transposed);
        if (!matrix) {
            throw Error(ErrorKind::usage, weight, "this layer has no name there", kMergeInstead);
        }
        by_rows_ = by_rows_ || named.pair->layout == Layout::same;
        modules_.push_back(module_of(named.theirs.front()));
        add_factor(modules_.back() + ".lora_A.weight", *one.a);
        add_factor(modules_.back() + ".lora_B.weight", *one.b);
    }

    std::vector<checkpoint::ArrayToWrite> take_arrays() { return std::move(arrays_); }
    const std::vector<std::string>& modules() const { return modules_; }
    /// Whether weights there are [in, out], as those of Conv1D.
    bool by_rows() const { return by_rows_; }

private:
    /// Transposed: there A is [rank, in] and B [out, rank].
    void add_factor(const std::string& name, const Array& array) {
        const ir::Shape& shape = array.type->shape;
        arrays_.push_back({std::string(kPeftPrefix) + name,
                           {dtype_, shape_there(Layout::transposed, shape)},
                           [&source = source_, &array, dtype = dtype_] {
                               return as_stored(to_theirs(Layout::transposed, array.type->shape,
                                                          read_floats(source, array)),
                                                dtype);
                           }});
    }

    const Arrays& source_;
    ir::DType dtype_;
    std::vector<checkpoint::ArrayToWrite> arrays_;
    std::vector<std::string> modules_;
    bool by_rows_ = false;
};

/// The weight of ours that a module there has, by the names of the family; empty: none.
std::string weight_of_module(const Family& family, const TensorPairs& pairs,
                             const std::string& module) {
    const std::string name = module + std::string(kWeightEnding);
    for (const TensorPair& pair : pairs) {
        const bool matrix = pair.theirs.size() == 1 &&
                            (pair.layout == Layout::same || pair.layout == Layout::transposed);
        if (!matrix) {
            continue;
        }
        auto numbers = numbers_in(pair.theirs.front(), name);
        if (!numbers) { // the model without its head
            numbers = numbers_in(pair.theirs.front(), std::string(family.prefix) + name);
        }
        if (numbers) {
            return with_numbers(pair.ours, *numbers);
        }
    }
    return "";
}

/// The factor of ours that an array there is, by the names of the family; empty: none.
std::string factor_of(const Family& family, const TensorPairs& pairs, std::string_view name) {
    for (const auto& [ending, factor] :
         {std::pair(".lora_A.weight", nn::kLoraA), std::pair(".lora_B.weight", nn::kLoraB)}) {
        if (name.starts_with(kPeftPrefix) && name.ends_with(ending)) {
            name.remove_prefix(kPeftPrefix.size());
            name.remove_suffix(std::string_view(ending).size());
            const std::string weight = weight_of_module(family, pairs, std::string(name));
            return weight.ends_with(kWeightEnding) ? nn::lora_name(weight, factor) : "";
        }
    }
    return "";
}

/// Names of ours by those there, of the family that explains most.
std::map<std::string, std::string> names_of_factors(const Arrays& there, std::string_view model) {
    std::map<std::string, std::string> best;
    for (const Family* family : kFamilies) {
        if (family->model != model || !family->named_modules) {
            continue;
        }
        const TensorPairs pairs = family->tensors();
        std::map<std::string, std::string> names;
        for (const Array& array : there.list) {
            std::string name = factor_of(*family, pairs, array.name);
            if (!name.empty() && array.type && array.type->shape.rank() == 2) {
                names[array.name] = std::move(name);
            }
        }
        best = names.size() > best.size() ? std::move(names) : std::move(best);
    }
    return best;
}

void check_peft_config(const fs::path& folder, const nn::Lora& lora) {
    const fs::path file = folder / nn::kPeftConfigName;
    const config::Checked told = config::parse_json(
        read_file(file, kMostPeftConfigBytes, ErrorKind::checkpoint), file.string());
    if (!told.ok()) {
        throw Error(ErrorKind::checkpoint, file.string(), told.diagnostics.front().message);
    }
    const nn::PeftConfig peft = nn::read_peft_config(told.value, file.string());
    const double scale = peft.alpha / static_cast<double>(peft.rank);
    if (peft.rank != lora.rank || std::abs(scale - lora.scale()) > 1e-6 * scale) {
        std::ostringstream text;
        text << "its factors have rank " << peft.rank << " and alpha " << peft.alpha
             << "; init.lora says " << lora.rank << " and " << lora.alpha;
        throw Error(ErrorKind::checkpoint, file.string(), text.str(),
                    "leave init.lora.rank and alpha out");
    }
}

} // namespace

Arrays open_peft(const fs::path& folder, std::string_view model, const nn::Lora& lora) {
    check_peft_config(folder, lora);
    const fs::path file = folder / nn::kPeftArraysName;
    std::error_code problem;
    if (!fs::is_regular_file(file, problem)) {
        throw Error(ErrorKind::checkpoint, file.string(), "it is not there",
                    "save it anew: peft writes this file unless told otherwise");
    }
    const auto there = std::make_shared<const Arrays>(open_weights(file));
    std::map<std::string, std::string> theirs;
    Arrays out;
    out.path = folder;
    const std::map<std::string, std::string> names = names_of_factors(*there, model);
    for (const Array& array : there->list) {
        const auto named = names.find(array.name);
        if (named == names.end()) {
            out.list.push_back(array);
            continue;
        }
        const ir::Type type{ir::DType::f32, shape_there(Layout::transposed, array.type->shape)};
        out.list.push_back({named->second, type, ir::to_text(type)});
        theirs[named->second] = array.name;
    }
    std::sort(out.list.begin(), out.list.end(),
              [](const Array& a, const Array& b) { return a.name < b.name; });
    out.read = [there, theirs = std::move(theirs)](const std::string& name,
                                                   std::span<std::byte> into) {
        const auto found = theirs.find(name);
        if (found == theirs.end()) {
            there->read(name, into);
            return;
        }
        const Array& array = *there->find(found->second);
        const std::vector<float> values =
            to_ours(Layout::transposed, array.type->shape, read_floats(*there, array));
        WEFT_CHECK(into.size() == values.size() * sizeof(float), "room for a factor");
        std::memcpy(into.data(), values.data(), into.size());
    };
    return out;
}

Arrays merged(const Arrays& source, double scale) {
    const auto whole = std::make_shared<const Arrays>(source);
    auto adapted = adapted_weights(*whole);
    Arrays out;
    out.path = whole->path;
    for (const Array& array : whole->list) {
        if (nn::adapted_by(array.name)) {
            continue;
        }
        Array& kept = out.list.emplace_back(array);
        if (adapted.contains(array.name)) {
            kept.type->dtype = ir::DType::f32;
            kept.text = ir::to_text(*kept.type);
        }
    }
    out.read = [whole, adapted = std::move(adapted), scale](const std::string& name,
                                                            std::span<std::byte> into) {
        const auto found = adapted.find(name);
        if (found == adapted.end()) {
            whole->read(name, into);
            return;
        }
        const std::vector<float> values = with_product(*whole, found->second, scale);
        WEFT_CHECK(into.size() == values.size() * sizeof(float), "room for what is merged");
        std::memcpy(into.data(), values.data(), into.size());
    };
    return out;
}

void write_peft(const fs::path& folder, const Family& family, const Arrays& source,
                const nn::Lora& lora, const std::string& base, StoredAs stored,
                const checkpoint::Progress& progress) {
    if (!family.named_modules) {
        throw Error(ErrorKind::usage, std::string(family.help),
                    "its layers are called otherwise in each version of the program, and peft "
                    "goes by these names",
                    kMergeInstead);
    }
    const TensorPairs pairs = family.tensors();
    PeftFolder out(source, dtype_of(stored));
    for (const auto& [weight, one] : adapted_weights(source)) {
        out.add(pairs, weight, one);
    }
    if (out.modules().empty()) {
        throw Error(ErrorKind::usage, source.path.string(), "it has no low-rank factors",
                    "peft is for runs with init.lora; export other models as huggingface");
    }
    const nn::ModelDef* model = nn::find_model(family.model);
    const bool speaks = model != nullptr && model->context_length != nullptr;
    make_directories(folder);
    checkpoint::write_safetensors(folder / nn::kPeftArraysName, out.take_arrays(),
                                  {{"format", "pt"}}, progress);
    // Last: without it the folder is none.
    write_json(folder / nn::kPeftConfigName,
               {{"peft_type", "LORA"},
                {"task_type", speaks ? Json("CAUSAL_LM") : Json(nullptr)},
                {"base_model_name_or_path", base.empty() ? Json(nullptr) : Json(base)},
                {"r", lora.rank},
                {"lora_alpha", lora.alpha},
                {"lora_dropout", lora.dropout},
                {"target_modules", out.modules()},
                {"fan_in_fan_out", out.by_rows()},
                {"bias", "none"},
                {"inference_mode", true}});
}

} // namespace weft::foreign
