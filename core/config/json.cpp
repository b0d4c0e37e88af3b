// SPDX-License-Identifier: Apache-2.0
#include "core/config/json.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace weft::config {

Json json_of(std::string_view text) {
    return Json::parse(text);
}

Json json_or_discarded(std::string_view text) {
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

} // namespace weft::config
