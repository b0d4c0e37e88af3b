// SPDX-License-Identifier: Apache-2.0
#include "core/nn/models/model_list.h"

#include <algorithm>

namespace weft::nn {

const ModelDef* find_model(std::string_view name) {
    const auto found = std::find_if(kModels.begin(), kModels.end(),
                                    [&](const ModelDef* def) { return def->name == name; });
    return found == kModels.end() ? nullptr : *found;
}

} // namespace weft::nn
