// SPDX-License-Identifier: Apache-2.0
// What models with published sizes share: a `variant` field, and fields that are null where the
// variant decides.
#pragma once

#include "core/config/field.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::nn {

/// "variant": one of the `name`s of the list, or null.
template <class Variants>
config::Field variant_field(const Variants& variants) {
    std::vector<std::string> names;
    for (const auto& variant : variants) {
        names.emplace_back(variant.name);
    }
    return config::choice_field("variant", nullptr, std::move(names),
                                "A published size; without one the fields below count.")
        .or_null();
}

/// The variant that the settings name; `otherwise` when that is null.
template <class Variants, class Variant>
const Variant& variant_of(const config::Json& settings, const Variants& variants,
                          const Variant& otherwise) {
    const config::Json& name = settings.at("variant");
    for (const Variant& variant : variants) {
        if (name.is_string() && name.get_ref<const std::string&>() == variant.name) {
            return variant;
        }
    }
    return otherwise;
}

/// A whole number from 1 to `most`, or null.
inline config::Field size_field(const char* name, const char* help, double most) {
    return config::integer_field(name, nullptr, help).or_null().range(1, most);
}

/// Added to the variance by every norm.
inline config::Field norm_eps_field(double value, const char* theirs) {
    return config::real_field(
               "norm_eps", value,
               std::string("Added to the variance by every norm; checkpoints of Hugging Face name "
                           "it ") +
                   theirs + ".")
        .above(0.0)
        .for_experts();
}

/// The setting, or `otherwise` where it is null.
template <class Number>
Number given(const config::Json& settings, const char* name, Number otherwise) {
    return settings.at(name).is_null() ? otherwise : settings.at(name).get<Number>();
}

} // namespace weft::nn
