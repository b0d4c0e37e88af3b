// SPDX-License-Identifier: Apache-2.0
#include "core/nn/layers/peft_config.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <cmath>

namespace weft::nn {
namespace {

using config::Json;

constexpr std::int64_t kMostRank = 1 << 16;

[[noreturn]] void refuse_peft(const std::string& where, const std::string& text) {
    throw Error(ErrorKind::checkpoint, where, text,
                "merge it into its weights there (merge_and_unload), and start from those");
}

/// Absent, null, false, "none" or empty.
bool is_off(const Json& document, const char* key) {
    const auto found = document.find(key);
    return found == document.end() || found->is_null() || *found == false || *found == "none" ||
           (found->is_structured() && found->empty());
}

} // namespace

PeftConfig read_peft_config(const Json& document, const std::string& where) {
    const auto member = [&](const char* key) {
        const auto found = document.is_object() ? document.find(key) : document.end();
        return document.is_object() && found != document.end() ? *found : Json();
    };
    if (member("peft_type") != "LORA") {
        refuse_peft(where, "it is of the kind " + shown(member("peft_type").dump(), 60) +
                               "; low-rank factors are LORA");
    }
    for (const char* key : {"bias", "use_dora", "modules_to_save", "rank_pattern", "alpha_pattern",
                            "lora_bias", "trainable_token_indices", "target_parameters"}) {
        if (!is_off(document, key)) {
            refuse_peft(where, std::string(key) + " is " + shown(document.at(key).dump(), 120) +
                                   ", which is not read here");
        }
    }
    const Json rank = member("r");
    const Json alpha = member("lora_alpha");
    if (!rank.is_number_integer() || rank < 1 || rank > kMostRank || !alpha.is_number() ||
        !(alpha.get<double>() > 0 && std::isfinite(alpha.get<double>()))) {
        refuse_peft(where, "its r " + shown(rank.dump(), 60) + " and lora_alpha " +
                               shown(alpha.dump(), 60) + " are no rank and scale");
    }
    PeftConfig out{rank.get<std::int64_t>(), alpha.get<double>()};
    if (!is_off(document, "use_rslora")) {
        out.alpha *= std::sqrt(static_cast<double>(out.rank));
    }
    return out;
}

} // namespace weft::nn
