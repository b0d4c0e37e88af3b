// SPDX-License-Identifier: Apache-2.0
// How a rank and the hub make sure of each other: the same program, the same run, the same kind of
// processor. Private to core/exec/ranks.
#pragma once

#include "core/exec/ranks/rank_identity.h"

#include <string>

namespace weft::exec {

/// 32 random hexadecimal digits. Throws weft::Error{device}.
std::string new_nonce();
/// HMAC-SHA-256 of a text under the run's secret, hexadecimal.
std::string proof_of(const std::string& secret, const std::string& text);
/// Whether they are equal, in a time that does not tell where they differ.
bool same_proof(const std::string& one, const std::string& other);

config::Json to_json(const RankIdentity& identity);
/// What is missing stays empty.
RankIdentity identity_of(const config::Json& document);

/// Why a rank of this identity cannot take part; empty: it can.
std::string why_not(const RankIdentity& hub, const RankIdentity& rank);

} // namespace weft::exec
