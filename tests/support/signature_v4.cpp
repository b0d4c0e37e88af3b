// SPDX-License-Identifier: Apache-2.0
#include "tests/support/signature_v4.h"

#include <QByteArray>
#include <QCryptographicHash>
#include <QMessageAuthenticationCode>

#include <sstream>
#include <vector>

namespace weft::test {
namespace {

QByteArray sha256_hex(const std::string& text) {
    return QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256)
        .toHex();
}

QByteArray hmac(const QByteArray& key, const QByteArray& text) {
    return QMessageAuthenticationCode::hash(text, key, QCryptographicHash::Sha256);
}

/// "name=value" of an Authorization header.
std::string field_of(const std::string& authorization, const std::string& name) {
    const std::size_t at = authorization.find(name + "=");
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t begin = at + name.size() + 1;
    return authorization.substr(begin, authorization.find_first_of(", ", begin) - begin);
}

std::vector<std::string> split_at(const std::string& text, char separator) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) {
        out.push_back(part);
    }
    return out;
}

std::string header_of(const WireRequest& request, const std::string& name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::string() : found->second;
}

} // namespace

std::string signature_v4(const WireRequest& request, const std::string& secret) {
    const std::string authorization = header_of(request, "authorization");
    const std::string signed_headers = field_of(authorization, "SignedHeaders");
    // key id / date / region / service / aws4_request
    const std::vector<std::string> scope = split_at(field_of(authorization, "Credential"), '/');
    if (scope.size() != 5) {
        return {};
    }
    std::string canonical = request.method + "\n" + request.path + "\n";
    std::string separator;
    for (const auto& [name, value] : request.query) { // sorted by name
        canonical += separator + name + "=" + value;
        separator = "&";
    }
    canonical += "\n";
    for (const std::string& name : split_at(signed_headers, ';')) {
        canonical += name + ":" + header_of(request, name) + "\n";
    }
    canonical += "\n" + signed_headers + "\n" + header_of(request, "x-amz-content-sha256");
    const std::string credential_scope =
        scope[1] + "/" + scope[2] + "/" + scope[3] + "/" + scope[4];
    const std::string to_sign = "AWS4-HMAC-SHA256\n" + header_of(request, "x-amz-date") + "\n" +
                                credential_scope + "\n" + sha256_hex(canonical).toStdString();
    QByteArray key = QByteArray::fromStdString("AWS4" + secret);
    for (std::size_t i = 1; i < scope.size(); ++i) {
        key = hmac(key, QByteArray::fromStdString(scope[i]));
    }
    return hmac(key, QByteArray::fromStdString(to_sign)).toHex().toStdString();
}

std::string signature_problem(const WireRequest& request, const std::string& key_id,
                              const std::string& secret) {
    const std::string authorization = header_of(request, "authorization");
    if (!authorization.starts_with("AWS4-HMAC-SHA256 ")) {
        return "it is not signed";
    }
    if (!field_of(authorization, "Credential").starts_with(key_id + "/")) {
        return "it is signed with another key";
    }
    const std::string signed_headers = ";" + field_of(authorization, "SignedHeaders") + ";";
    for (const auto& [name, value] : request.headers) {
        const bool must = name == "host" || name.starts_with("x-amz-");
        if (must && signed_headers.find(";" + name + ";") == std::string::npos) {
            return name + " is not signed";
        }
    }
    if (header_of(request, "x-amz-content-sha256") != sha256_hex(request.body).toStdString()) {
        return "x-amz-content-sha256 is '" + header_of(request, "x-amz-content-sha256") +
               "', not that of its body";
    }
    return field_of(authorization, "Signature") == signature_v4(request, secret)
               ? ""
               : "the signature does not match";
}

} // namespace weft::test
