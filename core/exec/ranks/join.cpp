// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/join.h"

#include "core/base/error.h"

#include <array>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <span>

namespace weft::exec {
namespace {

std::string hex_of(std::span<const unsigned char> bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string out;
    for (const unsigned char byte : bytes) {
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

std::string text_in(const config::Json& document, const char* key) {
    const auto found = document.find(key);
    return found != document.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
}

} // namespace

std::string new_nonce() {
    std::array<unsigned char, 16> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
        throw Error(ErrorKind::device, "the run's secret", "this machine gives no random numbers");
    }
    return hex_of(bytes);
}

std::string proof_of(const std::string& secret, const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
    return hex_of(std::span(digest).first(size));
}

bool same_proof(const std::string& one, const std::string& other) {
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

config::Json to_json(const RankIdentity& identity) {
    return {{"version", identity.version}, {"instructions", identity.instructions},
            {"host", identity.host},       {"process", identity.process},
            {"threads", identity.threads}, {"memory", identity.memory_free_bytes}};
}

RankIdentity identity_of(const config::Json& document) {
    RankIdentity out;
    out.version = text_in(document, "version");
    out.instructions = text_in(document, "instructions");
    out.host = text_in(document, "host");
    out.process = document.value("process", std::int64_t{0});
    out.threads = document.value("threads", 1);
    out.memory_free_bytes = document.value("memory", std::int64_t{0});
    return out;
}

std::string why_not(const RankIdentity& hub, const RankIdentity& rank) {
    if (rank.version != hub.version) {
        return "its host " + rank.host + " has weft " + rank.version + ", rank 0 on " + hub.host +
               " has " + hub.version + ": install the same version on all hosts";
    }
    if (rank.instructions != hub.instructions) {
        return "its host " + rank.host + " computes with " + rank.instructions + ", rank 0 on " +
               hub.host + " with " + hub.instructions +
               ": results would differ in the last bits; use hosts with the same processor";
    }
    return {};
}

} // namespace weft::exec
