// SPDX-License-Identifier: Apache-2.0
#include "core/config/json.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace weft::config {

Json json_of(std::string_view text) {
    Json value = json_or_discarded(text);
    if (value.is_discarded()) {
        throw Json::parse_error::create(101, 0, "the text is no JSON", nullptr);
    }
    return value;
}

} // namespace weft::config
