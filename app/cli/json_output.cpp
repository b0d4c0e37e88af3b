// SPDX-License-Identifier: Apache-2.0
#include "app/cli/json_output.h"

#include <cstdio>

namespace weft::cli {

using config::Json;

void print_json(const Json& json) {
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
}

Json diagnostics_json(const config::Diagnostics& diagnostics) {
    Json out = Json::array();
    for (const config::Diagnostic& diagnostic : diagnostics) {
        out.push_back(
            {{"pointer", diagnostic.pointer},
             {"severity", diagnostic.severity == config::Severity::error ? "error" : "warning"},
             {"message", diagnostic.message},
             {"hint", diagnostic.hint}});
    }
    return out;
}

Json metrics_json(const train::Metrics& metrics) {
    Json out = Json::object();
    for (const auto& [name, value] : metrics) {
        out[name] = value; // the writer turns what is not finite into null
    }
    return out;
}

} // namespace weft::cli
