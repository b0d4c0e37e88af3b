// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/type_words.h"

namespace weft::exec {

config::Json to_json(const ir::Type& type) {
    config::Json shape = config::Json::array();
    for (const std::int64_t extent : type.shape) {
        shape.push_back(extent);
    }
    return {{"dtype", static_cast<int>(type.dtype)}, {"shape", std::move(shape)}};
}

ir::Type type_of(const config::Json& document) {
    ir::Type out;
    out.dtype = static_cast<ir::DType>(document.at("dtype").get<int>());
    for (const config::Json& extent : document.at("shape")) {
        out.shape.push_back(extent.get<std::int64_t>());
    }
    return out;
}

} // namespace weft::exec
