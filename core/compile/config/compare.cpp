// SPDX-License-Identifier: Apache-2.0
// How two configurations differ, and what each difference means for a resume.
#include "core/base/text.h"
#include "core/compile/config/run_config.h"

#include <algorithm>
#include <array>

namespace weft::compile {
namespace {

using config::Json;

struct EffectRule {
    std::string_view pattern; // over dotted paths; the first match decides
    ChangeEffect effect;
};

constexpr std::array kEffects = {
    EffectRule{"name", ChangeEffect::allowed},
    EffectRule{"notes", ChangeEffect::allowed},
    EffectRule{"tags", ChangeEffect::allowed},
    EffectRule{"log.*", ChangeEffect::allowed},
    EffectRule{"checkpoint.*", ChangeEffect::allowed},
    EffectRule{"evaluation.*", ChangeEffect::allowed},
    EffectRule{"training.length*", ChangeEffect::allowed},
    EffectRule{"training.log_every", ChangeEffect::allowed},
    EffectRule{"training.recompute", ChangeEffect::allowed}, // the same numbers, bit for bit
    EffectRule{"training.memory_budget", ChangeEffect::allowed},
    EffectRule{"data.prefetch", ChangeEffect::allowed},
    EffectRule{"data.num_workers", ChangeEffect::allowed},
    // data.cache and data.shuffle_window decide on the order of the samples: a fork.
    // Changes of a model that leave every array as it is.
    EffectRule{"model.dropout", ChangeEffect::fork},
    EffectRule{"model.activation", ChangeEffect::fork},
    EffectRule{"model.*", ChangeEffect::blocked},
    EffectRule{"init.lora.alpha", ChangeEffect::fork},
    EffectRule{"init.lora.dropout", ChangeEffect::fork},
    EffectRule{"init.lora*", ChangeEffect::blocked},
    EffectRule{"data.train.type", ChangeEffect::blocked},
    EffectRule{"data.tokenizer*", ChangeEffect::blocked},
    EffectRule{"*", ChangeEffect::fork},
};

ChangeEffect effect_of(const std::string& path) {
    return std::find_if(kEffects.begin(), kEffects.end(),
                        [&](const EffectRule& rule) { return glob_match(rule.pattern, path); })
        ->effect;
}

void collect(const Json& before, const Json& after, const std::string& path,
             std::vector<FieldChange>& out) {
    if (before == after) {
        return;
    }
    if (!before.is_object() || !after.is_object()) {
        out.push_back({path, before, after, effect_of(path)});
        return;
    }
    const auto child = [&](const std::string& key) {
        return path.empty() ? key : path + "." + key;
    };
    for (const auto& [key, value] : before.items()) {
        collect(value, after.contains(key) ? after.at(key) : Json(), child(key), out);
    }
    for (const auto& [key, value] : after.items()) {
        if (!before.contains(key)) {
            collect(Json(), value, child(key), out);
        }
    }
}

} // namespace

std::vector<FieldChange> compare(const RunConfig& before, const RunConfig& after) {
    std::vector<FieldChange> out;
    collect(before.document, after.document, "", out);
    return out;
}

} // namespace weft::compile
