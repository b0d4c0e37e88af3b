// SPDX-License-Identifier: Apache-2.0
#include "core/queue/sweep.h"

#include <algorithm>
#include <iterator>

namespace weft::queue {

config::Json to_json(const Sweep& sweep) {
    return {
        {"name", sweep.name},      {"method", kMethodNames[static_cast<std::size_t>(sweep.method)]},
        {"vary", sweep.vary},      {"seed", sweep.seed},
        {"metric", sweep.metric},  {"mode", sweep.smaller_is_better ? "min" : "max"},
        {"eta", sweep.eta},        {"rungs", sweep.rungs},
        {"created", sweep.created}};
}

Sweep sweep_of(const config::Json& json) {
    Sweep out;
    out.name = json.at("name").get<std::string>();
    const auto* const method = std::find(std::begin(kMethodNames), std::end(kMethodNames),
                                         json.at("method").get<std::string>());
    // Of a method that this version does not know, trials are trained as they are.
    out.method = method == std::end(kMethodNames)
                     ? Method::random
                     : static_cast<Method>(method - std::begin(kMethodNames));
    out.vary = json.value("vary", out.vary);
    out.seed = json.value("seed", out.seed);
    out.metric = json.at("metric").get<std::string>();
    out.smaller_is_better = json.value("mode", "min") != "max";
    out.eta = json.value("eta", out.eta);
    out.rungs = json.at("rungs").get<std::vector<std::int64_t>>();
    out.created = json.value("created", 0.0);
    return out;
}

} // namespace weft::queue
