// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/errors.h"

#include <algorithm>
#include <array>

namespace weft::exec {
namespace {

constexpr std::array kKinds = {ErrorKind::runtime,    ErrorKind::usage,  ErrorKind::data,
                               ErrorKind::checkpoint, ErrorKind::memory, ErrorKind::diverged,
                               ErrorKind::device};

} // namespace

config::Json to_json(const Error& fault) {
    return {{"kind", error_kind_name(fault.kind())},
            {"where", fault.where()},
            {"text", fault.text()},
            {"hint", fault.hint()}};
}

Error error_of(const config::Json& document, const std::string& whose) {
    const std::string name = document.value("kind", "");
    const auto* const kind = std::find_if(
        kKinds.begin(), kKinds.end(), [&](ErrorKind one) { return error_kind_name(one) == name; });
    const std::string where = document.value("where", "");
    return {kind != kKinds.end() ? *kind : ErrorKind::runtime,
            where.empty() ? whose : whose + ", " + where, document.value("text", ""),
            document.value("hint", "")};
}

} // namespace weft::exec
